"""The rows of A and B rolled up together, cluster by cluster, and the difference of the two.

Both sides go through one compiled roll-up as its two groups, so that they have the same levels in the same places and
one function values both; the statistics in turnwise.stats do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import (
    CLUSTER,
    ITEM,
    FloatArray,
    IntArray,
    Pooled,
    Reduction,
    Rollup,
    Rows,
    Sample,
    Value,
    combinations,
    compile_rollup,
)
from turnwise.stats.difference import Difference, Significance, without
from turnwise.stats.intervals import Interval
from turnwise.stats.paired import paired_difference
from turnwise.stats.percentiles import percentile_difference
from turnwise.stats.randomisation import DRAWS
from turnwise.stats.unpaired import unpaired_difference

A, B = 0, 1
SUM_OF_OTHERS = "a sum over different items says more about how many there are"
ROLLED_DIFFERENTLY = "A and B are rolled up differently"
OTHER_ORDER = "the repeats of A and B do not match"


@dataclass(frozen=True, slots=True)
class Method:
    """How a difference is to be made."""

    paired: bool
    draws: int = DRAWS
    why_none: str = ""
    """Why there can be neither interval nor test."""
    by_part: bool = False
    """Whether a cluster may have rows on one side only, which count there: the other side never named that slot."""


def difference_of_rows(
    a: Rows, b: Rows, rollup: Rollup, output: Output, values: tuple[Value, Value], method: Method
) -> Difference:
    """The difference of one roll-up; `values` is how each side values pooled statistics, mostly the same way."""
    if not len(a) or not len(b):
        return without(None, None, (_clusters(a), _clusters(b)), "nothing scored", paired=method.paired)
    if a.statistics.shape[1] != b.statistics.shape[1]:
        return without(None, None, (_clusters(a), _clusters(b)), "other statistics in A and B", paired=method.paired)
    a, b, n = _numbered_anew(a, b)
    made = compile_both(a, b, rollup, values[A], n)
    if isinstance(made, Sample):
        return _of_sample(made, output, method)
    if values[A] is not values[B]:
        other = compile_both(a, b, rollup, values[B], n)
        if isinstance(other, Pooled) and not np.allclose(made.point()[B], other.point()[B], equal_nan=True):
            points = float(made.point()[A]), float(other.point()[B])
            return _plain(*points, made, ROLLED_DIFFERENTLY, paired=method.paired)
    sizes = np.maximum(_items_per_cluster(a, n), _items_per_cluster(b, n))
    return difference_of_pooled(made, output, method, sizes)


def compile_both(a: Rows, b: Rows, rollup: Rollup, value: Value, n_clusters: int) -> Pooled | Sample:
    """One compiled roll-up whose two groups are A and B."""
    labels = None
    if a.labels is not None or b.labels is not None:
        labels = [label for side in (a, b) for label in (side.labels or [None] * len(side))]
    keys = {name: np.concatenate([a.keys[name], b.keys[name]]) for name in a.keys if name in b.keys}
    rows = Rows(np.concatenate([a.values, b.values]), np.concatenate([a.statistics, b.statistics]), keys, labels)
    groups = np.repeat(np.array([A, B], dtype=np.int64), [len(a), len(b)])
    return compile_rollup(rollup, rows, groups, 2, n_clusters, value)


def difference_of_pooled(made: Pooled, output: Output, method: Method, sizes: FloatArray | None = None) -> Difference:
    """The difference of cluster totals (clusters, 2, d): A's group and B's."""
    bounds = (None, None) if made.is_sum else output.range
    same = method.paired and np.array_equal(made.totals[:, A], made.totals[:, B])
    if method.why_none and not same:  # what is the same is so without any interval
        points = made.point()
        return _plain(float(points[A]), float(points[B]), made, method.why_none, paired=method.paired)
    if method.paired:
        # A cluster of which a step left nothing on one side has no partner.
        here = made.present.any(axis=1) if method.by_part else made.present.all(axis=1)
        own = None if sizes is None else sizes[here]
        a, b = made.totals[here, A], made.totals[here, B]
        return paired_difference(a, b, made.value, sizes=own, bounds=bounds, draws=method.draws)
    if made.is_sum:
        points = made.point()
        return _plain(float(points[A]), float(points[B]), made, SUM_OF_OTHERS, paired=False)
    a, b = (made.totals[made.present[:, side], side] for side in (A, B))
    return unpaired_difference(a, b, made.value, bounds=bounds, draws=method.draws)


def item_values(rows: Rows, rollup: Rollup) -> tuple[IntArray, FloatArray]:
    """The items of some rows and their values, repeats and parts averaged; of labels, whether it is the one counted."""
    step = rollup.steps[0]
    values = rows.values
    if step.reduction is Reduction.SHARE:
        values = np.array([label == step.label for label in rows.labels or ()], dtype=np.float64)
    items, inverse = np.unique(rows.keys[ITEM], return_inverse=True)
    known = ~np.isnan(values)
    sums = np.bincount(inverse, np.where(known, values, 0.0), len(items))
    counts = np.bincount(inverse, known, len(items))
    there = counts > 0
    return items[there].astype(np.int64), sums[there] / counts[there]


def _numbered_anew(a: Rows, b: Rows) -> tuple[Rows, Rows, int]:
    """The same rows with their clusters numbered from 0: a slice has few of all clusters."""
    both = np.concatenate([a.keys[CLUSTER], b.keys[CLUSTER]])
    names, codes = np.unique(both, return_inverse=True)
    own = codes.reshape(-1).astype(np.int64)
    return a.rekeyed(CLUSTER, own[: len(a)]), b.rekeyed(CLUSTER, own[len(a) :]), len(names)


def _of_sample(made: Sample, output: Output, method: Method) -> Difference:
    sides = [(made.values[made.groups == side], made.clusters[made.groups == side]) for side in (A, B)]
    (a, own), (b, other) = sides
    same = method.paired and np.array_equal(a, b)
    if (method.why_none and not same) or (method.paired and not np.array_equal(own, other)):
        points = made.point()
        counts = len(np.unique(own)), len(np.unique(other))
        return _none(float(points[A]), float(points[B]), counts, method.why_none or OTHER_ORDER, paired=method.paired)
    bounds = (None, None) if made.is_sum else output.range
    return percentile_difference(
        a, own, b, other, made.quantile, paired=method.paired, bounds=bounds, draws=method.draws
    )


def _plain(a: float, b: float, made: Pooled, why: str, *, paired: bool) -> Difference:
    counts = int(made.present[:, A].sum()), int(made.present[:, B].sum())
    return _none(a, b, counts, why, paired=paired)


def _none(a: float, b: float, counts: tuple[int, int], why: str, *, paired: bool) -> Difference:
    """Two values and their difference, without anything about how sure it is."""
    first, second = (number if np.isfinite(number) else None for number in (a, b))
    gap = None if first is None or second is None else second - first
    nothing = Interval(None, None, f"none: {why}"), Significance(None, f"none: {why}")
    return Difference(first, second, gap, *nothing, None, None, counts, paired)


def _clusters(rows: Rows) -> int:
    return len(np.unique(rows.keys[CLUSTER]))


def _items_per_cluster(rows: Rows, n_clusters: int) -> FloatArray:
    _, members = combinations([rows.keys[CLUSTER], rows.keys[ITEM]], len(rows))
    return np.bincount(members[:, 0], minlength=n_clusters).astype(np.float64)
