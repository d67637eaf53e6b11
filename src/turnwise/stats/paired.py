"""Is B better than A, where both were measured on the same items? Differences, intervals and tests by cluster.

What is compared is f(sum of B's totals) - f(sum of A's totals), one row of totals for each cluster: means, ratios of
sums and corpus metrics alike. Which method is used when, and how it was measured, stands in docs/comparison.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from turnwise.stats.difference import RELATIVE, ROUNDING, Difference, Significance, pooled_value, tie, width, without
from turnwise.stats.intervals import Bounds, Interval, Resampler, pooled_intervals
from turnwise.stats.leave_one_out import BoolArray, FloatArray, Value, spread
from turnwise.stats.randomisation import DRAWS, SEED, all_signed_sums, flips_are_enumerated, signed_sums


def paired_difference(
    a: FloatArray,
    b: FloatArray,
    value: Value,
    *,
    sizes: FloatArray | None = None,
    bounds: Bounds = (None, None),
    draws: int = DRAWS,
    resampler: Resampler | None = None,
    seed: int = SEED,
    level: float = 0.95,
) -> Difference:
    """Compare two systems on the clusters that both have.

    Args:
        a: (K, d), cluster k's totals of A, over items that B has too.
        b: (K, d), of B, the same clusters in the same order.
        value: the roll-up, on pooled totals (..., d); NaN where it is undefined.
        sizes: (K,), items in each cluster; where every cluster has one and the values are 0 or 1, the test is
            McNemar's. Unknown sizes are read off the totals.
        bounds: natural range of the value itself; the difference lies within its width.
        draws: random patterns of signs; fewer where all patterns can be gone through.
        resampler: the cluster weights of the run, for K clusters; made from the seed where there is none.
        seed: of the signs, and of the resampler.
        level: confidence of the interval.
    """
    _check_pair(a, b, sizes)
    k = len(a)
    at_a, at_b = pooled_value(a, value), pooled_value(b, value)
    if at_a is None or at_b is None:
        return without(at_a, at_b, (k, k), "no cluster" if k == 0 else "the value is undefined", paired=True)
    test = paired_test(a, b, value, sizes=sizes, draws=draws, seed=seed)
    if np.array_equal(a, b):
        same = Interval(0.0, 0.0, f"A and B are the same in all of {k} clusters")
        return Difference(at_a, at_b, 0.0, same, test, 0.0, max(1.0, k - 1.0), (k, k), True)
    joined = _joined(a, b, sizes)
    present = np.ones((k, 1), dtype=np.bool_)
    gap = _gap(value, a.shape[1])
    chosen = resampler if resampler is not None else Resampler(k, seed=seed)
    interval = pooled_intervals(joined, present, gap, chosen, bounds=width(bounds), level=level)[0]
    known = interval.low is not None
    found = spread(joined, present, gap, (None, None)) if known else None
    return Difference(
        at_a,
        at_b,
        at_b - at_a,
        interval,
        test,
        None if found is None else float(found.error[0]),
        None if found is None else float(found.df[0]),
        (k, k),
        True,
    )


def paired_test(
    a: FloatArray,
    b: FloatArray,
    value: Value,
    *,
    sizes: FloatArray | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Significance:
    """Exchange A and B of whole clusters at random: how often is the difference at least as large as the one seen?

    If the systems are alike, A's totals of a cluster could as well have been B's, numerators and denominators
    together. With e the sum of the clusters' (B - A) under random signs and m = sum of A + B, the two values of a
    draw are f((m - e) / 2) and f((m + e) / 2). p = (1 + hits) / (1 + draws), where the one added is the arrangement
    seen (Phipson and Smyth 2010); hits / patterns where all patterns are gone through. A draw whose value is
    undefined counts as a hit. Clusters in which A and B are the same cannot change anything and are left out.
    A ratio whose denominators differ in sum is first brought to equal sums (both ratios stay what they are): the
    question is whether the ratios are alike, not whether B predicts, books or speaks as much as A.
    """
    _check_pair(a, b, sizes)
    if len(a) == 0:
        return Significance(None, "none: no cluster")
    if np.array_equal(a, b):
        return Significance(1.0, f"A and B are the same in all of {len(a)} clusters")
    if len(a) == 1:
        return Significance(None, "none: a single cluster")
    at_a, at_b = pooled_value(a, value), pooled_value(b, value)
    if at_a is None or at_b is None:
        return Significance(None, "none: the value is undefined")
    if sizes is not None and _is_binary(a, b, sizes, value):
        return mcnemar_test(a[:, 0], b[:, 0])
    a, b = _evened(a, b, value)
    moved = a != b
    rows = (b - a)[moved.any(axis=1)]
    columns = moved.any(axis=0)  # the others, such as equal denominators, stay what they are under every pattern
    exact = flips_are_enumerated(len(rows), draws)
    blocks = [all_signed_sums(rows[:, columns])] if exact else signed_sums(rows[:, columns], draws, seed)
    hits = _hits(blocks, columns, (a + b).sum(axis=0), value, at_b - at_a, tie(at_a, at_b))
    if exact:
        patterns = 2 ** (len(rows) - 1)
        return Significance(hits / patterns, f"sign flips by cluster, all {2 * patterns} patterns", 1 / patterns)
    p = (1 + hits) / (1 + draws)
    return Significance(p, f"sign flips by cluster, {draws} draws", 1 / (1 + draws))


def mcnemar_test(a: FloatArray, b: FloatArray) -> Significance:
    """McNemar's exact test of values 0 and 1, one per independent item: a coin decides each item that differs.

    p = 2 P(X <= min(wins, losses)) for X binomial with wins + losses trials of chance 1/2, at most 1. This is the
    sign-flip test with all patterns counted; on items that depend on each other it rejects far too often.
    """
    if len(a) != len(b) or not (np.isin(a, (0.0, 1.0)).all() and np.isin(b, (0.0, 1.0)).all()):
        raise ValueError(f"needs as many values 0 or 1 of A as of B, got {len(a)} and {len(b)} values")
    wins, losses = int((b > a).sum()), int((a > b).sum())
    n, fewer = wins + losses, min(wins, losses)
    if n == 0:
        return Significance(1.0, f"A and B are the same in all of {len(a)} clusters")
    steps = np.arange(1, fewer + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(n - steps + 1) - np.log(steps))]) - n * np.log(2.0)
    p = min(1.0, 2 * float(np.exp(logs).sum()))
    return Significance(p, f"McNemar, exact, {n} of {len(a)} items differ", min(1.0, 2.0 * 0.5**n))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) adjusted p-values: below alpha they keep the chance of any false alarm below alpha.

    Sorted from the smallest, the i-th of m is multiplied by m - i + 1, and none is below the one before it. What has
    no p stays None and is not counted among the m.
    """
    known = [(p, i) for i, p in enumerate(p_values) if p is not None]
    if any(not 0.0 <= p <= 1.0 for p, _ in known):
        raise ValueError(f"p-values lie between 0 and 1, got {[p for p, _ in known if not 0.0 <= p <= 1.0]}")
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, i) in enumerate(sorted(known)):
        least = max(least, min(1.0, (len(known) - rank) * p))
        adjusted[i] = least
    return adjusted


