"""The store on both databases: runs and their status, the journal, what the tables refuse, artifacts."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError

from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.store import schema
from turnwise.store.run import BatchRows, Run, RunMetric
from turnwise.store.store import Store

Begin = Callable[..., Run]
MakeBatch = Callable[..., BatchRows]

BEGIN_AND_WAIT = """
import sys, time
from turnwise.store.run import Run
from turnwise.store.store import Store
run = Run(suite="dialogue", system="a", version="", profile="turnwise", dataset_fingerprint="f",
          turnwise_version="0", config={}, environment={})
store = Store(sys.argv[1])
where, _, name = sys.argv[2].partition(": ")
run = store.reopen(store.run(name)) if where == "reopen" else store.begin(run, [("dialogue/x", "s")])
if where == "inside a transaction":
    from sqlalchemy import text
    with store.writing() as connection:
        connection.execute(text(f"INSERT INTO batches VALUES ({run.key}, 0)"))
        print(run.id, flush=True)
        time.sleep(60)
print(run.id, flush=True)
time.sleep(60)
"""


def count(store: Store, table: Any) -> int:
    with store.reading() as connection:
        return int(connection.scalar(select(func.count()).select_from(table)) or 0)


@contextmanager
def waiting_process(db: str, where: str = "after the run has begun") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that begins a run and then does nothing; gives it and the run's id."""
    command = [sys.executable, "-c", BEGIN_AND_WAIT, db, where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


# Runs


def test_a_run_that_begins_gets_an_id_and_keeps_everything(store: Store, begin_run: Begin) -> None:
    begun = begin_run(store, system="Ångström 7", findings=[{"check": "input", "message": "m", "count": 2}])
    assert re.fullmatch(r"\d{8}-\d{6}-dialogue-[0-9a-f]{6}", begun.id)
    assert store.run(begun.id) == begun
    assert begun.status == "running"
    assert begun.finished is None
    assert begun.host == platform.node()
    assert begun.process.startswith(f"{os.getpid()}:")
    assert store.metrics(begun) == [
        RunMetric(0, "dialogue/slot_accuracy", "dialogue/slot_accuracy|v1"),
        RunMetric(1, "dialogue/tone", "dialogue/tone|v1"),
    ]


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_a_run_that_did_not_finish_has_no_end(store: Store, begin_run: Begin, status: str) -> None:
    ended = store.end(begin_run(store), status)
    assert store.run(ended.id) == ended
    assert (ended.status, ended.finished) == (status, None)


def test_the_time_a_run_finished_is_kept(store: Store, begin_run: Begin) -> None:
    first = store.end(begin_run(store), "finished")
    assert first.finished is not None
    assert first.finished >= first.started
    assert store.run(first.id).finished == store.end(first, "finished").finished == first.finished


def test_runs_are_listed_the_newest_first(store: Store, begin_run: Begin) -> None:
    a, b, c = begin_run(store), begin_run(store, suite="duplex"), begin_run(store)
    assert [run.id for run in store.runs()] == [c.id, b.id, a.id]
    assert [run.id for run in store.runs("dialogue")] == [c.id, a.id]
    assert store.runs("translation") == []
    assert store.run("latest").id == c.id


def test_a_run_is_found_by_a_unique_beginning(store: Store, begin_run: Begin) -> None:
    runs = [begin_run(store) for _ in range(2)]
    for number, run in enumerate(runs):
        new_id = f"2026010{number}-120000-dialogue-abcdef"
        with store.writing() as connection:
            connection.execute(update(schema.runs).where(schema.runs.c.key == run.key).values(id=new_id))
    assert store.run("20260100").key == runs[0].key
    assert store.run("20260101-12").key == runs[1].key
    with pytest.raises(UsageError, match="several runs begin with '2026010'") as error:
        store.run("2026010")
    assert "20260100-120000-dialogue-abcdef" in str(error.value)
    with pytest.raises(UsageError, match="several runs"):
        store.run("")


def test_an_unknown_run_is_named_with_near_misses(store: Store, begin_run: Begin) -> None:
    with pytest.raises(UsageError, match="there is no run 'latest'") as error:
        store.run("latest")
    assert error.value.remedy == "no run is stored here yet"
    run = begin_run(store)
    with pytest.raises(UsageError) as error:
        store.run(run.id[:-1] + "x")
    assert error.value.remedy == f"did you mean {run.id}?"
    assert error.value.where == store.place
    for name in ("%", "_", "nothing like it", "'; --"):
        with pytest.raises(UsageError, match="there is no run"):
            store.run(name)


# Whether a run still runs


def test_a_run_whose_process_was_killed_is_interrupted(store: Store, db: str) -> None:
    with waiting_process(db) as (process, run_id):
        assert store.run(run_id).status == "running"
        process.kill()
        process.wait()
        assert store.run(run_id).status == "interrupted"
        assert [run.status for run in store.runs()] == ["interrupted"]


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="there are no zombies on this system")
def test_a_process_that_nobody_reaped_is_dead(store: Store, db: str) -> None:
    """In a container whose first process does not reap its children, a killed run stays a zombie for ever."""
    with waiting_process(db) as (process, run_id):
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and left unreaped
        assert store.run(run_id).status == "interrupted"


