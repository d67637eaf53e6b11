"""The scored rows of one output on both sides, paired and cut into slices: what every difference is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from turnwise.comparison.pairs import Pairing, goes_by_rows, pair_items, same_repeats
from turnwise.comparison.sides import Side
from turnwise.kernel.metric import COMPONENT
from turnwise.kernel.rollup import ITEM, BoolArray, IntArray, Rollup, Rows
from turnwise.report.series import Grouped, Series, group_rows, has_dimension

By = tuple[str, ...]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows of both sides in one group, and how many items were left out."""

    a: Rows
    b: Rows
    n_only_a: int = 0
    n_only_b: int = 0
    voided: bool = False
    """A part of the total is missing on one side, so that there is no total."""
    repeated: bool = False
    """Whether items were scored more than once."""
    by_part: bool = False
    """Whether it is a part of the metric's measurements (a slot), which an item may have on one side only."""

    @property
    def n_shared(self) -> int:
        """Items that are in the slice on both sides."""
        return len(np.intersect1d(self.a.keys[ITEM], self.b.keys[ITEM]))


@dataclass(frozen=True, slots=True)
class Leaf:
    """One output of one metric, in the slices of one grouping."""

    pairing: Pairing
    slices: Mapping[Key, Slice] = field(default_factory=dict)


def can_slice(series: Series, side: Side, by: By) -> bool:
    """Whether a series can be cut by some dimensions."""
    return all(name != COMPONENT and has_dimension(series, side.items, name) for name in by)


def make_leaf(
    a: Side, b: Side, first: Series, second: Series, rollup: Rollup, by: By = (), *, unpaired: bool = False
) -> Leaf:
    """Pair two series and cut them; without `by`, the whole of them is one slice."""
    pairing = pair_items(a, b, first, second, trials=rollup.trials, unpaired=unpaired)
    if pairing.paired and goes_by_rows(rollup):
        first, second = same_repeats(first, second)
    grouped = group_rows(first, a.items, by), group_rows(second, b.items, by)
    by_part = first.part is not None and first.part in by
    repeated = not by_part and any(bool(one.columns.repeats.any()) for one in (first, second))
    slices = {}
    for key in sorted({*grouped[0].keys, *grouped[1].keys}):
        own, left_a = _cut(grouped[0], key, pairing.a)
        other, left_b = _cut(grouped[1], key, pairing.b)
        if pairing.paired and by and not by_part:
            own, other, moved = _same_items(own, other)
            left_a, left_b = left_a + moved[0], left_b + moved[1]
        voided = _is_voided(grouped[0], key, first) or _is_voided(grouped[1], key, second)
        slices[key] = Slice(own, other, left_a, left_b, voided, repeated, by_part)
    return Leaf(pairing, slices)


def _cut(grouped: Grouped, key: Key, wanted: BoolArray) -> tuple[Rows, int]:
    """The rows of a group whose items count, and how many items of it do not."""
    own = grouped.groups == (grouped.keys.index(key) if key in grouped.keys else -1)
    counted = wanted[grouped.rows.keys[ITEM]]
    left = len(np.unique(grouped.rows.keys[ITEM][own & ~counted]))
    return grouped.rows.chosen(own & counted), left


def _same_items(a: Rows, b: Rows) -> tuple[Rows, Rows, tuple[int, int]]:
    """Only items that are in the slice on both sides: a dimension may have another value in B."""
    first, second = a.keys[ITEM], b.keys[ITEM]
    here = np.isin(first, second), np.isin(second, first)
    moved = _distinct(first[~here[0]]), _distinct(second[~here[1]])
    return a.chosen(here[0]), b.chosen(here[1]), moved


def _is_voided(grouped: Grouped, key: Key, series: Series) -> bool:
    reason = series.output.voided_by
    return bool(reason) and key in grouped.keys and reason in grouped.missing[grouped.keys.index(key)]


def _distinct(codes: IntArray) -> int:
    return len(np.unique(codes))


def all_keys(leaves: Sequence[Leaf]) -> list[Key]:
    """Every slice that any leaf has."""
    return sorted({key for leaf in leaves for key in leaf.slices})
