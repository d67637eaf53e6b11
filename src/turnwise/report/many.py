"""Cells of runs with so many clusters that no table of them is made: they go to disk, and are read block by block.

A group with more clusters than the bootstrap is used for gets its interval from leaving out one at a time; a smaller
one is resampled over its own clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnwise.kernel.metric import Output
from turnwise.kernel.rollup import CLUSTER, FloatArray, IntArray, Pooled, Reduction, Rollup, Rows, Sample, Value
from turnwise.report.cells import cells_of
from turnwise.report.intervals import bounds_of, pooled_rollup_intervals
from turnwise.stats.blocked import blocked_spread
from turnwise.stats.intervals import BOOTSTRAP_CLUSTERS, MANY_CLUSTERS, Interval, Resampler, spread_intervals
from turnwise.stats.woodruff import percentile_intervals
from turnwise.store.scratch import scratch_file

BLOCK = 1 << 16
"""Cells, or rows, that are read at once."""
GATHERED = 1 << 20
"""Cells, or rows, of smaller groups that are in memory together."""
IN_MEMORY = 1 << 22
"""Bytes of cells that are worth keeping off the disk."""
SMALL_GROUPS = 1_000
"""Groups of few clusters that are valued together."""

Estimate = tuple[float | None, Interval]
_NONE: Estimate = None, Interval(None, None, "none: no cluster")


def can_stream(rollups: Sequence[Rollup]) -> bool:
    """Whether every roll-up adds up cells, or is a percentile of the rows themselves."""
    return all(rollup.within_clusters or _plain_percentile(rollup) for rollup in rollups)


def _plain_percentile(rollup: Rollup) -> bool:
    return len(rollup.steps) == 1 and rollup.steps[0].reduction is Reduction.PERCENTILE


class Spool:
    """Arrays of equal length, appended in blocks and read again in their order; on disk once there are many."""

    def __init__(self) -> None:
        self._file = scratch_file(self, IN_MEMORY)
        self._blocks: list[list[tuple[npt.DTypeLike, tuple[int, ...]]]] = []
        self._waiting: list[tuple[npt.NDArray[Any], ...]] = []
        self._n_waiting = 0

    def add(self, *columns: npt.NDArray[Any]) -> None:
        """Some more rows."""
        if len(columns[0]):
            self._waiting.append(columns)
            self._n_waiting += len(columns[0])
        if self._n_waiting >= BLOCK:
            self._write()

    def blocks(self) -> Iterator[list[npt.NDArray[Any]]]:
        """All rows, block by block."""
        self._write()
        self._file.seek(0)
        for layout in self._blocks:
            yield [
                np.frombuffer(self._file.read(np.dtype(kind).itemsize * int(np.prod(shape))), kind).reshape(shape)
                for kind, shape in layout
            ]

    def _write(self) -> None:
        if not self._waiting:
            return
        joined = [np.concatenate(columns) for columns in zip(*self._waiting, strict=True)]
        self._waiting, self._n_waiting = [], 0
        self._file.seek(0, 2)
        for column in joined:
            self._file.write(column.tobytes())
        self._blocks.append([(column.dtype, column.shape) for column in joined])


class _Made(NamedTuple):
    """How the cells of a roll-up are valued."""

    value: Value
    is_sum: bool


class ManyCells:
    """What the clusters of a large run add to the groups of one grouping."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._additive = [rollup for rollup in output.rollups if rollup.within_clusters]
        self._cells = [Spool() for _ in self._additive]
        self._made: list[_Made | None] = [None] * len(self._additive)
        self._rows = Spool()

    def add(self, rows: Rows, groups: IntArray, value: Value) -> None:
        """One portion: the next clusters of the data."""
        cells = cells_of(self._additive, rows, groups, value)
        for i, made in enumerate(cells.made):
            if made is not None:
                there = cells.present[i]
                self._cells[i].add(cells.groups[there].astype(np.int32), cells.totals[i][there])
                self._made[i] = self._made[i] or _Made(made.value, made.is_sum)
        if len(self._additive) < len(self._output.rollups):
            self._rows.add(groups.astype(np.int32), rows.keys[CLUSTER].astype(np.int32), rows.values)

    def estimates(self, n_groups: int, n_clusters: int, resamples: int) -> list[dict[int, Estimate]]:
        """For each roll-up, the value and interval of each group."""
        found = []
        percentiles = self._percentiles(n_groups, n_clusters)
        for rollup in self._output.rollups:
            if rollup.within_clusters:
                found.append(self._pooled(self._additive.index(rollup), n_groups, resamples))
            else:
                found.append(next(percentiles))
        return found

    def _pooled(self, rollup: int, n_groups: int, resamples: int) -> dict[int, Estimate]:
        spool, made = self._cells[rollup], self._made[rollup]
        found = dict.fromkeys(range(n_groups), _NONE)
        if made is None:
            return found
        clusters = _counts(spool, n_groups)
        large = np.flatnonzero(clusters > MANY_CLUSTERS)
        if len(large):
            found.update(self._large(spool, made, large, n_groups))
        few = np.flatnonzero((clusters > 0) & (clusters < BOOTSTRAP_CLUSTERS))
        for groups, (at, totals) in _gathered(spool, few, clusters, SMALL_GROUPS):
            first = np.searchsorted(at, np.arange(len(groups)))
            index = np.arange(len(at)) - first[at], at
            table = np.zeros((BOOTSTRAP_CLUSTERS, len(groups), totals.shape[1]))
            present = np.zeros(table.shape[:2], dtype=bool)
            table[index], present[index] = totals, True
            found.update(self._valued(made, groups, table, present, resamples))
        some = np.flatnonzero((clusters >= BOOTSTRAP_CLUSTERS) & (clusters <= MANY_CLUSTERS))
        for groups, (at, totals) in _gathered(spool, some, clusters, n_groups):
            for place, group in enumerate(groups.tolist()):
                own = totals[np.searchsorted(at, place) : np.searchsorted(at, place + 1)][:, None]
                present = np.ones(own.shape[:2], dtype=bool)
                found.update(self._valued(made, np.array([group]), own, present, resamples))
        return found

    def _large(self, spool: Spool, made: _Made, groups: IntArray, n_groups: int) -> Iterator[tuple[int, Estimate]]:
        """Groups of too many clusters for a table."""
        place = np.full(n_groups, -1, dtype=np.int64)
        place[groups] = np.arange(len(groups))

        def blocks() -> Iterator[tuple[IntArray, FloatArray]]:
            for at, totals in spool.blocks():
                kept = place[at] >= 0
                if kept.any():
                    yield place[at[kept]], totals[kept]

        bounds = bounds_of(self._output, is_sum=made.is_sum)
        spread = blocked_spread(blocks, len(groups), made.value, bounds)
        intervals = spread_intervals(spread, bounds)
        for group, point, interval in zip(groups.tolist(), spread.estimate.tolist(), intervals, strict=True):
            yield group, (point if np.isfinite(point) else None, interval)

    def _valued(
        self, made: _Made, groups: IntArray, totals: FloatArray, present: npt.NDArray[np.bool_], resamples: int
    ) -> Iterator[tuple[int, Estimate]]:
        pooled = Pooled(totals, present, made.value, made.is_sum)
        intervals = pooled_rollup_intervals(pooled, self._output, Resampler(len(totals), resamples))
        for group, point, interval in zip(groups.tolist(), pooled.point().tolist(), intervals, strict=True):
            yield group, (point if np.isfinite(point) else None, interval)

    def _percentiles(self, n_groups: int, n_clusters: int) -> Iterator[dict[int, Estimate]]:
        """For each percentile among the roll-ups, the value and interval of each group."""
        wanted = [rollup for rollup in self._output.rollups if not rollup.within_clusters]
        found: list[dict[int, Estimate]] = [dict.fromkeys(range(n_groups), _NONE) for _ in wanted]
        sizes = _counts(self._rows, n_groups) if wanted else np.zeros(0, dtype=np.int64)
        weights, bounds = Resampler(n_clusters), bounds_of(self._output, is_sum=False)
        for groups, (at, clusters, values) in _gathered(self._rows, np.flatnonzero(sizes), sizes, n_groups):
            for place, group in enumerate(groups.tolist()):
                own = slice(np.searchsorted(at, place), np.searchsorted(at, place + 1))
                for i, rollup in enumerate(wanted):
                    step = rollup.steps[0]
                    sample = Sample(values[own], clusters[own], _zeros(own), 1, step.quantile, step.digits)
                    (interval,) = percentile_intervals(
                        sample.values, sample.clusters, [step.quantile], weights, bounds=bounds
                    )
                    found[i][group] = float(sample.point()[0]), interval
        yield from found