def test_another_process_with_the_same_id_is_not_the_run(store: Store, begin_run: Begin) -> None:
    run = begin_run(store)
    with store.writing() as connection:
        connection.execute(update(schema.runs).values(process=f"{os.getpid()}:1"))  # started with the machine
    assert store.run(run.id).status == "interrupted"


@pytest.mark.parametrize(("minutes", "status"), [(9, "running"), (11, "interrupted")])
def test_a_run_on_another_machine_is_given_up_after_ten_minutes(
    store: Store, begin_run: Begin, minutes: int, status: str
) -> None:
    run = begin_run(store)
    updated = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    with store.writing() as connection:
        connection.execute(update(schema.runs).values(host="elsewhere", updated=updated))
    assert store.run(run.id).status == status


def test_reopening_makes_a_run_this_process_own(store: Store, db: str) -> None:
    with waiting_process(db) as (process, run_id):
        process.kill()
        process.wait()
        run = store.reopen(store.run(run_id))
    assert store.run(run_id) == run
    assert (run.status, run.process.split(":")[0]) == ("running", str(os.getpid()))


def test_a_run_is_reopened_by_one_process_only(store: Store, db: str) -> None:
    """Two resumes that both saw an interrupted run: the second must not measure into the first one's run."""
    with waiting_process(db) as (process, run_id):
        process.kill()
        process.wait()
    seen = store.run(run_id)
    assert seen.status == "interrupted"
    with waiting_process(db, f"reopen: {run_id}") as (faster, _):
        with pytest.raises(TurnwiseError):
            store.reopen(seen)
        assert store.run(run_id).process.split(":")[0] == str(faster.pid)


# The journal


def test_batches_are_written_and_counted(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run, other = begin_run(store), begin_run(store)
    store.write_batch(run, make_batch(0, [1.0, None]))
    store.write_batch(run, make_batch(2, [0.5]))
    store.write_batch(other, make_batch(1, [0.5]))
    assert (store.done_batches(run), store.count_items(run)) == ({0, 2}, 3)
    assert (store.done_batches(other), store.count_items(other)) == ({1}, 1)
    assert store.run(run.id).updated >= run.updated


@pytest.mark.parametrize("place", ["items", "scores"])
def test_a_batch_with_one_bad_row_leaves_nothing(
    store: Store, begin_run: Begin, make_batch: MakeBatch, place: str
) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [1.0]))
    good = make_batch(1, [0.25] * 500)
    rows = list(getattr(good, place))
    bad = replace(good, **{place: [*rows, rows[0]]})  # the same key twice, in the last row of the batch
    with pytest.raises(IntegrityError):
        store.write_batch(run, bad)
    assert (store.done_batches(run), store.count_items(run), count(store, schema.scores)) == ({0}, 1, 1)
    store.write_batch(run, good)
    assert (store.done_batches(run), count(store, schema.scores)) == ({0, 1}, 501)


