"""Where runs, items, scores and roll-ups are kept: SQLite in a file, or PostgreSQL by URL."""
