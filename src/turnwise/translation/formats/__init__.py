"""The layouts translations are read from, one module each."""
