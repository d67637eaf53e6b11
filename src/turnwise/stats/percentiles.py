"""Is a percentile of B (a latency's 90th, say) another one than A's? Percentiles are no function of cluster totals.

The test and the interval both go back to counts of values on one side of a limit, which are: docs/comparison.md.
"""

from __future__ import annotations

import numpy as np

from turnwise.stats.difference import Difference, Significance
from turnwise.stats.intervals import Bounds, IntArray, Interval, Resampler
from turnwise.stats.leave_one_out import FloatArray
from turnwise.stats.paired import paired_test
from turnwise.stats.randomisation import DRAWS, SEED
from turnwise.stats.student import t_quantile
from turnwise.stats.unpaired import mover, unpaired_test
from turnwise.stats.woodruff import percentile_intervals

EVEN = "sign flips by cluster: as many values up to the common percentile in A and B"


def percentile_difference(
    a: FloatArray,
    a_clusters: IntArray,
    b: FloatArray,
    b_clusters: IntArray,
    quantile: float,
    *,
    paired: bool,
    bounds: Bounds = (None, None),
    draws: int = DRAWS,
    seed: int = SEED,
    level: float = 0.95,
) -> Difference:
    """Compare the quantile (as numpy.quantile defines it) of the values of A and B.

    Test: the limit is the quantile of all values of A and B together, which no exchange of A and B moves; compared are
    the shares of values up to it, by `paired_test` or `unpaired_test` (Mood's median test, 1950, for any quantile and
    for clusters). Interval: from the Woodruff intervals of both sides (`mover`), with the correlation over clusters of
    their counts where they are paired. The error is half the interval's
    width over t with clusters - 1 degrees of freedom.

    Args:
        a: (N_A,), finite values of A.
        a_clusters: (N_A,), the cluster of each, 0 or more.
        b: (N_B,), of B.
        b_clusters: (N_B,); where paired, the same numbers mean the same clusters.
        quantile: between 0 and 1.
        paired: whether A and B have the same items.
        bounds: natural range of the values.
        draws: random patterns.
        seed: of the patterns.
        level: confidence of the interval.
    """
    _check(a, a_clusters, b, b_clusters, paired=paired)
    counts = len(np.unique(a_clusters)), len(np.unique(b_clusters))
    points = [float(np.quantile(side, quantile)) if len(side) else None for side in (a, b)]
    if points[0] is None or points[1] is None:
        none = "none: no cluster"
        nothing = Interval(None, None, none), Significance(None, none)
        return Difference(points[0], points[1], None, *nothing, None, None, counts, paired)
    limit = float(np.quantile(np.concatenate([a, b]), quantile))
    under = _counts(a, a_clusters, limit), _counts(b, b_clusters, limit)
    if paired:
        test = paired_test(*under, _share, draws=draws, seed=seed)
        if np.array_equal(*under) and not np.array_equal(a, b):  # the counts are the same, and the values are not
            test = Significance(1.0, f"{EVEN} in all of {counts[0]} clusters", 1.0)
    else:
        test = unpaired_test(*under, _share, draws=draws, seed=seed)
    if paired and np.array_equal(a, b):
        interval = Interval(0.0, 0.0, f"A and B are the same in all of {counts[0]} clusters")
    else:
        resampler = Resampler(1 + int(max(a_clusters.max(), b_clusters.max())))
        sides = [
            percentile_intervals(values, clusters, [quantile], resampler, bounds=bounds, level=level)[0]
            for values, clusters in ((a, a_clusters), (b, b_clusters))
        ]
        r = _correlation(a, a_clusters, points[0], b, b_clusters, points[1]) if paired else 0.0
        interval = mover(points[0], sides[0], points[1], sides[1], bounds, r)
    error, df = _read_off(interval, counts, level, paired=paired)
    return Difference(points[0], points[1], points[1] - points[0], interval, test, error, df, counts, paired)


def _read_off(
    interval: Interval, counts: tuple[int, int], level: float, *, paired: bool
) -> tuple[float, float] | tuple[None, None]:
    if interval.low is None or interval.high is None:
        return None, None
    df = max(1.0, counts[0] - 1.0 if paired else sum(counts) - 2.0)
    return (interval.high - interval.low) / 2 / float(t_quantile(0.5 + level / 2, df)), df


def _share(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def _counts(values: FloatArray, clusters: IntArray, limit: float) -> FloatArray:
    """Per cluster that is there: values up to the limit, and all."""
    _, codes = np.unique(clusters, return_inverse=True)
    return np.column_stack([np.bincount(codes, values <= limit), np.bincount(codes)]).astype(np.float64)


def _correlation(
    a: FloatArray, a_clusters: IntArray, at_a: float, b: FloatArray, b_clusters: IntArray, at_b: float
) -> float:
    """Of the clusters' surplus of values up to A's point in A, and up to B's point in B."""
    surplus = []
    for values, clusters, point in ((a, a_clusters, at_a), (b, b_clusters, at_b)):
        totals = _counts(values, clusters, point)
        surplus.append(totals[:, 0] - totals[:, 1] * (totals[:, 0].sum() / totals[:, 1].sum()))
    size = float(np.sqrt((surplus[0] ** 2).sum() * (surplus[1] ** 2).sum()))
    return 0.0 if size == 0.0 else float((surplus[0] * surplus[1]).sum()) / size


def _check(a: FloatArray, a_clusters: IntArray, b: FloatArray, b_clusters: IntArray, *, paired: bool) -> None:
    for name, values, clusters in (("A", a, a_clusters), ("B", b, b_clusters)):
        if len(values) != len(clusters) or not np.isfinite(values).all():
            raise ValueError(f"{name}: needs finite values and a cluster for each, got {len(values)}, {len(clusters)}")
    if paired and not np.array_equal(a_clusters, b_clusters):
        raise ValueError("paired values must come in the same order, item by item, so that their clusters agree")
