"""Dialogue states of a batch as encoded arrays, compared all at once.

A *cell* is a slot in an exchange that at least one side has filled. Every state metric reads the same cells: whether
the reference and the prediction fill them, and whether they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from turnwise.dialogue.normalise import DONTCARE, Normaliser
from turnwise.dialogue.records import Pair, State, domain_of, reference_domains
from turnwise.kernel.rollup import BoolArray, IntArray
from turnwise.kernel.score import JSON


@dataclass(slots=True)
class Entries:
    """The filled slots of one side: one row per exchange, slot and alternative value."""

    turn: IntArray
    slot: IntArray
    value: IntArray
    rank: IntArray
    """0 for the first alternative."""


@dataclass(slots=True)
class Cells:
    """Every filled slot of every exchange, ordered by exchange."""

    turn: IntArray
    slot: IntArray
    in_reference: BoolArray
    in_prediction: BoolArray
    agree: BoolArray
    """Both sides fill the slot, and every predicted value is acceptable."""
    reference_dontcare: BoolArray
    """dontcare is acceptable."""
    predicted_dontcare: BoolArray


@dataclass(slots=True)
class StateTable:
    """The states of a batch."""

    n: int
    slots: list[str]
    values: list[str]
    reference: Entries
    prediction: Entries
    reference_known: BoolArray
    """The exchange has a reference state."""
    predicted: BoolArray
    """The exchange was submitted with a state."""
    reference_domains: list[tuple[str, ...]]
    predicted_domains: list[tuple[str, ...]]
    _cells: dict[bool, Cells] = field(default_factory=dict)

    def cells(self, first: bool) -> Cells:
        """The cells; with `first`, only the first of alternative reference values is acceptable (004-2)."""
        if first not in self._cells:
            self._cells[first] = _compare(self, first)
        return self._cells[first]

    def mismatches(self, cells: Cells, chosen: BoolArray, first: bool) -> dict[int, list[JSON]]:
        """Evidence per exchange for the chosen cells: the slot, what was expected, what was found."""
        turns, slots = cells.turn[chosen], cells.slot[chosen]
        expected = self._texts(self.reference, turns, slots, first)
        found = self._texts(self.prediction, turns, slots, False)
        evidence: dict[int, list[JSON]] = {}
        for turn, slot, wanted, given in zip(turns.tolist(), slots.tolist(), expected, found, strict=True):
            evidence.setdefault(turn, []).append({"slot": self.slots[slot], "expected": wanted, "found": given})
        return evidence

    def _texts(self, side: Entries, turns: IntArray, slots: IntArray, first: bool) -> list[JSON]:
        """The value of each cell on one side: a text, a list of alternatives, or None."""
        width = len(self.slots)
        keys = side.turn * width + side.slot
        order = np.argsort(keys, kind="stable")
        wanted = turns * width + slots
        begin = np.searchsorted(keys, wanted, "left", sorter=order).tolist()
        end = np.searchsorted(keys, wanted, "right", sorter=order).tolist()
        codes = side.value[order].tolist()
        texts: list[JSON] = []
        for start, stop in zip(begin, end, strict=True):
            names = [self.values[code] for code in codes[start : start + 1 if first else stop]] if stop > start else []
            texts.append(None if not names else names[0] if len(names) == 1 else names)
        return texts


def encode(pairs: Sequence[Pair], normaliser: Normaliser) -> StateTable:
    """Normalise and encode both sides of all pairs."""
    slots: dict[str, int] = {}
    values: dict[str, int] = {}
    codes = (slots, values)
    reference = _encode_side([pair.reference.state for pair in pairs], normaliser.values, normaliser, codes)
    predictions = [pair.prediction for pair in pairs]
    states = [p.state if p is not None else None for p in predictions]
    prediction = _encode_side(states, partial(_predicted_values, normaliser), normaliser, codes)
    return StateTable(
        len(pairs),
        list(slots),
        list(values),
        reference,
        prediction,
        np.array([pair.reference.state is not None for pair in pairs], dtype=bool),
        np.array([state is not None for state in states], dtype=bool),
        [reference_domains(pair.reference) for pair in pairs],
        [pair.predicted_domains for pair in pairs],
    )


def _predicted_values(normaliser: Normaliser, slot: str, raw: str | Sequence[str]) -> tuple[str, ...]:
    """A prediction is taken at its word: `cheap|moderate` is one value, not a choice between two."""
    texts = [normaliser.value(slot, text) for text in ([raw] if isinstance(raw, str) else raw)]
    return tuple(dict.fromkeys(text for text in texts if text is not None))


def _encode_side(
    states: Sequence[State | None],
    normal_forms: Callable[[str, str | Sequence[str]], tuple[str, ...]],
    normaliser: Normaliser,
    vocabulary: tuple[dict[str, int], dict[str, int]],
) -> Entries:
    slots, values = vocabulary
    turn: list[int] = []
    slot: list[int] = []
    value: list[int] = []
    rank: list[int] = []
    memo: dict[tuple[str, str], tuple[int, tuple[int, ...]]] = {}
    for position, state in enumerate(states):
        for raw_slot, raw_value in (state or {}).items():
            key = (raw_slot, raw_value if type(raw_value) is str else "\x00".join(["", *raw_value]))
            known = memo.get(key)
            if known is None:
                name = normaliser.slot(raw_slot)
                texts = normal_forms(name, raw_value)
                codes = tuple(values.setdefault(text, len(values)) for text in texts)
                known = memo[key] = (slots.setdefault(name, len(slots)) if codes else -1, codes)
            for place, code in enumerate(known[1]):
                turn.append(position)
                slot.append(known[0])
                value.append(code)
                rank.append(place)
    return Entries(*(np.array(column, dtype=np.int64) for column in (turn, slot, value, rank)))


def _compare(table: StateTable, first: bool) -> Cells:
    """Mark every (exchange, slot) of both sides in tables of the whole grid: no sorting, no loops."""
    width = max(1, len(table.slots))
    grid = table.n * width
    reference, prediction = table.reference, table.prediction
    kept = reference.rank == 0 if first else np.ones(len(reference.turn), dtype=bool)
    reference_cell = (reference.turn * width + reference.slot)[kept]
    reference_value = reference.value[kept]
    predicted_cell = prediction.turn * width + prediction.slot
    unacceptable = ~_acceptable(reference_cell, reference_value, predicted_cell, prediction.value, grid)
    dontcare = table.values.index(DONTCARE) if DONTCARE in table.values else -1
    in_reference, in_prediction = _marked(reference_cell, grid), _marked(predicted_cell, grid)
    cells = np.flatnonzero(in_reference | in_prediction)
    predicted = in_prediction[cells]
    return Cells(
        cells // width,
        cells % width,
        in_reference[cells],
        predicted,
        predicted & ~_marked(predicted_cell[unacceptable], grid)[cells],
        _marked(reference_cell[reference_value == dontcare], grid)[cells],
        predicted & ~_marked(predicted_cell[prediction.value != dontcare], grid)[cells],
    )


def _marked(cells: IntArray, grid: int) -> BoolArray:
    marks = np.zeros(grid, dtype=bool)
    marks[cells] = True
    return marks


def _acceptable(
    cells: IntArray, values: IntArray, predicted: IntArray, predicted_values: IntArray, grid: int
) -> BoolArray:
    """Whether each predicted value is among the reference values of its cell."""
    chosen = np.full(grid, -1, dtype=np.int64)
    chosen[cells] = values  # of several alternatives one stays; the others are looked up below
    right: BoolArray = chosen[predicted] == predicted_values
    others = chosen[cells] != values
    if others.any():
        alternatives = set(zip(cells[others].tolist(), values[others].tolist(), strict=True))
        for place in np.flatnonzero(~right).tolist():
            right[place] = (int(predicted[place]), int(predicted_values[place])) in alternatives
    return right


def in_scope(table: StateTable, cells: Cells, scope: str) -> BoolArray:
    """Which predicted cells count for hallucination (004-7).

    `active`: the domain is active in the reference or in the prediction, or absent from the reference state;
    `reference`: the domain is active in the reference; `all`: every one.
    """
    if scope == "all":
        return cells.in_prediction
    domains: dict[str, int] = {}
    slot_domain = np.array([domains.setdefault(domain_of(slot), len(domains)) for slot in table.slots], dtype=np.int64)
    active = [_codes(names, domains) for names in table.reference_domains]
    if scope == "active":
        active = [a + _codes(b, domains) for a, b in zip(active, table.predicted_domains, strict=True)]
    width = max(1, len(domains))
    pairs = np.array([turn * width + code for turn, codes in enumerate(active) for code in codes], dtype=np.int64)
    cell_pairs = cells.turn * width + slot_domain[cells.slot]
    scoped = _marked(pairs, table.n * width)[cell_pairs]
    if scope == "active":
        scoped |= ~_marked(cell_pairs[cells.in_reference], table.n * width)[cell_pairs]
    found: BoolArray = scoped & cells.in_prediction
    return found


def _codes(names: tuple[str, ...], domains: dict[str, int]) -> list[int]:
    return [domains[name] for name in names if name in domains]


def counts(cells_turn: IntArray, chosen: BoolArray, n: int) -> list[int]:
    """How many chosen cells each exchange has."""
    found: list[int] = np.bincount(cells_turn[chosen], minlength=n).tolist()
    return found
