"""Confidence intervals for percentiles, read off the sorted values: docs/intervals.md, Woodruff.

A percentile is no function of cluster totals; the share of values up to it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from turnwise.stats.blocked import blocked_spread
from turnwise.stats.intervals import LOT, MANY_CLUSTERS, Interval, Resampler, check_level, inside, wilson_limits
from turnwise.stats.leave_one_out import Bounds, FloatArray, IntArray, Spread, spread
from turnwise.stats.student import t_quantile


def percentile_intervals(
    values: FloatArray,
    clusters: IntArray,
    quantiles: Sequence[float],
    resampler: Resampler,
    *,
    bounds: Bounds = (None, None),
    level: float = 0.95,
) -> list[Interval]:
    """Return one interval for each quantile of the values (as numpy.quantile defines it).

    Woodruff (1952): the share of values up to the quantile is a pooled ratio. Its Wilson interval around q is
    read off the n sorted values, outward at ranks floor(low n) and ceil(high n) + 1. A rank outside the
    sample is the bound of the range where there is one, else the extreme value, and the method says that the
    interval was cut there. Nothing is resampled: resampled percentiles covered worse (docs/intervals.md).

    Args:
        values: (N,), finite.
        clusters: (N,), the cluster of each value, 0 to resampler.clusters - 1.
        quantiles: between 0 and 1.
        resampler: of the run; only its number of clusters is used.
        bounds: natural range of the values.
        level: confidence.
    """
    n, q = len(values), np.asarray(quantiles, dtype=np.float64)
    if len(clusters) != n or not np.isfinite(values).all():
        raise ValueError(f"needs finite values and a cluster for each: {n} values, {len(clusters)} clusters")
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError(f"quantiles must lie between 0 and 1, got {list(quantiles)}")
    check_level(level)
    counts = np.bincount(clusters, minlength=resampler.clusters).astype(np.float64)
    if len(counts) > resampler.clusters:
        raise ValueError(f"cluster index {len(counts) - 1}, but weights for {resampler.clusters} clusters")
    k = int((counts > 0).sum())
    if k < 2:
        reason = "none: a single cluster" if k else "none: no cluster"
        return [Interval(None, None, reason) for _ in quantiles]
    if not len(q):
        return []
    ranked = np.sort(values)
    points = np.quantile(ranked, q)
    found = Spread.joined([_share_spread(counts, np.bincount(clusters[values <= point])) for point in points])
    # Ties can leave the share without variance; a cluster then counts as one observation.
    unit = found.error**2 / np.where(found.constant, 1.0, found.estimate * (1 - found.estimate))
    unit = np.where(found.constant, 1.0 / k, np.minimum(unit, 1.0))
    low, high = wilson_limits(q, unit * t_quantile(0.5 + level / 2, found.df) ** 2)
    # A limit that is a whole number of ranks but for rounding must not move one rank further out.
    first = np.maximum(np.floor(low * n + 1e-9), 0).astype(int)
    last = np.minimum(np.ceil(high * n - 1e-9) + 1, n + 1).astype(int)
    bottom = ranked[0] if bounds[0] is None else bounds[0]
    top = ranked[-1] if bounds[1] is None else bounds[1]
    limits = [_ranked(ranked, rank, bottom, top) for rank in (first, last)]
    cut = ((first < 1) & (bounds[0] is None)) | ((last > n) & (bounds[1] is None))
    methods = [f"Woodruff, {k} clusters{', cut at the extreme value' if c else ''}" for c in cut]
    rows = zip(limits[0].tolist(), limits[1].tolist(), points.tolist(), methods, strict=True)
    return [inside(a, b, point, method, bounds) for a, b, point, method in rows]


def _ranked(values: FloatArray, rank: IntArray, bottom: float, top: float) -> FloatArray:
    """The values of some ranks, counted from 1; `bottom` and `top` for ranks outside."""
    found = values[np.clip(rank - 1, 0, len(values) - 1)]
    return np.where(rank < 1, bottom, np.where(rank > len(values), top, found))


def _share_spread(counts: FloatArray, under: IntArray) -> Spread:
    """The share of the values up to a limit, a ratio over the clusters; `under` may leave out the last of them."""
    below = np.zeros(len(counts))
    below[: len(under)] = under
    totals = np.column_stack([below, counts])
    if len(counts) <= MANY_CLUSTERS:
        return spread(totals[:, None], counts[:, None] > 0, _ratio, (0.0, 1.0))
    present = totals[counts > 0]

    def blocks() -> Iterator[tuple[IntArray, FloatArray]]:
        for start in range(0, len(present), LOT):
            lot = present[start : start + LOT]
            yield np.zeros(len(lot), dtype=np.int64), lot

    return blocked_spread(blocks, 1, _ratio, (0.0, 1.0))


def _ratio(statistics: FloatArray) -> FloatArray:
    return np.asarray(statistics[..., 0] / statistics[..., 1])
