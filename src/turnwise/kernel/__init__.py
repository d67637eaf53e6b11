"""The kernel: scores with a status, metrics, roll-ups, signatures. It imports nothing else of turnwise."""
