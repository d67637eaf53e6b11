"""One grouping of one output, collected portion by portion: what each cluster adds to each group.

A portion holds whole clusters, so what is kept of it is one vector per cluster and group that meet in it (a cell), not
its rows; only roll-ups that reach across clusters before their last step, and percentiles, keep the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import (
    CLUSTER,
    ITEM,
    BoolArray,
    FloatArray,
    IntArray,
    Pooled,
    Rollup,
    Rows,
    Sample,
    Value,
    combinations,
    compile_rollup,
)
from turnwise.report.series import Grouped
from turnwise.stats.intervals import BOOTSTRAP_CLUSTERS, Resampler

FLOATS = 1 << 18
"""The size of what is rolled up and resampled at once: clusters (or resamples) x groups x statistics."""
MANY_GROUPS = 64
"""With so many groups it pays to number the clusters of small groups anew."""

Key = tuple[str, ...]


class Lot(NamedTuple):
    """Some groups, ready for their intervals."""

    members: IntArray
    """Which groups of all."""
    compiled: list[Pooled | Sample]
    """For each roll-up of the output."""
    filled: BoolArray
    """Which groups have a scored row."""
    resampler: Resampler
    """For as many clusters as `compiled` counts."""


class Collected:
    """The groups found so far, with their counts, cells and rows."""

    def __init__(self, output: Output) -> None:
        self.keys: list[Key] = []
        self.n_total: list[int] = []
        self.n_scored: list[int] = []
        self.missing: list[dict[str, int]] = []
        self.short: dict[str, dict[int, int]] = {rollup.name: {} for rollup in output.rollups}
        """Per roll-up over repeats and group: the items with too few trials."""
        self._places: dict[Key, int] = {}
        self._rollups = output.rollups
        self._keeps_rows = not all(rollup.within_clusters for rollup in output.rollups)
        self._cells: list[_Cells] = []
        self._rows: list[Rows] = []
        self._row_groups: list[IntArray] = []
        self._value: Value | None = None

    def add(self, grouped: Grouped, value: Value) -> None:
        """One portion: the next clusters of the data."""
        place = np.array([self._place(key) for key in grouped.keys], dtype=np.int64)
        scored = np.bincount(grouped.groups, minlength=len(grouped.keys)).tolist()
        for at, n, total, missing in zip(place.tolist(), scored, grouped.n_total, grouped.missing, strict=True):
            self.n_scored[at] += n
            self.n_total[at] += total
            for reason, times in missing.items():
                self.missing[at][reason] = self.missing[at].get(reason, 0) + times
        if not len(grouped.rows):
            return
        groups = place[grouped.groups]
        self._count_short(grouped.rows, groups)
        self._value = value
        self._cells.append(_cells(self._rollups, grouped.rows, groups, value))
        if self._keeps_rows:
            self._rows.append(grouped.rows)
            self._row_groups.append(groups)

    def _count_short(self, rows: Rows, groups: IntArray) -> None:
        for rollup in self._rollups:
            if rollup.trials > 1:
                item, members = combinations([groups, rows.keys[ITEM]], len(rows))
                few = members[np.bincount(item) < rollup.trials, 0]
                for group, n in zip(*np.unique(few, return_counts=True), strict=True):
                    self.short[rollup.name][int(group)] = self.short[rollup.name].get(int(group), 0) + int(n)

    def missing_in(self, rollup: Rollup, group: int) -> dict[str, int]:
        """Why a roll-up leaves out rows, or items, of a group."""
        short = self.short[rollup.name].get(group)
        return self.missing[group] | ({f"items with fewer than {rollup.trials} trials": short} if short else {})

    def lots(self, resampler: Resampler) -> Iterator[Lot]:
        """All groups, so many at a time that the tables stay small.

        A group with few clusters is never resampled, so its clusters can be numbered from 0: a table of 10,000 clusters
        for each of 3,000 groups with three clusters each would be almost all zeros.
        """
        n = len(self.keys)
        cells = _joined(self._cells, len(self._rollups))
        own = cells.numbered_within_groups(n)
        few = np.bincount(cells.groups, minlength=n) < (BOOTSTRAP_CLUSTERS if n > MANY_GROUPS else 0)
        rows, row_groups = _joined_rows(self._rows), np.concatenate([_NO_CODES, *self._row_groups])
        width = max(2, sum(totals.shape[1] for totals in cells.totals))
        for small in (False, True):
            members = np.flatnonzero(few == small)
            weights = Resampler(BOOTSTRAP_CLUSTERS, resampler.resamples) if small else resampler
            size = max(1, FLOATS // (max(weights.clusters, weights.resamples) * width))
            codes = own if small else cells.clusters
            if small and len(rows):
                rows = rows.rekeyed(CLUSTER, own[cells.find(rows.keys[CLUSTER], row_groups)])
            for start in range(0, len(members), size):
                place = np.full(n, -1, dtype=np.int64)
                chosen = members[start : start + size]
                place[chosen] = np.arange(len(chosen))
                which = np.flatnonzero(place[cells.groups] >= 0)
                index = codes[which], place[cells.groups[which]]
                shape = weights.clusters, len(chosen)
                compiled = [
                    cells.pooled(i, which, index, shape)
                    if rollup.within_clusters
                    else self._compiled(rollup, rows, row_groups, place, shape)
                    for i, rollup in enumerate(self._rollups)
                ]
                yield Lot(chosen, compiled, np.bincount(index[1], minlength=len(chosen)) > 0, weights)

    def _compiled(
        self, rollup: Rollup, rows: Rows, groups: IntArray, place: IntArray, shape: tuple[int, int]
    ) -> Pooled | Sample:
        """A roll-up that needs the rows themselves."""
        which = place[groups] >= 0
        chosen = rows.chosen(which)
        if not len(rows):  # nothing was scored, so nothing says which dimensions there are
            chosen = replace(chosen, keys={name: _NO_CODES for step in rollup.steps for name in (CLUSTER, *step.by)})
        return compile_rollup(rollup, chosen, place[groups[which]], shape[1], shape[0], self._value or _nothing)

    def _place(self, key: Key) -> int:
        found = self._places.setdefault(key, len(self.keys))
        if found == len(self.keys):
            self.keys.append(key)
            self.n_total.append(0)
            self.n_scored.append(0)
            self.missing.append({})
        return found


class _Cells(NamedTuple):
    """One vector for each cluster and group that meet, and roll-up, sorted by group and cluster."""

    groups: IntArray
    clusters: IntArray
    totals: list[FloatArray]
    """(cells, d) for each roll-up; (cells, 0) for one that needs the rows."""
    present: list[BoolArray]
    made: list[Pooled | None]
    """How each roll-up is valued."""

    def pooled(self, rollup: int, which: IntArray, index: tuple[IntArray, IntArray], shape: tuple[int, int]) -> Pooled:
        """The cells `which` at their places in a table of clusters and groups."""
        made = self.made[rollup] if self.made else None
        totals = np.zeros((*shape, self.totals[rollup].shape[1]))
        totals[index] = self.totals[rollup][which]
        present = np.zeros(shape, dtype=bool)
        present[index] = self.present[rollup][which]
        return Pooled(totals, present, made.value if made else _nothing, made.is_sum if made else False)

    def numbered_within_groups(self, n_groups: int) -> IntArray:
        """Each cell's number among those of its group."""
        first = np.searchsorted(self.groups, np.arange(n_groups))
        return np.arange(len(self.groups)) - first[self.groups]

    def find(self, clusters: IntArray, groups: IntArray) -> IntArray:
        """The cells of rows."""
        span = int(self.clusters.max(initial=0)) + 1
        return np.searchsorted(self.groups * span + self.clusters, groups * span + clusters)


