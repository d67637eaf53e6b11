"""The judge: a language model that is asked for scores, with its questions in files and its answers on record."""
