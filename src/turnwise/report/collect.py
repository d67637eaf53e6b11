"""One grouping of one output, collected portion by portion: what each cluster adds to each group.

A portion holds whole clusters, so what is kept of it is one vector per cluster and group that meet in it (a cell), not
its rows; only roll-ups that reach across clusters before their last step, and percentiles, keep the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import (
    CLUSTER,
    ITEM,
    BoolArray,
    IntArray,
    Pooled,
    Rollup,
    Rows,
    Sample,
    Value,
    combinations,
    compile_rollup,
)
from turnwise.report.cells import NO_CODES, Cells, cells_of, joined_cells, nothing
from turnwise.report.intervals import rollup_intervals
from turnwise.report.many import Estimate, ManyCells, can_stream
from turnwise.report.series import Grouped
from turnwise.stats.intervals import BOOTSTRAP_CLUSTERS, MANY_CLUSTERS, Resampler

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

    def __init__(self, output: Output, n_clusters: int) -> None:
        self.keys: list[Key] = []
        self.n_total: list[int] = []
        self.n_scored: list[int] = []
        self.missing: list[dict[str, int]] = []
        self.short: dict[str, dict[int, int]] = {rollup.name: {} for rollup in output.rollups}
        """Per roll-up over repeats and group: the items with too few trials."""
        self._places: dict[Key, int] = {}
        self._output = output
        self._rollups = output.rollups
        self._many = ManyCells(output) if n_clusters > MANY_CLUSTERS and can_stream(output.rollups) else None
        self._keeps_rows = not all(rollup.within_clusters for rollup in output.rollups)
        self._cells: list[Cells] = []
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
        if self._many is not None:
            self._many.add(grouped.rows, groups, value)
            return
        self._value = value
        self._cells.append(cells_of(self._rollups, grouped.rows, groups, value))
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

    def estimates(self, resampler: Resampler) -> list[dict[int, Estimate]]:
        """For each roll-up, the value and interval of each group."""
        if self._many is not None:
            return self._many.estimates(len(self.keys), resampler.clusters, resampler.resamples)
        found: list[dict[int, Estimate]] = [{} for _ in self._rollups]
        for lot in self.lots(resampler):
            intervals = rollup_intervals(lot.compiled, self._output, lot.resampler)
            for i, made in enumerate(lot.compiled):
                points = np.where(lot.filled, made.point(), np.nan)  # a sum over nothing is missing, not 0
                for member, point, interval in zip(lot.members.tolist(), points.tolist(), intervals[i], strict=True):
                    found[i][member] = (point if np.isfinite(point) else None), interval
        return found

    def lots(self, resampler: Resampler) -> Iterator[Lot]:
        """All groups, so many at a time that the tables stay small.

        A group with few clusters is never resampled, so its clusters can be numbered from 0: a table of 10,000 clusters
        for each of 3,000 groups with three clusters each would be almost all zeros.
        """
        n = len(self.keys)
        cells = joined_cells(self._cells, len(self._rollups))
        own = cells.numbered_within_groups(n)
        few = np.bincount(cells.groups, minlength=n) < (BOOTSTRAP_CLUSTERS if n > MANY_GROUPS else 0)
        rows, row_groups = _joined_rows(self._rows), np.concatenate([NO_CODES, *self._row_groups])
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
            chosen = replace(chosen, keys={name: NO_CODES for step in rollup.steps for name in (CLUSTER, *step.by)})
        return compile_rollup(rollup, chosen, place[groups[which]], shape[1], shape[0], self._value or nothing)

    def _place(self, key: Key) -> int:
        found = self._places.setdefault(key, len(self.keys))
        if found == len(self.keys):
            self.keys.append(key)
            self.n_total.append(0)
            self.n_scored.append(0)
            self.missing.append({})
        return found


def _joined_rows(portions: list[Rows]) -> Rows:
    if len(portions) == 1:
        return portions[0]
    if not portions:
        return Rows(np.zeros(0), np.zeros((0, 0)), {CLUSTER: NO_CODES})
    labels = None
    if any(p.labels is not None for p in portions):
        labels = [label for p in portions for label in (p.labels or [None] * len(p))]
    keys = {name: np.concatenate([p.keys[name] for p in portions]) for name in portions[0].keys}
    statistics = np.concatenate([p.statistics for p in portions])
    return Rows(np.concatenate([p.values for p in portions]), statistics, keys, labels)
