"""turnwise inside other tools. Each module needs the extra of its name."""
