"""What a comparison comes to: a difference, its interval, its p-value, or the reasons why one of them is missing.

Shared by paired.py, unpaired.py and percentiles.py, which compute them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turnwise.stats.intervals import Bounds, Interval
from turnwise.stats.leave_one_out import FloatArray, Value

# Two sums of the same numbers in another order are a tie, not one more extreme than the other.
ROUNDING = 1e-12
RELATIVE = 1e-9


@dataclass(frozen=True, slots=True)
class Significance:
    """A two-sided p-value, or the reason why there is none."""

    p: float | None
    method: str
    """What was done, e.g. "sign flips by cluster, 10000 draws", or "none: a single cluster"."""
    smallest: float | None = None
    """The smallest p that this many clusters (or draws) could have given: above 0.05 nothing could have been shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A, with how sure it is."""

    a: float | None
    b: float | None
    difference: float | None
    """None where either value is undefined."""
    interval: Interval
    test: Significance
    error: float | None
    """Standard error of the difference, by cluster; None where there is no interval."""
    df: float | None
    """Degrees of freedom of that error."""
    clusters: tuple[int, int]
    """How many of A and of B; for pairs twice the same number."""
    paired: bool


def pooled_value(totals: FloatArray, value: Value) -> float | None:
    """f(sum of the totals), None where there is nothing to sum or it is undefined."""
    if len(totals) == 0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(value(totals.sum(axis=0)))
    return found if np.isfinite(found) else None


def tie(a: float, b: float) -> float:
    """By how little a difference may fall short of the one seen and still count as the same."""
    return ROUNDING * (abs(a) + abs(b)) + RELATIVE * abs(b - a)


def width(bounds: Bounds) -> Bounds:
    """The range of a difference of two values of this range."""
    low, high = bounds
    return (None, None) if low is None or high is None else (low - high, high - low)


def without(a: float | None, b: float | None, clusters: tuple[int, int], why: str, *, paired: bool) -> Difference:
    """Two values of which at least one is missing, so that nothing can be said about their difference."""
    none = f"none: {why}"
    return Difference(a, b, None, Interval(None, None, none), Significance(None, none), None, None, clusters, paired)
