"""A coefficient with its interval, from what each item adds to the counts it is a function of.

Items are summed by cluster, and the cluster intervals of intervals.py do the rest. What is counted is decided in
agreement.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from turnwise.stats.coefficients import IntArray, share
from turnwise.stats.intervals import Bounds, Interval, Resampler, pooled_intervals
from turnwise.stats.leave_one_out import FloatArray, Value

MOST_COUNTS = 10_000_000
"""Clusters times statistics: beyond (80 MB), as with thousands of different ratings, there is no interval."""
NO_PAIR = "no item has two ratings"


@dataclass(frozen=True, slots=True)
class Statistic:
    """One coefficient. A missing value has a reason, a missing interval says why in its method."""

    value: float | None
    interval: Interval
    reason: str | None = None


def missing(reason: str) -> Statistic:
    """A coefficient that cannot be computed."""
    return Statistic(None, Interval(None, None, f"none: {reason}"), reason)


@dataclass(frozen=True, slots=True)
class Entries:
    """Item i adds `weight` to statistic `column`: a table of which most is 0, one array for each column of it."""

    item: IntArray
    column: IntArray
    weight: FloatArray
    width: int
    """Number of statistics."""


class Clustered:
    """The clusters of a set of items, and the intervals of what is counted in them."""

    def __init__(
        self, items: int, clusters: Sequence[Hashable] | None, resamples: int, seed: int, level: float
    ) -> None:
        if clusters is not None and len(clusters) != items:
            raise ValueError(f"needs a cluster for each item, got {len(clusters)} for {items}")
        numbers: dict[Hashable, int] = {}
        named = range(items) if clusters is None else clusters
        self._codes = np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)
        self.items = items
        self.clusters = len(numbers)
        self._resampler = Resampler(self.clusters, resamples, seed)
        self._level = level

    def mean(self, values: FloatArray, bounds: Bounds) -> Statistic:
        """The mean over items."""
        return self.of_rows(np.column_stack([values, np.ones(self.items)]), share, bounds, NO_PAIR)

    def of_rows(self, rows: FloatArray, value: Value, bounds: Bounds, why: str) -> Statistic:
        """A coefficient of the sum of the items' rows (items, d); `why` says what it means if it is undefined."""
        n, d = rows.shape
        entries = Entries(np.repeat(np.arange(n), d), np.tile(np.arange(d), n), rows.reshape(-1), d)
        return self.of_entries(entries, value, bounds, why)

    def of_entries(self, entries: Entries, value: Value, bounds: Bounds, why: str) -> Statistic:
        """A coefficient of the summed entries."""
        if not self.items:
            return missing(NO_PAIR)
        d, k = entries.width, self.clusters
        pooled = np.bincount(entries.column, entries.weight, d).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            point = float(value(pooled))
        if not np.isfinite(point):
            return missing(why)
        if k * d > MOST_COUNTS:
            return Statistic(point, Interval(None, None, "none: too many different ratings; round them to fewer"))
        places = self._codes[entries.item] * d + entries.column
        totals = np.bincount(places, entries.weight, k * d).astype(np.float64).reshape(k, 1, d)
        present = np.ones((k, 1), dtype=np.bool_)
        found = pooled_intervals(totals, present, value, self._resampler, bounds=bounds, level=self._level)
        return Statistic(point, found[0])
