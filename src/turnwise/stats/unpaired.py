"""Is B better than A, where the two were measured on different items? Intervals and a test on independent clusters.

Nothing pairs up in an A/B test by session, or in averages over whatever each version happened to be asked. The
formulas and how they were measured stand in docs/comparison.md; pairs are in paired.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb, sqrt

import numpy as np
import numpy.typing as npt

from turnwise.stats.difference import RELATIVE, ROUNDING, Difference, Significance, pooled_value, width, without
from turnwise.stats.intervals import Bounds, Interval, Resampler, pooled_intervals
from turnwise.stats.leave_one_out import BoolArray, FloatArray, Value, size_shares, spread
from turnwise.stats.randomisation import DRAWS, SEED, all_deals, deals, deals_are_enumerated


def unpaired_difference(
    a: FloatArray,
    b: FloatArray,
    value: Value,
    *,
    bounds: Bounds = (None, None),
    draws: int = DRAWS,
    resamples: int = 1000,
    seed: int = SEED,
    level: float = 0.95,
) -> Difference:
    """Compare two systems on clusters that have nothing to do with each other.

    Args:
        a: (K_A, d), the totals of A's clusters. Of two statistics the last is the denominator.
        b: (K_B, d), of B's.
        value: the roll-up, on pooled totals (..., d), NaN where it is undefined. A plain sum grows with the number
            of clusters and cannot be compared this way.
        bounds: natural range of the value.
        draws: random deals of the clusters; fewer where all deals can be gone through.
        resamples: of the bootstrap, for 50 clusters or more on one side.
        seed: of deals and resamples.
        level: confidence of the interval.
    """
    check_sides(a, b)
    counts = len(a), len(b)
    at_a, at_b = pooled_value(a, value), pooled_value(b, value)
    if at_a is None or at_b is None:
        return without(at_a, at_b, counts, "no cluster" if 0 in counts else "the value is undefined", paired=False)
    # Two seeds, or the two sides of one data set would be resampled alike.
    sides = [
        pooled_intervals(
            s[:, None, :], _all(s), value, Resampler(len(s), resamples, seed + i), bounds=bounds, level=level
        )[0]
        for i, s in enumerate((a, b))
    ]
    interval = mover(at_a, sides[0], at_b, sides[1], bounds)
    error, df = _welch(a, b, value) if interval.low is not None else (None, None)
    test = unpaired_test(a, b, value, draws=draws, seed=seed)
    return Difference(at_a, at_b, at_b - at_a, interval, test, error, df, counts, False)


def mover(
    at_a: float, a: Interval, at_b: float, b: Interval, bounds: Bounds = (None, None), correlation: float = 0.0
) -> Interval:
    """The interval of B - A from the intervals [l, u] of both (Zou and Donner 2008; Newcombe 1998 for rates).

    low = d - sqrt((b - l_b)^2 - 2 r (b - l_b)(u_a - a) + (u_a - a)^2), high = d + sqrt((u_b - b)^2 -
    2 r (u_b - b)(a - l_a) + (a - l_a)^2). Each side keeps its own form (Wilson, exact, bootstrap), so rates near 0 or 1
    and sides without any failure come out as they should.
    """
    for name, side in (("A", a), ("B", b)):
        if side.low is None or side.high is None:
            return Interval(None, None, f"{side.method} ({name})")
    assert a.low is not None and a.high is not None and b.low is not None and b.high is not None  # noqa: PT018
    d = at_b - at_a
    down, up = (at_b - b.low, a.high - at_a), (b.high - at_b, at_a - a.low)
    low, high = (sqrt(max(0.0, x * x - 2 * correlation * x * y + y * y)) for x, y in (down, up))
    floor, ceiling = width(bounds)
    limits = d - low if floor is None else max(floor, d - low), d + high if ceiling is None else min(ceiling, d + high)
    methods = a.method if a.method == b.method else f"{a.method} (A), {b.method} (B)"
    return Interval(limits[0], limits[1], f"difference of two intervals: {methods}")


def unpaired_test(a: FloatArray, b: FloatArray, value: Value, *, draws: int = DRAWS, seed: int = SEED) -> Significance:
    """Deal all clusters anew into sides of the same numbers: how often is the studentised difference as large?

    If the systems are alike, any cluster could as well have been on the other side. The difference is divided by its
    standard error in the same deal, which keeps the test at its level where the two sides only have the same value but
    spread or cluster sizes differ (Janssen 1997, Chung and Romano 2013). With u_k = f(T) - f(T - S_k), the pull of
    cluster k on the value of all clusters together, and h_k its share of the size, a side of clusters has the squared
    error sum (u_k - h_k U / H)^2 / H^2 K / (K - 1), where U and H are the sums of u and h over its K clusters. A deal
    whose value is undefined counts as a hit. p as in `paired_test`.
    """
    check_sides(a, b)
    for name, side in (("A", a), ("B", b)):
        if len(side) < 2:
            return Significance(None, f"none: {'a single' if len(side) else 'no'} cluster ({name})")
    if pooled_value(a, value) is None or pooled_value(b, value) is None:
        return Significance(None, "none: the value is undefined")
    rows = _with_pulls(np.concatenate([a, b]), value)
    seen = _studentised(np.arange(len(rows)) < len(a), rows, value)[0]
    return dealt_test(len(a), len(b), lambda side: np.abs(_studentised(side, rows, value)), abs(seen), draws, seed)


def dealt_test(
    first: int,
    second: int,
    statistic: Callable[[BoolArray], FloatArray],
    seen: float,
    draws: int,
    seed: int,
    slack: float | None = None,
) -> Significance:
    """The share of deals of `first` and `second` clusters whose statistic is at least the one seen."""
    k = first + second
    exact = deals_are_enumerated(first, k, draws)
    blocks: Iterable[BoolArray] = [all_deals(first, k)] if exact else deals(first, k, draws, seed)
    limit = seen - (RELATIVE * seen + ROUNDING if slack is None else slack) if np.isfinite(seen) else seen
    hits = sum(int((~(statistic(side) < limit)).sum()) for side in blocks)  # so that NaN is a hit
    if exact:
        patterns = comb(k, first)
        least = (2 if first == second else 1) / patterns
        return Significance(hits / patterns, f"clusters dealt anew, all {patterns} deals", least)
    return Significance((1 + hits) / (1 + draws), f"clusters dealt anew, {draws} draws", 1 / (1 + draws))


def check_sides(a: FloatArray, b: FloatArray) -> None:
    """Raise unless both are finite totals (clusters, d) of the same statistics."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"needs totals (clusters, d) of the same statistics, got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("totals must be finite: leave out clusters without scores instead of marking them")


