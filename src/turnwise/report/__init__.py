"""Results from rows alone: summaries with intervals, tables, files."""