_NO_CODES = np.zeros(0, dtype=np.int64)


def _nothing(statistics: FloatArray) -> FloatArray:
    """The value where no row was scored."""
    return np.full(statistics.shape[:-1], np.nan)


def _cells(rollups: Sequence[Rollup], rows: Rows, groups: IntArray, value: Value) -> _Cells:
    """Each cluster and group that meet, taken for a group of its own with one cluster."""
    cell, members = combinations([groups, rows.keys[CLUSTER]], len(rows))
    n = len(members)
    alone = rows.rekeyed(CLUSTER, np.zeros(len(rows), dtype=np.int64))
    totals: list[FloatArray] = []
    present: list[BoolArray] = []
    compiled: list[Pooled | None] = []
    for rollup in rollups:
        made = compile_rollup(rollup, alone, cell, n, 1, value) if rollup.within_clusters else None
        pooled = made if isinstance(made, Pooled) else None
        compiled.append(pooled)
        totals.append(np.zeros((n, 0)) if pooled is None else pooled.totals[0])
        present.append(np.zeros(n, dtype=bool) if pooled is None else pooled.present[0])
    return _Cells(members[:, 0], members[:, 1], totals, present, compiled)


def _joined(portions: list[_Cells], n_rollups: int) -> _Cells:
    """The cells of all portions; no cluster is in two of them."""
    if not portions:
        none = [np.zeros((0, 2)) for _ in range(n_rollups)]
        return _Cells(_NO_CODES, _NO_CODES, none, [np.zeros(0, dtype=bool) for _ in none], [])
    groups = np.concatenate([p.groups for p in portions])
    clusters = np.concatenate([p.clusters for p in portions])
    order = np.lexsort((clusters, groups))
    totals = [np.concatenate([p.totals[i] for p in portions])[order] for i in range(n_rollups)]
    present = [np.concatenate([p.present[i] for p in portions])[order] for i in range(n_rollups)]
    return _Cells(groups[order], clusters[order], totals, present, portions[0].made)


def _joined_rows(portions: list[Rows]) -> Rows:
    if len(portions) == 1:
        return portions[0]
    if not portions:
        return Rows(np.zeros(0), np.zeros((0, 0)), {CLUSTER: _NO_CODES})
    labels = None
    if any(p.labels is not None for p in portions):
        labels = [label for p in portions for label in (p.labels or [None] * len(p))]
    keys = {name: np.concatenate([p.keys[name] for p in portions]) for name in portions[0].keys}
    statistics = np.concatenate([p.statistics for p in portions])
    return Rows(np.concatenate([p.values for p in portions]), statistics, keys, labels)
