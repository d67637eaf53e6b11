"""Roll-ups: how item scores become one number, as a declared list of steps.

A roll-up is compiled into per-cluster sufficient statistics and a function of their sum (`Pooled`), so that a point
value, a shard merge and a bootstrap replicate are the same computation; percentiles keep their values (`Sample`).
Intervals are not made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import pairwise
from math import comb

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Value = Callable[[FloatArray], FloatArray]
"""Pooled statistics (..., d) to values (...); NaN where there is nothing to divide by."""

CLUSTER = "cluster"
ITEM = "item"
_WITHIN_CLUSTER = frozenset({CLUSTER, ITEM})


class Reduction(StrEnum):
    """What a step does with the rows of one group."""

    POOL = "pool"
    MEAN = "mean"
    TOTAL = "total"
    RATIO = "ratio of sums"
    SHARE = "share of a label"
    PERCENTILE = "percentile"
    PASS_K = "pass^k over repeats"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Step:
    """Reduce the rows of each group in `by` to one; the last step has no `by` and leaves one number."""

    reduction: Reduction
    by: tuple[str, ...] = ()
    label: str = ""
    numerator: int = 0
    denominator: int = 1
    quantile: float = 0.5
    k: int = 1
    digits: int | None = None
    """Round half-up to so many digits afterwards; only `spec` profiles do."""


def pool(*, by: tuple[str, ...] = (), digits: int | None = None) -> Step:
    """The metric's own value of the summed statistics (corpus BLEU, a pooled rate)."""
    return Step(Reduction.POOL, by, digits=digits)


def mean(*, by: tuple[str, ...] = (), digits: int | None = None) -> Step:
    """The mean of the values; as a later step, the mean of the group values before it."""
    return Step(Reduction.MEAN, by, digits=digits)


def total(*, by: tuple[str, ...] = (), digits: int | None = None) -> Step:
    """The sum of the values (cost, tokens, violations)."""
    return Step(Reduction.TOTAL, by, digits=digits)


def ratio(numerator: int, denominator: int, *, by: tuple[str, ...] = (), digits: int | None = None) -> Step:
    """Sum of one statistic over the sum of another, by their positions in the statistics vector."""
    return Step(Reduction.RATIO, by, numerator=numerator, denominator=denominator, digits=digits)


def share(label: str, *, by: tuple[str, ...] = (), digits: int | None = None) -> Step:
    """The share of rows that carry `label`."""
    return Step(Reduction.SHARE, by, label=label, digits=digits)


def percentile(percent: float, *, digits: int | None = None) -> Step:
    """The value below which `percent` of the rows lie, linearly interpolated."""
    return Step(Reduction.PERCENTILE, quantile=percent / 100, digits=digits)


def pass_k(k: int) -> Step:
    """pass^k of an item: the chance that k of its trials, drawn without replacement, all succeed: C(c,k)/C(n,k)."""
    return Step(Reduction.PASS_K, (ITEM,), k=k)


@dataclass(frozen=True, slots=True)
class Rollup:
    """A named list of steps."""

    name: str
    steps: tuple[Step, ...]
    primary: bool = False

    def __post_init__(self) -> None:
        if not self.steps or self.steps[-1].by:
            raise ValueError(f"roll-up {self.name}: the last step must leave one number, so it has no `by`")
        if any(step.reduction is Reduction.PERCENTILE for step in self.steps[:-1]):
            raise ValueError(f"roll-up {self.name}: a percentile can only be the last step")
        across = [step for step in self.steps if not _WITHIN_CLUSTER & set(step.by)]
        if any(not set(after.by) <= set(before.by) for before, after in pairwise(across)):
            raise ValueError(f"roll-up {self.name}: a later step can only group by what the step before kept")
        if any(step.reduction not in (Reduction.MEAN, Reduction.PERCENTILE) for step in self.steps[1:]):
            raise ValueError(f"roll-up {self.name}: a later step takes the mean or a percentile of the ones before")

    @property
    def additive(self) -> bool:
        """Whether shards of a data set can be merged (percentiles cannot)."""
        return self.steps[-1].reduction is not Reduction.PERCENTILE

    @property
    def is_sum(self) -> bool:
        """Whether it adds up values, so that it may leave their range."""
        return any(step.reduction is Reduction.TOTAL for step in self.steps)

    @property
    def trials(self) -> int:
        """How many trials of an item it takes; 1 unless it is a pass^k."""
        return max(step.k if step.reduction is Reduction.PASS_K else 1 for step in self.steps)

    @property
    def within_clusters(self) -> bool:
        """Whether what a cluster adds does not depend on the others, so that whole clusters can be read in portions."""
        return self.additive and all(_WITHIN_CLUSTER & set(step.by) for step in self.steps[:-1])


