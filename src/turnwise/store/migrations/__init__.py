"""Migrations of the store, run by `turnwise db upgrade`."""
