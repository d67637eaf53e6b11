"""What each cluster adds to each group, one vector for every two that meet: a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from turnwise.kernel.rollup import (
    CLUSTER,
    BoolArray,
    FloatArray,
    IntArray,
    Pooled,
    Rollup,
    Rows,
    Value,
    combinations,
    compile_rollup,
)


class Cells(NamedTuple):
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
        return Pooled(totals, present, made.value if made else nothing, made.is_sum if made else False)

    def numbered_within_groups(self, n_groups: int) -> IntArray:
        """Each cell's number among those of its group."""
        first = np.searchsorted(self.groups, np.arange(n_groups))
        return np.arange(len(self.groups)) - first[self.groups]

    def find(self, clusters: IntArray, groups: IntArray) -> IntArray:
        """The cells of rows."""
        span = int(self.clusters.max(initial=0)) + 1
        return np.searchsorted(self.groups * span + self.clusters, groups * span + clusters)


NO_CODES = np.zeros(0, dtype=np.int64)


def nothing(statistics: FloatArray) -> FloatArray:
    """The value where no row was scored."""
    return np.full(statistics.shape[:-1], np.nan)


def cells_of(rollups: Sequence[Rollup], rows: Rows, groups: IntArray, value: Value) -> Cells:
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
    return Cells(members[:, 0], members[:, 1], totals, present, compiled)


def joined_cells(portions: list[Cells], n_rollups: int) -> Cells:
    """The cells of all portions; no cluster is in two of them."""
    if not portions:
        none = [np.zeros((0, 2)) for _ in range(n_rollups)]
        return Cells(NO_CODES, NO_CODES, none, [np.zeros(0, dtype=bool) for _ in none], [])
    groups = np.concatenate([p.groups for p in portions])
    clusters = np.concatenate([p.clusters for p in portions])
    order = np.lexsort((clusters, groups))
    totals = [np.concatenate([p.totals[i] for p in portions])[order] for i in range(n_rollups)]
    present = [np.concatenate([p.present[i] for p in portions])[order] for i in range(n_rollups)]
    return Cells(groups[order], clusters[order], totals, present, portions[0].made)