MICRO = Rollup("micro", (mean(),), primary=True)
"""Mean over items."""
MACRO = Rollup("macro", (mean(by=(CLUSTER,)), mean()))
"""Mean over clusters of the cluster's mean."""
MEAN = Rollup("mean", (mean(),), primary=True)
MICRO_SECOND = replace(MICRO, primary=False)
MACRO_FIRST = replace(MACRO, primary=True)
P50, P90, P95 = (Rollup(f"p{p}", (percentile(p),)) for p in (50, 90, 95))
TOTAL = Rollup("total", (total(),))


@dataclass(frozen=True, slots=True)
class Rows:
    """The scored rows of one metric output, as columns."""

    values: FloatArray
    statistics: FloatArray
    """(n, d); empty second axis where the output has labels only."""
    keys: Mapping[str, IntArray]
    """Integer codes per row: `cluster`, `item`, and every dimension a step groups by."""
    labels: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def chosen(self, which: BoolArray) -> Rows:
        """Some of the rows."""
        labels = None if self.labels is None else [self.labels[i] for i in np.flatnonzero(which).tolist()]
        keys = {name: codes[which] for name, codes in self.keys.items()}
        return Rows(self.values[which], self.statistics[which], keys, labels)

    def rekeyed(self, name: str, codes: IntArray) -> Rows:
        """The same rows with other codes for one key."""
        return Rows(self.values, self.statistics, {**self.keys, name: codes}, self.labels)


@dataclass(frozen=True, slots=True)
class Pooled:
    """A compiled additive roll-up: `value(sum over clusters of totals)` is the number of each group."""

    totals: FloatArray
    """(clusters, groups, d)."""
    present: BoolArray
    """(clusters, groups): the cluster has a scored row in the group."""
    value: Value
    is_sum: bool = False
    """The number is a sum of values, so it may leave their range."""

    def point(self) -> FloatArray:
        """The value of each group."""
        return self.value(self.totals.sum(axis=0))


@dataclass(frozen=True, slots=True)
class Sample:
    """A compiled percentile: the values themselves, with their clusters and groups."""

    values: FloatArray
    clusters: IntArray
    groups: IntArray
    n_groups: int
    quantile: float
    digits: int | None
    is_sum: bool = False

    def point(self) -> FloatArray:
        """The value of each group; NaN for an empty one."""
        found = [self.values[self.groups == g] for g in range(self.n_groups)]
        result = np.array([np.quantile(v, self.quantile) if len(v) else np.nan for v in found])
        return _rounded(result, self.digits)


def compile_rollup(
    rollup: Rollup, rows: Rows, groups: IntArray, n_groups: int, n_clusters: int, value: Value
) -> Pooled | Sample:
    """Bring the rows of every group into the form that `point()` and the intervals need.

    Steps within a cluster (per item, per cluster) are carried out exactly; the next step becomes per-cluster totals,
    for each level of its `by`; later means run over those levels inside the returned value function.
    """
    steps = list(rollup.steps)
    while steps[0].by and _WITHIN_CLUSTER & set(steps[0].by):
        rows, groups = _reduce_within(steps.pop(0), rows, groups, value)
    if steps[0].reduction is Reduction.PERCENTILE:
        step = steps[0]
        return Sample(rows.values, rows.keys[CLUSTER], groups, n_groups, step.quantile, step.digits, rollup.is_sum)
    step, later = steps[0], steps[1:]
    base, step_value = _base_statistics(step, rows, value)
    if step.by:
        base, step_value = np.column_stack([base, np.ones(len(rows))]), _where_present(step_value)
    levels, members = combinations([rows.keys[name] for name in step.by], len(rows))
    totals = _sum_by(base, (rows.keys[CLUSTER], groups, levels), (n_clusters, n_groups, len(members)))
    present = np.zeros((n_clusters, n_groups), dtype=bool)
    present[rows.keys[CLUSTER], groups] = True
    codes = {name: members[:, i] for i, name in enumerate(step.by)}
    combine = _over_levels(step_value, base.shape[1], len(members), later, codes)
    return Pooled(totals.reshape(n_clusters, n_groups, -1), present, combine, rollup.is_sum)


def ratio_value(statistics: FloatArray) -> FloatArray:
    """First statistic over the second; NaN where the second is 0."""
    numerator, denominator = statistics[..., 0], statistics[..., 1]
    quotient: FloatArray = np.divide(
        numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator != 0
    )
    return quotient


