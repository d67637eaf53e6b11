"""The scores of several runs as those of one: the newest score of an item counts, or all of them as repeats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turnwise.kernel.rollup import FloatArray, IntArray
from turnwise.store.columns import Codes, PartColumns, ScoreColumns

Portion = tuple[ScoreColumns, IntArray]
"""The rows of one run, and the place of each row's item in the universe (-1: not wanted)."""


def merged(portions: Sequence[Portion], *, as_repeats: bool) -> tuple[ScoreColumns, int]:
    """The rows of all portions (oldest first), sorted by item and repeat, and how many were replaced by newer ones."""
    kept, replaced = _as_repeats(portions) if as_repeats else _newest(portions)
    columns = [one for one, _ in kept]
    items = np.concatenate([places for _, places in kept])
    repeats = np.concatenate([one.repeats for one in columns])
    order = np.lexsort((repeats, items))
    width = max(one.statistics.shape[1] for one in columns)
    labels = [label for one in columns for label in one.labels]
    return (
        ScoreColumns(
            columns[0].output,
            columns[0].variant,
            items[order],
            repeats[order],
            np.concatenate([one.values for one in columns])[order],
            np.concatenate([_widened(one.statistics, width) for one in columns])[order],
            [labels[i] for i in order.tolist()],
            _reasons(columns, order),
            _parts(columns, order),
        ),
        replaced,
    )


def _newest(portions: Sequence[Portion]) -> tuple[list[Portion], int]:
    """Leave out what a later portion has, too."""
    kept: list[Portion] = []
    replaced = 0
    later = np.zeros(0, dtype=np.int64)
    for columns, places in reversed(portions):
        again = np.isin(places, later) & (places >= 0)
        replaced += len(np.unique(places[again]))
        chosen = (places >= 0) & ~again
        kept.append((columns.only(chosen), places[chosen]))
        later = np.union1d(later, places[chosen])
    return kept[::-1], replaced


def _as_repeats(portions: Sequence[Portion]) -> tuple[list[Portion], int]:
    """Number the repeats of each portion after those of the one before."""
    kept: list[Portion] = []
    used = 0
    for columns, places in portions:
        chosen = columns.only(places >= 0)
        last = int(chosen.repeats.max(initial=-1)) + 1
        kept.append((_shifted(chosen, used), places[places >= 0]))
        used += last
    return kept, 0


def _shifted(columns: ScoreColumns, by: int) -> ScoreColumns:
    return ScoreColumns(
        columns.output,
        columns.variant,
        columns.items,
        columns.repeats + by,
        columns.values,
        columns.statistics,
        columns.labels,
        columns.reasons,
        columns.parts,
    )


def _widened(statistics: FloatArray, width: int) -> FloatArray:
    """Rows without any statistics have none of the others' columns either."""
    if statistics.shape[1] == width:
        return statistics
    wide = np.full((len(statistics), width), np.nan)
    wide[:, : statistics.shape[1]] = statistics
    return wide


def _reasons(columns: Sequence[ScoreColumns], order: IntArray) -> Codes:
    known: dict[str, int] = {}
    codes = []
    for one in columns:
        own = np.array([known.setdefault(name, len(known)) for name in one.reasons.names], dtype=np.int64)
        there = one.reasons.codes >= 0
        found = np.full(len(there), -1, dtype=np.int64)
        found[there] = own[one.reasons.codes[there]]
        codes.append(found)
    return Codes(np.concatenate(codes)[order], list(known))


def _parts(columns: Sequence[ScoreColumns], order: IntArray) -> PartColumns:
    known: dict[str, int] = {}
    rows, codes, statistics, offset = [], [], [], 0
    for one in columns:
        own = np.array([known.setdefault(name, len(known)) for name in one.parts.names], dtype=np.int64)
        rows.append(one.parts.rows + offset)
        codes.append(own[one.parts.codes] if len(own) else one.parts.codes)
        statistics.append(one.parts.statistics)
        offset += len(one.items)
    place = np.empty(offset, dtype=np.int64)
    place[order] = np.arange(offset)
    width = max(one.shape[1] for one in statistics)
    wide = [_widened(one, width) for one in statistics]
    return PartColumns(place[np.concatenate(rows)], np.concatenate(codes), list(known), np.concatenate(wide))