def _zeros(own: slice) -> IntArray:
    """One group for all: a view of a single zero."""
    return np.broadcast_to(np.zeros(1, dtype=np.int64), (own.stop - own.start,))


def _counts(spool: Spool, n_groups: int) -> IntArray:
    """How many rows each group has."""
    found = np.zeros(n_groups, dtype=np.int64)
    for groups, *_ in spool.blocks():
        found += np.bincount(groups, minlength=n_groups)
    return found


def _gathered(
    spool: Spool, groups: IntArray, sizes: IntArray, most: int
) -> Iterator[tuple[IntArray, list[npt.NDArray[Any]]]]:
    """Some groups at a time, with their rows sorted by their place among them; a large group comes alone."""
    start = 0
    while start < len(groups):
        within = int(np.searchsorted(np.cumsum(sizes[groups[start:]]), GATHERED, side="right"))
        chosen = groups[start : start + max(1, min(within, most))]
        start += len(chosen)
        place = np.full(len(sizes), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        yield chosen, _sorted(spool, place, int(sizes[chosen].sum()))


def _sorted(spool: Spool, place: IntArray, n: int) -> list[npt.NDArray[Any]]:
    """The rows of the groups that have a place, in that order; those of a group stay in theirs."""
    found: list[npt.NDArray[Any]] = []
    filled = 0
    for at, *columns in spool.blocks():
        kept = np.flatnonzero(place[at] >= 0)
        if not found:
            found = [np.empty((n, *column.shape[1:]), column.dtype) for column in columns]
            found.insert(0, np.empty(n, dtype=np.int32))
        for column, own in zip(found, (place[at], *columns), strict=True):
            column[filled : filled + len(kept)] = own[kept]
        filled += len(kept)
    if (np.diff(found[0]) < 0).any():
        order = np.argsort(found[0], kind="stable")
        found = [column[order] for column in found]
    return found
