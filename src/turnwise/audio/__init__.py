"""Audio: reading it, bringing it to one rate, comparing two recordings. It knows no room and stores nothing."""