def _all(totals: FloatArray) -> BoolArray:
    return np.ones((len(totals), 1), dtype=np.bool_)


def _welch(a: FloatArray, b: FloatArray, value: Value) -> tuple[float, float]:
    """Standard error of the difference, and its degrees of freedom after Welch and Satterthwaite."""
    found = [spread(side[:, None, :], _all(side), value, (None, None)) for side in (a, b)]
    v = [float(one.error[0]) ** 2 for one in found]
    if v[0] + v[1] == 0.0:
        return 0.0, float(len(a) + len(b) - 2)
    df = (v[0] + v[1]) ** 2 / sum(x * x / float(one.df[0]) for x, one in zip(v, found, strict=True))
    return sqrt(v[0] + v[1]), df


def _with_pulls(totals: FloatArray, value: Value) -> FloatArray:
    """The totals (K, d) with five more columns, whose sums over a side give its error: u, h, u^2, u h, h^2."""
    whole = totals.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = np.asarray(value(whole) - value(whole - totals), dtype=np.float64)
    pull = np.where(np.isfinite(pull), pull, 0.0)
    share = size_shares(totals[:, None, :], _all(totals))[:, 0]
    return np.column_stack([totals, pull, share, pull**2, pull * share, share**2])


def _studentised(first: BoolArray, rows: FloatArray, value: Value) -> FloatArray:
    """(Second side - first side) / its error, for each deal (b, K) of the rows; infinite where nothing varies."""
    dealt = np.atleast_2d(first)
    sums = dealt.astype(np.float64) @ rows
    sides = sums, rows.sum(axis=0) - sums
    d = rows.shape[1] - 5
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = value(sides[1][:, :d]) - value(sides[0][:, :d])
        squares = sum(
            _squared_error(side[:, d:], k)
            for side, k in zip(sides, (dealt.sum(axis=1), (~dealt).sum(axis=1)), strict=True)
        )
        ratio = gap / np.sqrt(squares)
    # Rounding must not make a difference of nothing.
    return np.asarray(np.where(np.abs(gap) <= ROUNDING * np.abs(value(rows[:, :d].sum(axis=0))), 0.0, ratio))


def _squared_error(sums: FloatArray, clusters: npt.NDArray[np.int64]) -> FloatArray:
    u, h, uu, uh, hh = sums.T
    mean = u / h
    scatter = uu - 2 * mean * uh + mean**2 * hh
    return np.asarray(np.where(scatter <= ROUNDING * uu, 0.0, scatter) / h**2 * clusters / (clusters - 1))