@dataclass(frozen=True, slots=True)
class Outcomes:
    """On how many items B did better than A, as well, and worse; and on which."""

    wins: int
    ties: int
    losses: int
    won: tuple[int, ...]
    """Positions of the items on which B did better, the largest gain first."""
    lost: tuple[int, ...]
    """Positions of the items on which B did worse, the largest loss first."""


def wins_ties_losses(a: FloatArray, b: FloatArray, *, higher_is_better: bool = True, margin: float = 0.0) -> Outcomes:
    """Count the items (n,) whose values differ by more than the margin, or by more than rounding."""
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError(f"needs finite values of the same items, got shapes {a.shape} and {b.shape}")
    gain = (b - a) if higher_is_better else (a - b)
    slack = margin + ROUNDING * (np.abs(a) + np.abs(b))
    order = np.argsort(-gain, kind="stable")
    won = [int(i) for i in order if gain[i] > slack[i]]
    lost = [int(i) for i in order[::-1] if gain[i] < -slack[i]]
    return Outcomes(len(won), len(a) - len(won) - len(lost), len(lost), tuple(won), tuple(lost))


def _evened(a: FloatArray, b: FloatArray, value: Value) -> tuple[FloatArray, FloatArray]:
    """Scale the totals of a ratio, the last of two statistics being the denominator, to equal denominators in sum.

    Only where A and B differ in every cluster that has anything: otherwise the plain exchange errs on the safe side.
    """
    if a.shape[1] != 2:
        return a, b
    sums = a[:, 1].sum(), b[:, 1].sum()
    if min(sums) <= 0 or sums[0] == sums[1]:
        return a, b
    if ((a == b).all(axis=1) & a.any(axis=1)).any():
        # Scaled, clusters in which A and B are the same would differ, all in one direction: one bad dialogue beside
        # forty that are alike would count as forty differences.
        return a, b
    for totals in (a, b):  # a plain function of two statistics may depend on their scale
        once, twice = pooled_value(totals, value), pooled_value(2 * totals, value)
        if once is None or twice is None or abs(twice - once) > RELATIVE * abs(once):
            return a, b
    middle = (sums[0] + sums[1]) / 2
    return a * (middle / sums[0]), b * (middle / sums[1])


