"""Leaving out one cluster at a time where there are too many clusters for a table: their statistics come in blocks.

The findings are those of `leave_one_out.spread`, in three passes over the blocks; only sums per group are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from turnwise.stats.leave_one_out import ROUNDING, Bounds, FloatArray, IntArray, Spread, Value

Blocks = Callable[[], Iterator[tuple[IntArray, FloatArray]]]
"""All blocks, anew at each call: the group (n,) of each cluster that is present in one, and its statistics (n, d)."""


@dataclass
class _Sums:
    """What the first pass finds for each group."""

    clusters: FloatArray
    whole: FloatArray
    absolute: FloatArray
    usable: FloatArray
    """1 where a statistic can measure the size of a cluster, else 0; (groups, sizes)."""

    @property
    def sizes(self) -> slice:
        """Which statistics may measure size: of two the denominator, of many any."""
        return slice(1, None) if self.whole.shape[1] == 2 else slice(None)


def blocked_spread(blocks: Blocks, n_groups: int, value: Value, bounds: Bounds) -> Spread:
    """Leave out each cluster in turn; formulas as in `spread`, sums in the order of the blocks.

    Args:
        blocks: every cluster of every group once.
        n_groups: groups are numbered from 0; each has at least one cluster.
        value: pooled statistics (..., d) to values (...).
        bounds: natural range of the value.
    """
    sums = _first_pass(blocks, n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.asarray(value(sums.whole), dtype=np.float64)
    largest, undefined = np.zeros(n_groups), np.zeros(n_groups)
    uneven = np.zeros_like(sums.whole[:, sums.sizes])
    for groups, totals in blocks():
        delta = _deltas(groups, totals, sums, estimate, value)
        undefined += np.bincount(groups, ~np.isfinite(delta), minlength=n_groups)
        np.maximum.at(largest, groups, np.abs(np.where(np.isfinite(delta), delta, 0.0)))
        uneven += _sum_by(groups, _shares(groups, totals, sums) ** 2, n_groups)
    span = 0.0 if bounds[0] is None or bounds[1] is None else bounds[1] - bounds[0]
    constant = largest <= ROUNDING * np.fmax(np.abs(estimate), span)
    best = np.where(sums.usable > 0, uneven, np.inf).argmin(axis=1) if sums.usable.shape[1] else None
    parts = np.zeros((n_groups, len(_PARTS)))
    for groups, totals in blocks():
        delta = _deltas(groups, totals, sums, estimate, value)
        delta = np.where(np.isfinite(delta), delta, 0.0)
        share = _size_share(groups, totals, sums, best)
        c = delta / np.where(constant, 1.0, largest)[groups] * np.sqrt(1.0 - share)
        parts += _sum_by(groups, _contributions(c, share, sums.clusters[groups]), n_groups)
    found = dict(zip(_PARTS, parts.T, strict=True))
    v = np.where(constant, 1.0, found["c2"])
    df = np.minimum(_size_df(found), _contribution_df(found, sums.clusters))
    return Spread(
        estimate=estimate,
        error=np.where(constant, 0.0, largest * np.sqrt(v)),
        df=np.where(constant, np.maximum(sums.clusters - 1, 1), df),
        acceleration=np.divide(found["c3"], 6 * v**1.5, out=np.zeros_like(v), where=v > 0),
        clusters=sums.clusters,
        rests_on_one=undefined > 0,
        constant=constant,
    )


_PARTS = ("c2", "c3", "c4", "s", "d0", "d1", "d2", "dw", "dw2", "dwd", "dwda")


def _first_pass(blocks: Blocks, n_groups: int) -> _Sums:
    sums: _Sums | None = None
    for groups, totals in blocks():
        if sums is None:
            d = totals.shape[1]
            width = 0 if d < 2 else 1 if d == 2 else d
            sums = _Sums(
                np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d)), np.ones((n_groups, width))
            )
        sums.clusters += np.bincount(groups, minlength=n_groups)
        sums.whole += _sum_by(groups, totals, n_groups)
        sums.absolute += _sum_by(groups, np.abs(totals), n_groups)
        if sums.usable.shape[1]:
            np.minimum.at(sums.usable, groups, totals[:, sums.sizes] >= 0)
    if sums is None:
        raise ValueError(f"there are {n_groups} groups, but not a single cluster")
    if sums.usable.shape[1]:
        sums.usable *= sums.whole[:, sums.sizes] > 0
    return sums


def _deltas(groups: IntArray, totals: FloatArray, sums: _Sums, estimate: FloatArray, value: Value) -> FloatArray:
    """How much each cluster moves the value of its group."""
    rest = sums.whole[groups] - totals
    rest[np.abs(rest) <= ROUNDING * sums.absolute[groups]] = 0.0
    rest *= (sums.clusters / np.maximum(sums.clusters - 1, 1))[groups][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(estimate[groups] - value(rest), dtype=np.float64)


def _shares(groups: IntArray, totals: FloatArray, sums: _Sums) -> FloatArray:
    """Each cluster's share of its group by each statistic that may measure size."""
    if not sums.usable.shape[1]:
        return np.zeros((len(groups), sums.whole.shape[1]))
    return np.asarray(totals[:, sums.sizes] / np.where(sums.usable > 0, sums.whole[:, sums.sizes], 1.0)[groups])


def _size_share(groups: IntArray, totals: FloatArray, sums: _Sums, best: IntArray | None) -> FloatArray:
    """Each cluster's share by the most even statistic; equal shares where nothing measures size."""
    equal = 1.0 / sums.clusters[groups]
    if best is None:
        return np.asarray(equal)
    own = np.take_along_axis(_shares(groups, totals, sums), best[groups][:, None], axis=1)[:, 0]
    return np.where((sums.usable.max(axis=1) > 0)[groups], own, equal)


def _contributions(c: FloatArray, share: FloatArray, clusters: FloatArray) -> FloatArray:
    """What each cluster adds to the sums in `_PARTS`; names as in `leave_one_out.size_df`."""
    a = 0.5 / clusters + share / 2
    keep = np.maximum(1.0 - share, ROUNDING)
    d, dw = share**2 / keep, share * a / keep
    return np.column_stack([c**2, c**3, c**4, share * a, d, d * a, d * a**2, dw, dw**2, dw * d, dw * d * a])


def _size_df(sums: dict[str, FloatArray]) -> FloatArray:
    s, d0, d1, d2 = (sums[name] for name in ("s", "d0", "d1", "d2"))
    trace = sums["dw"] + s * d0 - 2 * d1
    square = s**2 * d0**2 + 2 * d0 * d2 - 4 * s * d0 * d1 + 2 * d1**2
    square += sums["dw2"] + 2 * s * sums["dwd"] - 4 * sums["dwda"]
    return np.asarray(np.maximum(1.0, trace**2 / np.maximum(square, 1e-300)))


def _contribution_df(sums: dict[str, FloatArray], clusters: FloatArray) -> FloatArray:
    k, v = np.maximum(clusters, 2), sums["c2"]
    scatter = k / (k - 1) * np.maximum(sums["c4"] - v**2 / k, 0.0)
    return np.asarray(np.maximum(1.0, 2 * v**2 / np.maximum(scatter, ROUNDING * v**2 + 1e-300)))


def _sum_by(groups: IntArray, columns: FloatArray, n_groups: int) -> FloatArray:
    found = np.empty((n_groups, columns.shape[1]))
    for j in range(columns.shape[1]):
        found[:, j] = np.bincount(groups, columns[:, j], minlength=n_groups)
    return found
