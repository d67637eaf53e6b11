"""The duplex room: voice conversations in which both sides may speak at once."""
