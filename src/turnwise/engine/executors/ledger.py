"""Who has to measure what: every batch once, whatever happens to the workers.

An executor asks for the next task, says what came back and which task's worker died. A chunk that kills its worker
again and again is taken apart with nothing else under way, so that nobody else is blamed; the units that do it become
errors, and the rest is measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnwise.engine.executors.chunks import CHUNK, METRIC, OUTLINE, UNITS, Chunks, Measured, Task
from turnwise.engine.measure import Workload
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.score import failed
from turnwise.store.rows import measurement_row
from turnwise.store.run import BatchRows

STRIKES = 3
"""So many dead workers are bad luck; then it is the task."""
PIECES = 32
"""Into how many parts the units of a suspicious batch are taken apart at once."""
DEAD_IN_A_ROW = 50
"""After so many dead workers with nothing done in between, nothing will be done."""
LOST_IN_A_ROW = 100
"""After so many units that kill their workers, with nothing measured in between, it is not the units."""
QUARANTINED = f"measuring it killed the worker, {STRIKES} times"


class Counted:
    """An executor that tells how far its ledger has come."""

    _ledger: Ledger | None = None

    @property
    def in_flight(self) -> int:
        """Chunks under way."""
        return self._ledger.in_flight if self._ledger else 0

    @property
    def chunks_done(self) -> int:
        """Chunks that came back."""
        return self._ledger.chunks_done if self._ledger else 0


@dataclass(eq=False)
class Suspect:
    """A batch that is being taken apart."""

    batch: bytes
    files: tuple[str, ...]
    index: int = -1
    items: list[tuple[Any, ...]] = field(default_factory=list)
    units: dict[str, list[int]] = field(default_factory=dict)
    scores: list[tuple[Any, ...]] = field(default_factory=list)
    open: int = 0
    """Tasks that are not done yet."""


@dataclass(eq=False)
class Entry:
    """A task in the books."""

    task: Task
    lives: int = STRIKES
    """How many workers may still die over it."""
    suspect: Suspect | None = None


class Ledger:
    """Tasks that wait, tasks under way, and what is done with what comes back."""

    def __init__(self, work: Any, batches: Iterable[Any], workers: int = 0) -> None:
        """`workers`: how many share what is left at the end, where the executor does not see to that."""
        self._work = work
        self._chunks = Chunks(batches, workers)
        self._again: deque[Entry] = deque()
        self._trials: deque[Entry] = deque()
        self._under_way: set[Entry] = set()
        self._hopeless: list[Suspect] = []
        self._dead = self._lost = 0
        self.chunks_done = 0

    @property
    def in_flight(self) -> int:
        """Tasks that were sent and have not come back."""
        return len(self._under_way)

    @property
    def ending(self) -> bool:
        """Whether the last chunks are being dealt out: one that waits for a busy worker may be all that is left."""
        return self._chunks.exhausted

    def next(self) -> Entry | None:
        """The next task to send; None if there is none, or none until something comes back."""
        entry = self._choose()
        if entry is not None:
            self._under_way.add(entry)
        return entry

    def _choose(self) -> Entry | None:
        if any(entry.suspect for entry in self._under_way):  # one at a time, and alone: who dies then, dies of it
            return None
        if self._again:
            return self._again.popleft()
        if self._trials:
            return None if self._under_way else self._trials.popleft()
        task = self._chunks.next()
        return None if task is None else Entry(task)

    def done(self, entry: Entry, measured: Measured) -> list[BatchRows]:
        """What came back; gives the rows of batches that are complete with it."""
        self._under_way.remove(entry)
        self._dead = 0
        self._lost = self._lost if entry.task.kind == OUTLINE else 0
        self.chunks_done += 1
        if entry.task.kind == CHUNK:
            self._chunks.learn(len(entry.task.batches), measured.seconds)
            return measured.rows
        assert entry.suspect is not None
        if entry.task.kind == OUTLINE:
            return self._by_metric(entry.suspect, measured)
        return self._closed(entry.suspect, [row for rows in measured.rows for row in rows.scores])

    def returned(self, entry: Entry) -> None:
        """A task that nobody worked on: its worker is gone through no fault of its own."""
        self._under_way.remove(entry)
        self._put(entry)

    def died(self, entry: Entry, deaths: int = 1) -> list[BatchRows]:
        """Workers died over a task, one after the other; gives the rows of a batch that is complete all the same."""
        self._under_way.remove(entry)
        self._dead += 1
        if self._dead >= DEAD_IN_A_ROW:
            raise TurnwiseError(
                "the workers die one after the other",
                found=f"{self._dead} in a row, with nothing measured in between",
                remedy="look for the reason in the system's log (often memory), or use fewer workers",
            )
        entry.lives -= deaths
        if entry.lives > 0:
            self._put(entry)
            return []
        return self._taken_apart(entry)

    def check_complete(self) -> None:
        """At the end: a batch whose items nobody could even list is an error of the run."""
        if self._hopeless:
            raise TurnwiseError(
                f"{len(self._hopeless)} batches of records killed every worker that read them",
                found=f"workers died even while the records were listed, {STRIKES} times each",
                expected="records that can be read; everything else is measured and kept",
                remedy="look for a damaged file among the records that are missing from the run",
            )

    def _put(self, entry: Entry) -> None:
        if entry.suspect is None:
            self._again.append(entry)
        else:
            self._trials.appendleft(entry)

    def _taken_apart(self, entry: Entry) -> list[BatchRows]:
        task, suspect = entry.task, entry.suspect
        if task.kind == OUTLINE:
            assert suspect is not None
            self._hopeless.append(suspect)
            return []
        if task.kind == CHUNK:
            return self._batch_by_batch(entry)
        assert suspect is not None
        if task.kind == METRIC:
            first, last = 0, len(suspect.units[self._unit(task.metric)])
        else:
            first, last = task.first, task.last
        if last - first <= 1 and task.kind == UNITS:
            self._give_up(task)
            return self._closed(suspect, self._errors(task, suspect))
        pieces = _pieces(first, last)
        if not pieces:
            return self._closed(suspect, [])
        suspect.open += len(pieces) - 1
        for start, stop in reversed(pieces):
            # One unit gets every chance; before that, a death is reason enough to look closer.
            lives = STRIKES if stop - start == 1 else 1
            self._trials.appendleft(Entry(task._replace(kind=UNITS, first=start, last=stop), lives, suspect))
        return []

    def _batch_by_batch(self, entry: Entry) -> list[BatchRows]:
        batches, files = entry.task.batches, entry.task.files
        if len(batches) > 1:
            alone = (Entry(Task(CHUNK, (one,), files=files), 1, Suspect(one, files)) for one in batches)
            self._trials.extend(alone)
        elif isinstance(self._work, Workload):
            suspect = entry.suspect or Suspect(batches[0], files)
            self._trials.appendleft(Entry(Task(OUTLINE, batches, files=files), STRIKES, suspect))
        else:
            self._hopeless.append(Suspect(batches[0], files))
        return []

    def _by_metric(self, suspect: Suspect, measured: Measured) -> list[BatchRows]:
        (outline,) = measured.rows
        suspect.index, suspect.items, suspect.units = outline.index, list(outline.items), measured.units
        tasks = [Task(METRIC, (suspect.batch,), place, files=suspect.files) for place in range(len(self._work.metrics))]
        suspect.open = len(tasks)
        self._trials.extendleft(Entry(task, 1, suspect) for task in reversed(tasks))
        return [] if tasks else [BatchRows(suspect.index, suspect.items, [])]

    def _closed(self, suspect: Suspect, scores: list[tuple[Any, ...]]) -> list[BatchRows]:
        """One task less; the rows of the batch when it was the last."""
        suspect.scores += scores
        suspect.open -= 1
        return [] if suspect.open else [BatchRows(suspect.index, suspect.items, suspect.scores)]

    def _unit(self, metric: int) -> str:
        return str(self._work.metrics[metric][1].spec.unit)

    def _give_up(self, task: Task) -> None:
        """A unit becomes an error: that is something done. Where all units do, it is the metric, or the machine."""
        self._dead = 0
        self._lost += 1
        if self._lost >= LOST_IN_A_ROW:
            name = self._work.metrics[task.metric][1].spec.name
            raise TurnwiseError(
                f"{name} kills every worker that measures with it",
                found=f"{self._lost} records in a row, {STRIKES} workers each, and nothing measured in between",
                remedy="look for the reason in the system's log (often memory), or leave the metric out (--metrics)",
            )

    def _errors(self, task: Task, suspect: Suspect) -> list[tuple[Any, ...]]:
        """A unit that killed its workers is an error of each output of the metric that was asked about it."""
        number, metric = self._work.metrics[task.metric]
        item = suspect.units[metric.spec.unit][task.first]
        return [measurement_row(number, out.name, item, None, failed(QUARANTINED)) for out in metric.spec.outputs]


def handed_out(rows: list[BatchRows]) -> Iterator[BatchRows]:
    """The rows of one batch after the other; those that were written are not held for the sake of the rest."""
    rows.reverse()
    while rows:
        yield rows.pop()


def _pieces(first: int, last: int) -> list[tuple[int, int]]:
    """A range in at most `PIECES` parts."""
    size = max(1, -(-(last - first) // PIECES))
    return [(start, min(start + size, last)) for start in range(first, last, size)]
