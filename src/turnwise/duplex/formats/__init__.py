"""The layouts conversations are read from, one module each, all ending in `Timeline`."""
