"""Chunks sized by their cost, and the books about them, with deaths that are made up: no process dies here."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faulty import Deadly, Halved, Numbers, Slow, batches, workload

from turnwise.engine.executors import chunks, ledger
from turnwise.engine.executors.chunks import CHUNK, Chunks, Measured, Task, perform
from turnwise.engine.executors.ledger import QUARANTINED, Entry, Ledger
from turnwise.engine.measure import Workload
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.rows import SCORE_COLUMNS
from turnwise.store.run import BatchRows

# Sizes


def sizes(made: Chunks) -> int:
    task = made.next()
    return 0 if task is None else len(task.batches)


def test_chunks_grow_towards_their_target_and_shrink_again() -> None:
    made = Chunks(batches(200))
    assert sizes(made) == 1  # nobody knows yet what a batch costs
    made.learn(1, 0.01)
    assert sizes(made) == 4  # 0.7 s / 0.01 s = 70 batches, but at most four times the last chunk
    made.learn(4, 0.04)
    assert sizes(made) == 16
    made.learn(16, 0.16)
    assert sizes(made) == 64  # 70 again, and never more than 64
    made.learn(1, 1.01)
    # The running mean: 0.4 * 1.01 + 0.6 * 0.01 = 0.41 s per batch; 0.7 / 0.41 = 1.7, so two.
    assert sizes(made) == 2
    made.learn(2, 8.0)
    # 0.4 * 4 + 0.6 * 0.41 = 1.846 s per batch: one at a time.
    assert sizes(made) == 1


def test_a_chunk_of_long_records_is_sent_before_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    long = batches(8, size=1000)
    length = len(pickle.dumps(long[0], protocol=5))
    monkeypatch.setattr(chunks, "MOST_BYTES", 2 * length + 10)
    made = Chunks(long)
    made.learn(100, 0.01)  # so cheap that all would go at once
    assert [sizes(made) for _ in range(4)] == [3, 3, 2, 0]


def test_batches_are_taken_only_when_they_are_wanted() -> None:
    taken = []

    def source() -> Iterator[Numbers]:
        for batch in batches(50):
            taken.append(batch.index)
            yield batch

    made = Chunks(source())
    assert taken == []
    made.next()
    assert taken == [0]
    made.learn(1, 0.07)  # 0.7 / 0.07 = 10, at most 4
    made.next()
    assert taken == [0, 1, 2, 3, 4]


def test_what_is_left_at_the_end_is_shared_out() -> None:
    made = Chunks(batches(12), workers=2)
    assert sizes(made) == 1
    made.learn(4, 0.001)  # so cheap that 16 would go at once
    assert not made.exhausted
    # Eleven are left: for two workers six, of the five that are left then three, and so on.
    assert [sizes(made) for _ in range(6)] == [6, 3, 1, 1, 0, 0]
    assert made.exhausted


def test_what_cannot_be_sent_is_said() -> None:
    made = Chunks([lambda: None])
    with pytest.raises(TurnwiseError, match="a batch cannot be sent to a worker") as error:
        made.next()
    assert error.value.remedy is not None
    assert "--engine inline" in error.value.remedy


# The books

Dies = Callable[[Task], bool]


def numbers_of(task: Task) -> list[float]:
    """The numbers that a task makes a metric look at."""
    found = [n for one in task.batches for n in pickle.loads(one).numbers]
    return found[task.first : task.last] if task.kind == chunks.UNITS else found


def poisoned(task: Task) -> bool:
    """Dies as `Deadly`, the second metric, would."""
    deadly = task.kind == CHUNK or (task.kind != chunks.OUTLINE and task.metric == 1)
    return deadly and any(number >= 1000 for number in numbers_of(task))


def carry_out(books: Ledger, work: Workload, dies: Dies, hands: int = 4, seed: int = 1) -> tuple[list[BatchRows], int]:
    """Do the tasks in a random order, as several workers would; the rows, and how many deaths there were."""
    rng = random.Random(seed)
    rows, under_way, deaths = [], list[Entry](), 0
    while True:
        while len(under_way) < hands and (entry := books.next()):
            under_way.append(entry)
        assert books.in_flight == len(under_way)
        if not under_way:
            return rows, deaths
        entry = under_way.pop(rng.randrange(len(under_way)))
        if dies(entry.task):
            deaths += 1
            rows += books.died(entry)
        else:
            # As if each batch took 0.1 s, whatever this machine is doing: chunks of 7.
            measured = replace(perform(work, entry.task), seconds=0.1 * len(entry.task.batches))
            rows += books.done(entry, measured)


def in_order(rows: list[BatchRows]) -> list[tuple[int, list[Any], list[Any]]]:
    """Batches, items and scores in the order of their keys."""
    key = lambda row: tuple(str(field) for field in row[:5])  # noqa: E731
    return [(b.index, list(b.items), sorted(b.scores, key=key)) for b in sorted(rows, key=lambda b: b.index)]


def column(row: Any, name: str) -> Any:
    return row[SCORE_COLUMNS.index(name)]


def expected_rows(work: Workload, poison: set[int], harmless: list[Numbers]) -> list[tuple[int, list[Any], list[Any]]]:
    """What a run without deaths gives, with errors for the items that are poison, under both outputs of metric 1."""
    changed = []
    for rows in (work(batch) for batch in harmless):
        scores = []
        for row in rows.scores:
            if column(row, "metric") == 1 and column(row, "item") in poison:
                values = dict(zip(SCORE_COLUMNS, row, strict=True))
                values |= {"value": None, "statistics": None, "status": "error", "reason": QUARANTINED}
                row = tuple(values.values())
            scores.append(row)
        changed.append(BatchRows(rows.index, rows.items, scores))
    return in_order(changed)


def test_without_deaths_every_batch_is_measured_once(tmp_path: Path) -> None:
    work = workload(tmp_path, Halved)
    books = Ledger(work, batches(100))
    rows, deaths = carry_out(books, work, lambda _: False)
    assert in_order(rows) == in_order([work(batch) for batch in batches(100)])
    assert deaths == 0
    assert books.chunks_done < 40  # 100 batches in far fewer tasks
    books.check_complete()


@pytest.mark.parametrize("seed", range(5))
def test_deaths_by_chance_cost_nothing_but_time(tmp_path: Path, seed: int) -> None:
    work, chance = workload(tmp_path, Halved, Slow, seconds=0.0), random.Random(seed)
    rows, deaths = carry_out(Ledger(work, batches(150)), work, lambda _: chance.random() < 0.2, seed=seed)
    assert deaths > 0
    assert in_order(rows) == in_order([work(batch) for batch in batches(150)])


@pytest.mark.parametrize(
    ("count", "size", "special"),
    [(1, 1, {"b0_0": 1e6}), (5, 4, {"b2_1": 1e6}), (9, 40, {"b0_0": 1e6, "b4_39": 1e7, "b4_3": 2e6, "b8_20": 3e6})],
    ids=["alone", "one of twenty", "four of 360"],
)
def test_only_the_poison_is_quarantined(tmp_path: Path, count: int, size: int, special: dict[str, float]) -> None:
    work = workload(tmp_path, Halved, Deadly)
    books = Ledger(work, batches(count, size, **special))
    rows, deaths = carry_out(books, work, poisoned)
    places = [name[1:].split("_") for name in special]
    poison = {int(batch) << 20 | int(place) for batch, place in places}
    expected = expected_rows(workload(tmp_path, Halved, Halved), poison, batches(count, size, **special))
    found = in_order(rows)
    # `Deadly` has other outputs than `Halved`: compare the first metric's rows whole, the second's by what they say.
    first = [(i, items, [row for row in scores if column(row, "metric") == 0]) for i, items, scores in found]
    assert first == [(i, items, [row for row in scores if column(row, "metric") == 0]) for i, items, scores in expected]
    second = [row for _, _, scores in found for row in scores if column(row, "metric") == 1]
    said = {(column(row, "item"), column(row, "output")): column(row, "reason") for row in second}
    assert len(second) == len(said) == 2 * count * size
    wanted = {(item, output) for item in poison for output in ("value", "other")}
    assert {key for key, reason in said.items() if reason == QUARANTINED} == wanted
    assert {key for key, reason in said.items() if reason is not None} == wanted
    values = {column(row, "item"): column(row, "value") for row in second if column(row, "output") == "other"}
    assert all((value is None) == (item in poison) for item, value in values.items())
    assert all(
        value == -((item >> 20) * size + (item & 0xFFFFF)) for item, value in values.items() if value is not None
    )
    assert deaths <= 14 * len(special)
    books.check_complete()


def test_a_batch_that_cannot_even_be_listed_is_told_at_the_end(tmp_path: Path) -> None:
    work = workload(tmp_path, Halved)
    books = Ledger(work, batches(6, b3_0=1e6))
    rows, _ = carry_out(books, work, lambda task: any(number >= 1000 for number in numbers_of(task)))
    assert [batch[0] for batch in in_order(rows)] == [0, 1, 2, 4, 5]
    with pytest.raises(TurnwiseError, match="1 batches of records killed every worker"):
        books.check_complete()


def test_when_everybody_dies_it_ends(tmp_path: Path) -> None:
    work = workload(tmp_path, Halved)
    with pytest.raises(TurnwiseError, match="the workers die one after the other") as error:
        carry_out(Ledger(work, batches(100)), work, lambda _: True)
    assert error.value.found is not None
    assert error.value.found.startswith(f"{ledger.DEAD_IN_A_ROW} in a row")


def test_many_neighbours_that_kill_their_workers_cost_only_themselves(tmp_path: Path) -> None:
    """A stretch of damaged files: more dead workers in a row than are ever bad luck."""
    work = workload(tmp_path, Halved)
    books = Ledger(work, batches(8, size=30))
    bad = range(75, 135)  # the second half of batch 2, the whole of batch 3, half of batch 4

    def dies(task: Task) -> bool:
        return task.kind != chunks.OUTLINE and any(number in bad for number in numbers_of(task))

    rows, deaths = carry_out(books, work, dies)
    books.check_complete()
    assert deaths > 3 * len(bad) > ledger.DEAD_IN_A_ROW
    scores = [row for batch in rows for row in batch.scores]
    assert len(scores) == 2 * 8 * 30  # two outputs
    lost = [row for row in scores if column(row, "reason") == QUARANTINED]
    assert {(column(row, "item") >> 20) * 30 + (column(row, "item") & 0xFFFFF) for row in lost} == set(bad)
    assert len(lost) == 2 * len(bad)


def test_a_metric_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    work = workload(tmp_path, Halved)
    with pytest.raises(TurnwiseError, match="halved kills every worker that measures with it") as error:
        carry_out(Ledger(work, batches(20, size=30)), work, lambda task: task.kind != chunks.OUTLINE)
    assert str(error.value.found).startswith(f"{ledger.LOST_IN_A_ROW} records in a row, 3 workers each")


def test_what_only_waited_is_not_blamed(tmp_path: Path) -> None:
    """A task that comes back unbegun a hundred times is still measured, and never taken apart."""
    books = Ledger(workload(tmp_path, Halved), batches(1))
    for _ in range(100):
        entry = books.next()
        assert entry is not None
        assert entry.task.kind == CHUNK
        books.returned(entry)
    entry = books.next()
    assert entry is not None
    assert [rows.index for rows in books.done(entry, Measured([BatchRows(0, [], [])], 0.1))] == [0]
    assert books.next() is None


def test_a_suspect_is_tried_alone(tmp_path: Path) -> None:
    books = Ledger(workload(tmp_path, Halved), batches(20))
    entries = [books.next() for _ in range(4)]
    for _ in range(ledger.STRIKES):
        first = entries.pop(0)
        assert first is not None
        books.died(first)
        entries.insert(0, books.next())
    assert entries[0] is None, "a trial waits for the others"
    for entry in entries[1:]:
        assert entry is not None
        books.returned(entry)
    again = [books.next() for _ in range(4)]
    assert [entry is None for entry in again] == [False, False, False, True]


def test_a_chunk_that_took_several_workers_with_it_is_taken_apart_at_once(tmp_path: Path) -> None:
    """Dask gives a task to four workers before it tells; two deaths are still bad luck."""
    books = Ledger(workload(tmp_path, Halved), batches(2))
    unlucky, deadly = books.next(), books.next()
    assert unlucky is not None
    assert deadly is not None
    books.died(unlucky, 2)
    books.died(deadly, 4)
    again = books.next()
    assert again is unlucky
    books.done(again, Measured([BatchRows(0, [], [])], 0.1))
    alone = books.next()
    assert alone is not None
    assert (alone.task.kind, alone.task.batches) == (chunks.OUTLINE, deadly.task.batches)
