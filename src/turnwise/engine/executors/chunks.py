"""What is sent to a worker and what comes back: several batches at once, sized by what they cost.

Ordinarily a task is a chunk of whole batches. What kills its worker is taken apart: a batch is then measured metric by
metric, and a metric unit by unit, until it is known which unit it is. Nothing here knows how tasks travel.
"""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from turnwise.engine.measure import ITEM_COLUMN, Workload
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.garbage import rare_collections
from turnwise.kernel.score import Unit
from turnwise.kernel.threads import one_thread
from turnwise.store.run import BatchRows

TARGET_S = 0.7
"""What a task should take: long against the cost of sending it, short against the end of a run."""
GROWTH = 4
"""A chunk is at most so many times as long as the one before: the first batches may say little about the rest."""
MOST_BATCHES = 64
MOST_BYTES = 8 << 20
"""A chunk that has grown to this size is sent, whatever it costs to measure."""
WEIGHT = 0.4
"""What the newest measurement counts for in the running mean of a batch's cost."""

CHUNK, OUTLINE, METRIC, UNITS = "chunk", "outline", "metric", "units"


class Task(NamedTuple):
    """Something for a worker to do."""

    kind: str
    """CHUNK: batches through all metrics. OUTLINE: the items of one batch. METRIC: one metric on one batch. UNITS: one
    metric on some units of a batch, each alone."""
    batches: tuple[bytes, ...]
    """Pickled: they are taken apart and sent again without being looked at."""
    metric: int = 0
    """The place of the metric in the workload."""
    first: int = 0
    last: int = 0
    """The units from `first` up to but without `last`."""
    files: tuple[str, ...] = ()
    """What is read of the driver's files: a worker that does not see them has nothing to say about them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a task."""

    rows: list[BatchRows]
    seconds: float
    units: dict[str, list[int]] = field(default_factory=dict)
    """Of an outline: the item numbers of the units a batch can be split into, by kind."""


def perform(work: Any, task: Task) -> Measured:
    """Do what a task says; runs in a worker."""
    with one_thread(), rare_collections():
        return _performed(work, task)


def _performed(work: Any, task: Task) -> Measured:
    start = time.perf_counter()
    if task.kind == CHUNK:
        rows = [work(pickle.loads(one)) for one in task.batches]  # noqa: S301  (our own driver sent it)
        return Measured(rows, time.perf_counter() - start)
    batch = pickle.loads(task.batches[0])  # noqa: S301
    if task.kind == OUTLINE:
        outline = replace(work, metrics=(), variants={})(batch)
        return Measured([outline], time.perf_counter() - start, _units(work, batch, outline))
    number, metric = work.metrics[task.metric]
    alone = replace(work, metrics=[(number, metric)])
    if task.kind == METRIC:
        rows = [BatchRows(batch.index, [], alone(batch).scores)]  # the items are known from the outline
    else:
        numbers = _numbers(replace(work, metrics=(), variants={})(batch))
        parts = islice(batch.split(metric.spec.unit), task.first, task.last)
        rows = [_renumbered(alone(part), unit, numbers) for unit, part in parts]
    return Measured(rows, time.perf_counter() - start)


Numbers = dict[tuple[str, str], int]


def _numbers(rows: BatchRows) -> Numbers:
    """The number of each item, by kind and id."""
    return {(item[1], item[2]): item[0] for item in rows.items}


def _units(work: Workload, batch: Any, outline: BatchRows) -> dict[str, list[int]]:
    numbers = _numbers(outline)
    kinds = {metric.spec.unit for _, metric in work.metrics}
    return {kind: [numbers[unit.kind, unit.id] for unit, _ in batch.split(kind)] for kind in sorted(kinds)}


def _renumbered(part: BatchRows, unit: Unit, numbers: Numbers) -> BatchRows:
    """The scores of one unit, measured alone, under the item number it has in the whole batch."""
    key = unit.kind, unit.id
    own, whole = _numbers(part)[key], numbers[key]
    rows = [(*row[:ITEM_COLUMN], whole, *row[ITEM_COLUMN + 1 :]) for row in part.scores if row[ITEM_COLUMN] == own]
    return BatchRows(part.index, [], rows)


class Chunks:
    """Batches, taken from their source when they are wanted, in chunks of about `TARGET_S`; the last are shorter."""

    def __init__(self, batches: Iterable[Any], workers: int = 0) -> None:
        """`workers`: how many share what is left at the end; 0 where whoever carries the chunks sees to that."""
        self._batches: Iterator[Any] = iter(batches)
        self._workers = workers
        self._cost: float | None = None
        self._size = 1
        self._waiting: deque[tuple[bytes, tuple[str, ...]]] = deque()
        self._length = 0
        self.exhausted = False
        """Whether all batches have been taken; some may wait."""

    def next(self) -> Task | None:
        """The next chunk; None when there is no batch left."""
        self._look_ahead()
        size = self._size
        if self.exhausted and self._workers:
            size = min(size, -(-len(self._waiting) // self._workers))
        chosen: list[bytes] = []
        files: tuple[str, ...] = ()
        length = 0
        while self._waiting and len(chosen) < size and length < MOST_BYTES:
            batch, own = self._waiting.popleft()
            chosen.append(batch)
            files += own
            length += len(batch)
        self._length -= length
        return Task(CHUNK, tuple(chosen), files=tuple(dict.fromkeys(files))) if chosen else None

    def _look_ahead(self) -> None:
        """Have the batches of the next chunk there, and of one more per worker: so the end comes as no surprise."""
        wanted = self._size * (1 + self._workers)
        while not self.exhausted and len(self._waiting) < wanted and self._length < MOST_BYTES:
            try:
                batch = next(self._batches)
            except StopIteration:
                self.exhausted = True
                break
            self._waiting.append((pickled(batch, "a batch"), _files(batch)))
            self._length += len(self._waiting[-1][0])

    def learn(self, batches: int, seconds: float) -> None:
        """What a chunk cost says how long the next ones should be."""
        cost = max(seconds / batches, 1e-6)
        self._cost = cost if self._cost is None else WEIGHT * cost + (1 - WEIGHT) * self._cost
        wanted = round(TARGET_S / self._cost)
        self._size = max(1, min(wanted, GROWTH * batches, MOST_BATCHES))


def _files(batch: Any) -> tuple[str, ...]:
    """The files that measuring a batch reads, if it says so, as far as they are there."""
    return tuple(path for path in map(str, getattr(batch, "files", ())) if os.path.exists(path))  # noqa: PTH110


def pickled(what: Any, name: str) -> bytes:
    """Something as bytes for a worker."""
    try:
        return pickle.dumps(what, protocol=5)
    except Exception as error:  # pickling raises whatever an object's own methods raise
        raise TurnwiseError(
            f"{name} cannot be sent to a worker",
            found=f"{type(error).__name__}: {error}",
            expected="classes and functions of an importable module",
            remedy="move them to a module of their own, or use --engine inline",
        ) from error
