"""Intervals and other statistics on cluster totals: numpy alone, seeded, and free of the rest of turnwise."""