def round_half_up(number: float, digits: int) -> float:
    """Round half away from zero as on paper: 2.675 gives 2.68, and so does a sum that is meant to be 2.675.

    Twelve significant digits are taken as meant; what lies behind them is the noise of binary fractions.
    """
    if abs(number) >= 1e15:  # no digits after the point are left to round
        return float(number)
    return float(Decimal(f"{number:.12g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _rounded(values: FloatArray, digits: int | None) -> FloatArray:
    if digits is None:
        return values
    flat = [v if np.isnan(v) else round_half_up(v, digits) for v in np.ravel(values)]
    return np.array(flat).reshape(np.shape(values))


def _base_statistics(step: Step, rows: Rows, value: Value) -> tuple[FloatArray, Value]:
    """The vector each row adds to its cluster, and the value of a sum of such vectors."""
    ones = np.ones(len(rows))
    match step.reduction:
        case Reduction.POOL:
            base, function = rows.statistics, value
        case Reduction.MEAN:
            base, function = np.column_stack([rows.values, ones]), ratio_value
        case Reduction.TOTAL:
            base, function = rows.values[:, None], _single
        case Reduction.RATIO:
            base, function = rows.statistics[:, [step.numerator, step.denominator]], ratio_value
        case Reduction.SHARE:
            hits = np.array([label == step.label for label in rows.labels or ()], dtype=np.float64)
            base, function = np.column_stack([hits, ones]), ratio_value
        case _:
            raise ValueError(f"{step.reduction} cannot be summed over clusters")
    return base, lambda statistics: _rounded(function(statistics), step.digits)


def _where_present(value: Value) -> Value:
    """The value where the last statistic, the number of rows, is not 0: a level that a group lacks is not a 0."""

    def of_present(statistics: FloatArray) -> FloatArray:
        return np.where(statistics[..., -1] > 0, value(statistics[..., :-1]), np.nan)

    return of_present


def _single(statistics: FloatArray) -> FloatArray:
    return statistics[..., 0]


def combinations(codes: Sequence[IntArray], n_rows: int) -> tuple[IntArray, IntArray]:
    """Number the distinct combinations of non-negative codes: each row's number, and the combinations themselves.

    Several codes are packed into one integer, because sorting integers is many times as fast as sorting rows.
    """
    if not codes:
        return np.zeros(n_rows, dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
    sizes = tuple(int(column.max(initial=0)) + 1 for column in codes)
    packed = np.ravel_multi_index(tuple(codes), sizes)
    members, inverse = np.unique(packed, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64), np.column_stack(np.unravel_index(members, sizes)).astype(np.int64)


def _sum_by(base: FloatArray, index: tuple[IntArray, ...], shape: tuple[int, ...]) -> FloatArray:
    flat = np.ravel_multi_index(index, shape)
    size = int(np.prod(shape))
    sums = np.empty((size, base.shape[1]))
    for j in range(base.shape[1]):
        sums[:, j] = np.bincount(flat, weights=base[:, j], minlength=size)
    return sums.reshape(*shape, base.shape[1])


def _over_levels(value: Value, d: int, n_levels: int, later: list[Step], codes: Mapping[str, IntArray]) -> Value:
    """Value per level, then the later means over levels, the coarser levels of each step in turn."""
    if n_levels == 1 and not later:
        return value

    def combined(statistics: FloatArray) -> FloatArray:
        numbers = value(statistics.reshape(*statistics.shape[:-1], n_levels, d))
        keys = dict(codes)
        for step in later:
            if step.reduction is Reduction.PERCENTILE:
                return _rounded(_quantile_of_levels(numbers, step.quantile), step.digits)
            inverse, members = combinations([keys[name] for name in step.by], numbers.shape[-1])
            found = ~np.isnan(numbers)
            onehot = np.eye(len(members))[inverse]
            sums = np.where(found, numbers, 0.0) @ onehot
            numbers = _rounded(ratio_value(np.stack([sums, found @ onehot], axis=-1)), step.digits)
            keys = {name: members[:, i] for i, name in enumerate(step.by)}
        return numbers[..., 0]

    return combined


def _quantile_of_levels(numbers: FloatArray, quantile: float) -> FloatArray:
    """The quantile over the last axis of what is there; NaN where nothing is."""
    flat = numbers.reshape(-1, numbers.shape[-1])
    found = [row[~np.isnan(row)] for row in flat]
    return np.array([np.quantile(row, quantile) if len(row) else np.nan for row in found]).reshape(numbers.shape[:-1])


def _reduce_within(step: Step, rows: Rows, groups: IntArray, value: Value) -> tuple[Rows, IntArray]:
    """One row per group and `by` combination, for a step whose groups lie inside a cluster."""
    clusters = rows.keys[CLUSTER]
    inverse, members = combinations([groups, clusters, *(rows.keys[name] for name in step.by)], len(rows))
    n = len(members)
    if step.reduction is Reduction.PASS_K:
        successes = np.bincount(inverse, weights=rows.values >= 1 - 1e-6, minlength=n).astype(int)
        trials = np.bincount(inverse, minlength=n)
        chances = [
            comb(c, step.k) / comb(t, step.k) if t >= step.k else np.nan for c, t in zip(successes, trials, strict=True)
        ]
        numbers = np.array(chances)
    else:
        base, function = _base_statistics(step, rows, value)
        numbers = function(_sum_by(base, (inverse,), (n,)))
    numbers = _rounded(numbers, step.digits)
    kept = ~np.isnan(numbers)
    first = np.full(n, -1, dtype=np.int64)
    first[inverse[::-1]] = np.arange(len(rows))[::-1]  # the first row of each combination lends its other keys
    keys = {name: codes[first][kept] for name, codes in rows.keys.items()}
    return Rows(numbers[kept], np.zeros((int(kept.sum()), 0)), keys), members[kept, 0]
