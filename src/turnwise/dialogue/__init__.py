"""The dialogue room: task dialogue, scored exchange by exchange against annotated references."""