def test_a_batch_cannot_be_written_twice(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [1.0]))
    with pytest.raises(IntegrityError):
        store.write_batch(run, make_batch(0, [1.0]))
    assert count(store, schema.scores) == 1


def test_a_kill_inside_a_transaction_leaves_nothing_and_no_lock(store: Store, db: str, begin_run: Begin) -> None:
    with waiting_process(db, "inside a transaction") as (process, run_id):
        process.kill()
        process.wait()
        killed = store.run(run_id)
        begin_run(store)  # would wait for the lock
        assert (killed.status, store.done_batches(killed)) == ("interrupted", set())


# What the tables refuse, whoever writes


def score_row(run: Run, /, **changes: Any) -> dict[str, Any]:
    key = {"run": run.key, "metric": 0, "output": "value", "variant": "", "item": 0, "repeat": 0}
    return {**key, "source": "code", "rater": "", "value": 0.5, "status": "scored", **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": float("-inf")},
        {"value": None},
        {"status": "error", "reason": "boom"},
        {"status": "skipped", "reason": "r", "value": None, "label": "x"},
        {"status": "error", "value": None},
        {"status": "perhaps", "value": None, "reason": "r"},
        {"run": 999},
    ],
    ids=str,
)
def test_a_score_that_would_corrupt_a_mean_is_refused(store: Store, begin_run: Begin, changes: dict[str, Any]) -> None:
    row = score_row(begin_run(store), **changes)
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join(("?" if store.engine.dialect.name == "sqlite" else "%s") for _ in row)
    with pytest.raises(IntegrityError), store.writing() as connection:
        connection.exec_driver_sql(f"INSERT INTO scores ({names}) VALUES ({marks})", tuple(row.values()))
    assert count(store, schema.scores) == 0


def test_what_is_consistent_is_taken(store: Store, begin_run: Begin) -> None:
    run = begin_run(store)
    rows = [
        score_row(run, item=0),
        score_row(run, item=1, value=None, label="polite"),
        score_row(run, item=2, value=None, status="not_applicable", reason="no reference slots"),
        score_row(run, item=3, value=-1.7e308),
    ]
    with store.writing() as connection:
        for row in rows:
            connection.execute(insert(schema.scores).values(row))
    assert count(store, schema.scores) == 4


def test_a_run_of_unknown_status_is_refused(store: Store, begin_run: Begin) -> None:
    begin_run(store)
    with pytest.raises(IntegrityError), store.writing() as connection:
        connection.execute(update(schema.runs).values(status="paused"))


def test_a_run_takes_all_that_belongs_to_it_along(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [1.0]))
    store.save_rollups(run, [{"value": 1.0}])
    store.add_artifacts(run, [("a", "/a", "0" * 64, 1)])
    with store.writing() as connection:
        connection.execute(schema.runs.delete())
    assert [count(store, table) for table in schema.metadata.tables.values()] == [0] * len(schema.metadata.tables)


# Artifacts


def test_artifacts_are_kept_per_run_and_replaced_by_name(store: Store, begin_run: Begin) -> None:
    run, other = begin_run(store), begin_run(store)
    store.add_artifacts(run, [("summary.json", "/x/summary.json", "a" * 64, 10), ("a.csv", "/x/a.csv", "b" * 64, 2)])
    store.add_artifacts(other, [("a.csv", "/y/a.csv", "d" * 64, 4)])
    store.add_artifacts(run, [("a.csv", "/x/a.csv", "c" * 64, 3_000_000_000)])
    found = [(a["name"], a["path"], a["sha256"], a["bytes"]) for a in store.artifacts(run)]
    expected = [("a.csv", "/x/a.csv", "c" * 64, 3_000_000_000), ("summary.json", "/x/summary.json", "a" * 64, 10)]
    assert found == expected
    assert [a["sha256"] for a in store.artifacts(other)] == ["d" * 64]
    store.add_artifacts(run, [])
    assert len(store.artifacts(run)) == 2
