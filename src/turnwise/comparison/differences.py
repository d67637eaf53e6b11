"""The difference of one roll-up of one metric in every slice: of measured scores, and of numbers made after roll-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from turnwise.comparison.joint import (
    ROLLED_DIFFERENTLY,
    Method,
    compile_both,
    difference_of_pooled,
    difference_of_rows,
)
from turnwise.comparison.leaves import By, Key, Leaf, Slice, all_keys, can_slice, make_leaf
from turnwise.comparison.pairs import Pairing
from turnwise.comparison.pairs import joined as joined_pairings
from turnwise.comparison.sides import Node, Side
from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import ITEM, Pooled, Rollup
from turnwise.report.derive import Rolled, joined
from turnwise.report.series import Series
from turnwise.stats.difference import Difference, without

NOT_THERE = "not measured in {}"
VOIDED = "a part of the total is missing"


@dataclass(frozen=True, slots=True)
class Found:
    """A difference in one slice, with what it was made of."""

    key: Key
    difference: Difference
    pairing: Pairing
    slice: Slice | None
    """None for a number made after roll-up."""
    n_a: int
    """Items of A that it rests on."""
    n_b: int

    @property
    def n_paired(self) -> int:
        """Items that were compared with themselves."""
        if not self.difference.paired:
            return 0
        return self.slice.n_shared if self.slice is not None and self.slice.by_part else self.n_a

    @property
    def counted(self) -> str:
        """The items it rests on, in one number or for each side."""
        one = self.difference.paired and self.n_a == self.n_b
        return str(self.n_a) if one else f"{self.n_a} / {self.n_b}"


@dataclass(frozen=True, slots=True)
class Pair:
    """One output on both sides, and how it is to be compared."""

    a: Side
    b: Side
    first: Node | None
    second: Node | None
    output: Output
    unpaired: bool = False
    draws: int = 10_000
    alike: bool = True
    """Whether both sides measured in the same way, so that one function values both."""

    def trials(self) -> int:
        """How often items were tried on both sides, at most."""
        nodes = (self.first, self.second)
        most = [1 + int(n.columns.repeats.max(initial=0)) if isinstance(n, Series) else 1 for n in nodes]
        return min(most)

    def differences(self, rollup: Rollup, by: By = ()) -> Iterator[Found]:
        """The difference in every slice; for the whole, one."""
        if self.first is None or self.second is None:
            if not by:
                lacking = [letter for letter, node in (("A", self.first), ("B", self.second)) if node is None]
                yield self._nothing(NOT_THERE.format(" and ".join(lacking)))
        elif isinstance(self.first, Series) and isinstance(self.second, Series):
            yield from self._of_series(self.first, self.second, rollup, by)
        elif isinstance(self.first, Rolled) and isinstance(self.second, Rolled):
            yield from self._of_rolled(self.first, self.second, by)

    def _nothing(self, why: str, key: Key = (), pairing: Pairing | None = None) -> Found:
        none = np.zeros(len(self.a.universe), dtype=bool)
        pairing = pairing or Pairing(not self.unpaired, none, none)
        return Found(key, without(None, None, (0, 0), why, paired=pairing.paired), pairing, None, 0, 0)

    def _of_series(self, first: Series, second: Series, rollup: Rollup, by: By) -> Iterator[Found]:
        if not (can_slice(first, self.a, by) and can_slice(second, self.b, by)):
            return
        leaf = make_leaf(self.a, self.b, first, second, rollup, by, unpaired=self.unpaired)
        other = next((one for one in second.output.rollups if one.name == rollup.name), None)
        values = first.value, first.value if self.alike else second.value
        why_none = first.output.no_interval or second.output.no_interval
        for key, cut in leaf.slices.items():
            method = Method(leaf.pairing.paired, self.draws, why_none, cut.by_part)
            if other is None or other.steps != rollup.steps or cut.voided:
                yield self._nothing(VOIDED if cut.voided else ROLLED_DIFFERENTLY, key, leaf.pairing)
                continue
            found = difference_of_rows(cut.a, cut.b, rollup, self.output, values, method)
            yield Found(key, found, leaf.pairing, cut, _items(cut.a.keys[ITEM]), _items(cut.b.keys[ITEM]))

    def _of_rolled(self, first: Rolled, second: Rolled, by: By) -> Iterator[Found]:
        leaves: dict[int, Leaf] = {}
        lacking = self._collect(first, second, by, leaves)
        if not leaves or lacking:
            if not by:
                yield self._nothing(lacking or "no input was measured")
            return
        pairing = joined_pairings([leaf.pairing for leaf in leaves.values()])
        why_none = next((leaf.output.no_interval for leaf in _leaves(first) if leaf.output.no_interval), "")
        for key in all_keys(list(leaves.values())):
            made = self._pooled(first, second, leaves, key)
            if isinstance(made, str):
                yield self._nothing(made, key, pairing)
                continue
            here = [leaf.slices[key] for leaf in leaves.values()]
            method = Method(pairing.paired, self.draws, why_none, any(cut.by_part for cut in here))
            found = difference_of_pooled(made, self.output, method)
            n_a, n_b = (_items(np.concatenate([getattr(cut, side).keys[ITEM] for cut in here])) for side in ("a", "b"))
            yield Found(key, found, pairing, None, n_a, n_b)

    def _collect(self, first: Node, second: Node, by: By, leaves: dict[int, Leaf]) -> str:
        """Pair and cut every input; what one of the sides lacks is named."""
        if isinstance(first, Series) and isinstance(second, Series):
            if not (can_slice(first, self.a, by) and can_slice(second, self.b, by)):
                return f"missing input: {first.metric} cannot be sliced so"
            rollup = first.output.primary
            leaves[id(first)] = make_leaf(self.a, self.b, first, second, rollup, by, unpaired=self.unpaired)
            return "" if second.output.primary.steps == rollup.steps else ROLLED_DIFFERENTLY
        if not (isinstance(first, Rolled) and isinstance(second, Rolled)):
            return ROLLED_DIFFERENTLY
        for wanted in first.derived.inputs:
            sides = first.inputs.get(wanted.label), second.inputs.get(wanted.label)
            for letter, node in zip("AB", sides, strict=True):
                if node is None:
                    return f"missing input: {wanted.label} ({letter})"
            assert sides[0] is not None and sides[1] is not None  # noqa: PT018
            lacking = self._collect(sides[0], sides[1], by, leaves)
            if lacking:
                return lacking
        return ""

    def _pooled(self, first: Node, second: Node, leaves: dict[int, Leaf], key: Key) -> Pooled | str:
        """Cluster totals of both sides side by side, inputs joined; or what is missing."""
        if isinstance(first, Series):
            cut = leaves[id(first)].slices.get(key)
            if cut is None or not len(cut.a) or not len(cut.b):
                return f"missing input: {first.metric}: nothing scored on both sides"
            if cut.voided:
                return VOIDED
            n = len(self.a.items.clusters.names)
            made = compile_both(cut.a, cut.b, first.output.primary, first.value, n)
            return made if isinstance(made, Pooled) else f"missing input: {first.metric} has no additive roll-up"
        assert isinstance(second, Rolled)
        parts = {}
        for wanted in first.derived.inputs:
            label = wanted.label
            found = self._pooled(first.inputs[label], second.inputs[label], leaves, key)
            if isinstance(found, str):
                return found
            parts[label] = found
        return joined(first.derived, parts)


def _leaves(node: Node) -> Iterator[Series]:
    if isinstance(node, Series):
        yield node
    else:
        for inner in node.inputs.values():
            yield from _leaves(inner)


def _items(codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return len(np.unique(codes))
