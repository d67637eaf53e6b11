"""The file formats dialogues are read from, one module each, all ending in `Dialogues`."""
