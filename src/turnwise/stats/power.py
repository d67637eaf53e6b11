"""What a comparison could have shown, and what it would take: detectable effects, further items, repeats.

Works on the standard error and degrees of freedom of a difference (paired.py, unpaired.py), and on item values where
items were repeated. Formulas and sources stand in docs/comparison.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from turnwise.stats.intervals import IntArray
from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.student import t_quantile

POWER = 0.8
ALPHA = 0.05
MOST_CLUSTERS = 10**9
"""A difference that needs more is not worth looking for."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What it would take to show a difference of the size that was seen."""

    clusters: int | None
    """In all, of the same kind as those at hand; None with a reason."""
    more_clusters: int | None
    more_items: int | None
    """At as many items per cluster as now."""
    reason: str | None = None


def minimum_detectable_effect(
    error: float | None, df: float | None, *, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest true difference that a two-sided test at alpha finds with this power (Bloom 1995).

    MDE = (t(1 - alpha/2; df) + t(power; df)) error. None where there is no error, or none other than 0: clusters
    that do not vary do not say what others would do.

    >>> round(minimum_detectable_effect(0.1, 1e6), 3)
    0.28
    """
    _check(power, alpha)
    if error is None or df is None or not error > 0.0:
        return None
    return float(t_quantile(1 - alpha / 2, df) + t_quantile(power, df)) * error


def needed(
    difference: float | None,
    error: float | None,
    df: float | None,
    clusters: int,
    items: int,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
) -> Needed:
    """Return the least number of clusters at which the MDE is no larger than the difference seen.

    K clusters of the same kind have the error times sqrt(clusters / K) and df K / clusters degrees of freedom. The
    difference seen is itself uncertain, and so is this number: read it as an order of magnitude.

    Args:
        difference: as seen.
        error: its standard error.
        df: of the error.
        clusters: at hand; for unpaired comparisons those of both sides.
        items: at hand, in these clusters.
        power: to show it with.
        alpha: of the two-sided test.
    """
    _check(power, alpha)
    if difference is None or error is None or df is None or clusters < 2:
        return Needed(None, None, None, "no difference with a standard error")
    if difference == 0.0:
        return Needed(None, None, None, "no difference was seen, so no number of items would show it")
    if error == 0.0:
        return Needed(clusters, 0, 0)

    def enough(k: int) -> bool:
        nu = max(1.0, df * k / clusters)
        reach = float(t_quantile(1 - alpha / 2, nu) + t_quantile(power, nu)) * error * sqrt(clusters / k)
        return reach <= abs(difference)

    if not enough(MOST_CLUSTERS):
        return Needed(None, None, None, f"more than {MOST_CLUSTERS} clusters: the difference is as good as none")
    low, high = 1, MOST_CLUSTERS  # too few (or not looked at), enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    more = max(0, high - clusters)
    return Needed(high, more, ceil(more * items / clusters))


@dataclass(frozen=True, slots=True)
class Components:
    """The variance of values of repeated items, taken apart."""

    items: int
    repeats: float
    """Per item, on average."""
    between: float | None
    """Variance between items, of what endless repeats of each would give."""
    within: float | None
    """Variance between repeats of one item."""
    reason: str | None = None
    """Why a component is missing."""

    def error(self, items: int, repeats: float) -> float | None:
        """Standard error of the mean of so many independent items with so many repeats each.

        sqrt(between / items + within / (items repeats)): more items shrink both terms, more repeats only the second.
        """
        if items < 1 or not repeats > 0:
            raise ValueError(f"needs items >= 1 and repeats > 0, got {items} and {repeats}")
        if self.between is None or self.within is None:
            return None
        return sqrt(self.between / items + self.within / (items * repeats))

    @property
    def share_of_repeats(self) -> float | None:
        """The part of the mean's variance that comes from repeats, so that endless repeats would take it away."""
        if self.between is None or self.within is None:
            return None
        noise = self.within / self.repeats
        return noise / (self.between + noise) if self.between + noise > 0 else None


def variance_components(values: FloatArray, items: IntArray) -> Components:
    """Separate the variance between items from that between repeats of one item (analysis of variance, one way).

    With n_i repeats of item i, N values of I items: within = SSW / (N - I), between = (SSB / (I - 1) - within) / n0
    where n0 = (N - sum n_i^2 / N) / (I - 1); below 0 it is 0 (Searle, Casella and McCulloch 1992, 3.6).

    Args:
        values: (N,), finite.
        items: (N,), the item of each value.
    """
    if len(values) != len(items) or not np.isfinite(values).all():
        raise ValueError(f"needs finite values and an item for each: {len(values)} values, {len(items)} items")
    _, codes = np.unique(items, return_inverse=True)
    counts = np.bincount(codes).astype(np.float64)
    n, k = len(values), len(counts)
    if k < 2:
        return Components(k, float(n), None, None, f"{k} items: at least 2 are needed")
    means = np.bincount(codes, values) / counts
    if n == k:
        return Components(k, 1.0, None, None, "no item was repeated")
    within = float(((values - means[codes]) ** 2).sum()) / (n - k)
    mean_square = float((counts * (means - values.mean()) ** 2).sum()) / (k - 1)
    n0 = (n - float((counts**2).sum()) / n) / (k - 1)
    return Components(k, n / k, max(0.0, (mean_square - within) / n0), within)


def difference_components(a: FloatArray, a_items: IntArray, b: FloatArray, b_items: IntArray) -> Components:
    """Separate the variance of items' differences B - A from the noise of the repeats on either side.

    d_i is the difference of item i's mean values. Repeats of A have the variance w_A (`variance_components`), so they
    add w_A / r_A,i + w_B / r_B,i to d_i's variance: between = s^2(d) - the mean of that, at least 0. `repeats` is the
    harmonic mean of all r, and within = w_A + w_B where both sides have as many: it is scaled so that
    within / repeats is the noise that was there. Items on one side only are left out.
    """
    shared = np.intersect1d(a_items, b_items)
    sides = [_of_items(values, items, shared) for values, items in ((a, a_items), (b, b_items))]
    parts = [variance_components(*side) for side in sides]
    if any(part.reason for part in parts):
        reasons = [f"{name}: {part.reason}" for name, part in zip("AB", parts, strict=True) if part.reason]
        return Components(len(shared), 1.0, None, None, "; ".join(reasons))
    counts = [np.bincount(np.searchsorted(shared, items)) for _, items in sides]
    means = [
        np.bincount(np.searchsorted(shared, items), values) / n
        for (values, items), n in zip(sides, counts, strict=True)
    ]
    noise = sum(float(np.mean((part.within or 0.0) / n)) for part, n in zip(parts, counts, strict=True))
    repeats = float(2 / np.mean(1 / counts[0] + 1 / counts[1]))
    scatter = float(np.var(means[1] - means[0], ddof=1))
    return Components(len(shared), repeats, max(0.0, scatter - noise), noise * repeats)


def _of_items(values: FloatArray, items: IntArray, wanted: IntArray) -> tuple[FloatArray, IntArray]:
    chosen = np.isin(items, wanted)
    return values[chosen], items[chosen]


def _check(power: float, alpha: float) -> None:
    if not (0.0 < power < 1.0 and 0.0 < alpha < 1.0):
        raise ValueError(f"power and alpha lie strictly between 0 and 1, got {power} and {alpha}")
