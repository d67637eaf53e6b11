"""How many cores there are to work with."""

from __future__ import annotations

import os


def cores() -> int:
    """Those that this process may use: of a large machine, a job often has a few."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
