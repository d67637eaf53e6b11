"""Confidence intervals for values pooled over clusters (dialogues, sessions, recordings).

A value is f(sum of the clusters' statistics); clusters are independent, the items inside one are not. Which
method is used when, and the coverage it was measured to have, stands in docs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from turnwise.kernel.threads import one_thread
from turnwise.stats.leave_one_out import BoolArray, Bounds, FloatArray, IntArray, Spread, Value, spread
from turnwise.stats.student import t_quantile

__all__ = ["Bounds", "IntArray", "Interval", "Resampler", "Value", "pooled_intervals"]

BOOTSTRAP_CLUSTERS = 50
BOOTSTRAP_DF = 10.0
"""Below either, resampling shows too little of what other clusters could have been (docs/intervals.md)."""

MANY_CLUSTERS = 100_000
"""Above, nothing is resampled: a mean of so many clusters is normal, and the limits of cluster t are the same."""

# Floats in one block of weights (2 MB), and of leave-one-out statistics (1 MB, of which there are ten at a time).
BLOCK = 1 << 18
LOT = 1 << 17
# Bytes of weights that are worth keeping between calls: 32 MB, which is enough for 33,000 clusters.
KEPT = 1 << 25

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none."""

    low: float | None
    high: float | None
    method: str
    """What was done, e.g. "cluster bootstrap, 1000 resamples", or "none: a single cluster"."""