def _joined(a: FloatArray, b: FloatArray, sizes: FloatArray | None) -> FloatArray:
    """A's statistics, then B's, then the size, in the shape of one group (K, 1, ...).

    A plain sum has clusters of equal weight, whatever their size.
    """
    if a.shape[1] == 1:
        sizes = np.ones(len(a))
    return np.column_stack([a, b] if sizes is None else [a, b, sizes])[:, None, :]


def _gap(value: Value, d: int) -> Value:
    """f(B) - f(A) of totals that hold A's d statistics, then B's, then perhaps the size."""
    return lambda s: value(s[..., d : 2 * d]) - value(s[..., :d])


def _hits(
    blocks: Iterable[FloatArray],
    columns: BoolArray,
    whole: FloatArray,
    value: Value,
    seen: float,
    slack: float,
) -> int:
    """Count the draws with a difference at least as large as the one seen, either way."""
    hits = 0
    for block in blocks:
        e = np.zeros((len(block), len(whole)))
        e[:, columns] = block
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.abs(value((whole + e) / 2) - value((whole - e) / 2))
        hits += int((~(drawn < abs(seen) - slack)).sum())  # so that NaN is a hit
    return hits


def _is_binary(a: FloatArray, b: FloatArray, sizes: FloatArray, value: Value) -> bool:
    """Whether each cluster is one item of value 0 or 1 and the roll-up is their mean."""
    if a.shape[1] != 2 or not (sizes == 1).all() or not ((a[:, 1] == 1) & (b[:, 1] == 1)).all():
        return False
    binary = np.isin(a[:, 0], (0.0, 1.0)).all() and np.isin(b[:, 0], (0.0, 1.0)).all()
    means = [float(value(totals.sum(axis=0))) for totals in (a, b)]
    return bool(binary) and np.allclose(means, (a[:, 0].mean(), b[:, 0].mean()), rtol=RELATIVE)


def _check_pair(a: FloatArray, b: FloatArray, sizes: FloatArray | None) -> None:
    if a.ndim != 2 or a.shape != b.shape or (sizes is not None and sizes.shape != (len(a),)):
        given = None if sizes is None else sizes.shape
        raise ValueError(f"needs totals of the same clusters, got {a.shape} and {b.shape}, sizes {given}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("totals must be finite: leave out clusters without scores instead of marking them")
