"""The translation room: machine translations, scored segment by segment against references."""