class Resampler:
    """Seeded multinomial cluster weights.

    One for a whole run: the same weights for every metric mean that derived metrics are resampled jointly.
    """

    def __init__(self, clusters: int, resamples: int = 1000, seed: int = 20240229) -> None:
        if clusters < 0 or resamples < 1:
            raise ValueError(f"needs clusters >= 0 and resamples >= 1, got {clusters} and {resamples}")
        self.clusters = clusters
        self.resamples = resamples
        self.seed = seed
        self._kept: list[npt.NDArray[np.uint8]] = []
        """The counts, one byte each, where all of them together are small."""

    def draw(self, totals: FloatArray) -> FloatArray:
        """The resampled sums (resamples, ...) of per-cluster totals (clusters, ...)."""
        flat = totals.reshape(self.clusters, -1)
        drawn = np.empty((self.resamples, flat.shape[1]))
        start = 0
        with one_thread():
            for weights in self.blocks():
                np.matmul(weights, flat, out=drawn[start : start + len(weights)])
                start += len(weights)
        return drawn.reshape(self.resamples, *totals.shape[1:])

    def blocks(self) -> Iterator[FloatArray]:
        """Yield the weights in blocks (b, clusters) of at most 2 MB or one row, the same at every call."""
        if self._kept:
            yield from (counts.astype(np.float64) for counts in self._kept)
            return
        kept: list[npt.NDArray[np.uint8]] = []
        for counts in self._counts():
            if self.resamples * self.clusters <= KEPT and counts.max(initial=0) < 256:
                kept.append(counts.astype(np.uint8))
            yield counts.astype(np.float64)
        if sum(map(len, kept)) == self.resamples:
            self._kept = kept

    def _counts(self) -> Iterator[npt.NDArray[np.int64]]:
        rng = np.random.default_rng(self.seed)
        k = self.clusters
        rows = min(self.resamples, max(1, BLOCK // max(1, k)))
        for start in range(0, self.resamples if k else 0, rows):
            b = min(rows, self.resamples - start)
            # Counting k draws per row is the multinomial, several times as fast as Generator.multinomial.
            cells = rng.integers(0, k, size=(b, k)) + k * np.arange(b)[:, None]
            yield np.bincount(cells.reshape(-1), minlength=b * k).reshape(b, k).astype(np.int64)


def pooled_intervals(
    totals: FloatArray,
    present: BoolArray,
    value: Value,
    resampler: Resampler,
    *,
    bounds: Bounds = (None, None),
    level: float = 0.95,
    drawn: FloatArray | None = None,
) -> list[Interval]:
    """Return one interval per group for value(sum of totals over clusters).

    Args:
        totals: (K, G, d), cluster k's statistics in group g, zeros where absent. Of two statistics the last
            is the denominator: the number of items, of clusters, or the sum divided by.
        present: (K, G), whether cluster k has a scored item in group g.
        value: the roll-up, on pooled statistics.
        resampler: the cluster weights of the run, for K clusters.
        bounds: natural range of the value, which the interval will not leave.
        level: confidence.
        drawn: (resamples, G, d), `resampler.draw(totals)` where the caller has it already: one draw serves
            several roll-ups of the same rows.
    """
    k, g, d = totals.shape
    if present.shape != (k, g) or resampler.clusters != k:
        raise ValueError(
            f"totals are for {k} clusters and {g} groups, but present has shape {present.shape} "
            f"and the resampler is for {resampler.clusters} clusters"
        )
    check_level(level)
    if g == 0:
        return []
    width = max(1, LOT // max(1, k * d))
    lots = [slice(i, i + width) for i in range(0, g, width)]
    found = Spread.joined([spread(totals[:, lot], present[:, lot], value, bounds) for lot in lots])
    low, high, methods = _small_sample(found, bounds, level)
    large = resampled(found.clusters) & (found.df >= BOOTSTRAP_DF)
    large &= np.isfinite(found.estimate) & ~found.rests_on_one & ~found.constant
    if large.any():
        chosen = resampler.draw(totals[:, large]) if drawn is None else drawn[:, large]
        low[large], high[large] = _bootstrap(chosen, value, found[large], level)
        text = f"cluster bootstrap, {resampler.resamples} resamples"
        methods = [text if boot else method for boot, method in zip(large, methods, strict=True)]
    rows = zip(low.tolist(), high.tolist(), found.estimate.tolist(), methods, strict=True)
    return [inside(a, b, point, method, bounds) for a, b, point, method in rows]


def resampled(clusters: FloatArray) -> BoolArray:
    """Which groups have neither too few clusters for the bootstrap nor so many that it would change nothing."""
    return np.asarray((clusters >= BOOTSTRAP_CLUSTERS) & (clusters <= MANY_CLUSTERS))


def spread_intervals(found: Spread, bounds: Bounds, level: float = 0.95) -> list[Interval]:
    """Return one interval per group from what leaving out one cluster at a time says; nothing is resampled."""
    low, high, methods = _small_sample(found, bounds, level)
    rows = zip(low.tolist(), high.tolist(), found.estimate.tolist(), methods, strict=True)
    return [inside(a, b, point, method, bounds) for a, b, point, method in rows]


def check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level}")


def inside(low: float, high: float, point: float, method: str, bounds: Bounds) -> Interval:
    """Clip to the range, then make sure that the point estimate lies inside."""
    if method.startswith("none"):
        return Interval(None, None, method)
    low = low if bounds[0] is None else max(low, bounds[0])
    high = high if bounds[1] is None else min(high, bounds[1])
    return Interval(min(low, point), max(high, point), method)


def wilson_limits(p: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Wilson (1927): the least and greatest p0 with (p - p0)^2 <= a p0 (1 - p0), where a = t^2 / n."""
    half = np.sqrt(a * p * (1 - p) + a**2 / 4)
    return (p + a / 2 - half) / (1 + a), (p + a / 2 + half) / (1 + a)


def _small_sample(s: Spread, bounds: Bounds, level: float) -> tuple[FloatArray, FloatArray, list[str]]:
    """Cluster t limits; in Wilson's form for a value bounded on both sides; exact where nothing varies.

    Wilson: n = p (1 - p) / error^2 is the number of independent trials that would vary as much, t stands for
    z. Nothing varies: with K of K clusters alike, at most e = 1 - (alpha / 2)^(1 / K) of all clusters differ
    from them, and none further than to the bounds, so the value lies within e of the way to either bound.
    This holds whatever the correlation inside a cluster.
    """
    t = t_quantile(0.5 + level / 2, s.df)
    low, high = s.estimate - t * s.error, s.estimate + t * s.error
    wilson = np.zeros(len(low), dtype=np.bool_)
    floor, ceiling = bounds
    if floor is not None and ceiling is not None:
        p = np.clip((s.estimate - floor) / (ceiling - floor), 0.0, 1.0)
        unit = (s.error / (ceiling - floor)) ** 2 / np.maximum(p * (1 - p), 1e-300)
        # A value that varies more than any mean between its bounds can is no mean: it keeps the plain limits.
        wilson = (unit > 0) & (unit <= 1)
        e = 1 - ((1 - level) / 2) ** (1 / np.maximum(s.clusters, 1))
        inner = wilson_limits(p, np.where(wilson, unit, 0.0) * t**2)
        for side, alike, share in ((low, p - e * p, inner[0]), (high, p + e * (1 - p), inner[1])):
            side[:] = np.where(wilson, floor + (ceiling - floor) * share, side)
            side[:] = np.where(s.constant, floor + (ceiling - floor) * alike, side)
    return low, high, [_method(s, i, bool(wilson[i]), None not in bounds) for i in range(len(low))]


def _method(s: Spread, group: int, wilson: bool, bounded: bool) -> str:
    k = int(s.clusters[group])
    if k < 2:
        return "none: a single cluster" if k else "none: no cluster"
    if not np.isfinite(s.estimate[group]):
        return "none: the value is undefined"
    if s.rests_on_one[group]:
        return "none: the value rests on a single cluster"
    if s.constant[group]:
        return f"{'exact, ' if bounded else ''}no variation between {k} clusters"
    return f"cluster t, {'Wilson, ' if wilson else ''}{k} clusters"


def _bootstrap(drawn_totals: FloatArray, value: Value, s: Spread, level: float) -> tuple[FloatArray, FloatArray]:
    """BCa limits of the cluster bootstrap (Efron 1987), with t in place of z.

    The percentile bootstrap is too narrow by sqrt((K - 1) / K) and ignores that the spread is estimated; both
    are mended by widening z to sqrt(K / (K - 1)) t (Hesterberg 2015). Undefined values are left out.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = value(drawn_totals)
    drawn = np.sort(np.where(np.isfinite(drawn), drawn, np.nan), axis=0)  # NaN sorts last
    n = np.maximum(np.isfinite(drawn).sum(axis=0), 1)
    # Half of the ties lie below; rounding must not decide which values are ties.
    slack = 1e-9 * s.error
    under = ((drawn < s.estimate - slack).sum(axis=0) + (drawn <= s.estimate + slack).sum(axis=0)) / 2
    z0 = np.array([_NORMAL.inv_cdf(x) for x in np.clip(under / n, 1 / (n + 1), n / (n + 1))])
    z = np.sqrt(s.clusters / (s.clusters - 1)) * t_quantile(0.5 + level / 2, s.df)
    limits = []
    for tail in (z0 - z, z0 + z):
        shifted = z0 + tail / np.maximum(1 - s.acceleration * tail, 0.1)
        rank = np.clip(np.array([_NORMAL.cdf(x) for x in shifted]) * (n + 1) - 1, 0, n - 1)
        at = np.floor(rank).astype(int)
        lower = np.take_along_axis(drawn, at[None], axis=0)[0]
        upper = np.take_along_axis(drawn, np.minimum(at + 1, n - 1)[None], axis=0)[0]
        limits.append(lower + (rank - at) * (upper - lower))
    return limits[0], limits[1]
