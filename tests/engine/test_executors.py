"""Every engine gives the same rows, takes batches as it needs them, and says how it stands."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from faulty import Halved, Numbers, Raising, Slow, batches, workload

from turnwise.engine.executors import make_executor
from turnwise.engine.executors.chunks import Measured
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.engine.executors.ledger import Entry, Ledger, handed_out
from turnwise.engine.executors.member import Member
from turnwise.engine.executors.nursery import script_left_alone
from turnwise.engine.executors.processes import ProcessExecutor
from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.store.run import BatchRows

distributed = pytest.importorskip("distributed")

# Names


@pytest.mark.parametrize(
    ("engine", "workers", "said"),
    [
        ("proceses", None, "did you mean processes?"),
        ("dsk", None, "did you mean dask?"),
        ("inline:2", None, "expected: inline or processes"),
        ("processes:", None, "a number from 1 to 1024, as in processes:4"),
        ("processes:0", None, "a number from 1 to 1024"),
        ("dask:two", None, "found: 'two'"),
        ("dask:1025", None, "a number from 1 to 1024"),
        ("processes:2", 3, "'processes:2' and 3 workers contradict each other"),
        ("tcp://host", None, "expected: inline or processes"),
        ("http://host:1", None, "tcp://HOST:PORT"),
        ("tcp://host:8786?GPU=many", None, "?GPU=1"),
        ("tcp://host:8786?wait=-1", None, "a number above 0"),
        ("tcp://host:8786?wait=nan", None, "a number above 0"),
    ],
)
def test_an_engine_that_does_not_exist_is_refused(engine: str, workers: int | None, said: str) -> None:
    with pytest.raises(UsageError) as error:
        make_executor(engine, workers)
    assert said in error.value.message


@pytest.mark.parametrize(
    ("engine", "workers", "kind"),
    [
        ("inline", None, "InlineExecutor"),
        ("inline", 3, "InlineExecutor"),
        ("processes", 2, "ProcessExecutor"),
        ("processes:2", 2, "ProcessExecutor"),
        ("dask", None, "DaskExecutor"),
        ("tcp://10.0.0.1:8786", 4, "DaskExecutor"),
        ("tls://scheduler.example:8786/", None, "DaskExecutor"),
        ("tcp://[::1]:8786?GPU=1&wait=600", None, "DaskExecutor"),
    ],
)
def test_an_engine_by_its_name(engine: str, workers: int | None, kind: str) -> None:
    assert type(make_executor(engine, workers)).__name__ == kind


# Rows


def in_order(rows: Iterator[BatchRows]) -> list[BatchRows]:
    return sorted(rows, key=lambda one: one.index)


@pytest.mark.parametrize("engine", ["processes:1", "processes:3", "dask:2"])
def test_rows_are_equal_whatever_the_engine(tmp_path: Path, engine: str) -> None:
    work = workload(tmp_path, Halved)
    inline = list(InlineExecutor().map(work, batches(60)))
    executor = make_executor(engine)
    assert in_order(executor.map(work, batches(60))) == inline
    assert (executor.in_flight, executor.chunks_done < 60) == (0, True)


@pytest.mark.parametrize("engine", ["inline", "processes:2", "dask:1"])
def test_no_batches_no_rows(tmp_path: Path, engine: str) -> None:
    assert list(make_executor(engine).map(workload(tmp_path, Halved), [])) == []


def test_no_more_is_taken_than_workers_can_have_in_hand(tmp_path: Path) -> None:
    taken: list[int] = []

    def source() -> Iterator[Numbers]:
        for batch in batches(100):
            taken.append(batch.index)
            yield batch

    executor = ProcessExecutor(2)
    work = workload(tmp_path, Slow, seconds=0.7)  # a chunk is one batch
    rows = executor.map(work, source())
    assert taken == []
    next(rows)
    # Two workers with two chunks each, and one for each of them that waits here; one or more came back and were
    # replaced before the first rows are handed out.
    assert len(taken) <= 2 * (2 + 1) + executor.chunks_done
    assert executor.in_flight <= 4
    assert executor.workers == 2
    rows.close()  # type: ignore[attr-defined]
    assert executor.workers == 0


@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
def test_rows_are_unpacked_when_those_before_are_written(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unpacked, they take several times as much memory: a slow database must not make the driver hold them all."""
    unpacked: list[int] = []
    done = Ledger.done

    def counted(ledger: Ledger, entry: Entry, measured: Measured) -> list[BatchRows]:
        unpacked.append(len(measured.rows))
        return done(ledger, entry, measured)

    monkeypatch.setattr(Ledger, "done", counted)
    written = 0
    for _ in make_executor(engine).map(workload(tmp_path, Halved), batches(300)):
        time.sleep(0.002)  # others have long been measured
        written += 1
        assert sum(unpacked[:-1]) < written <= sum(unpacked)
    assert (written, len(unpacked) > 10) == (300, True)


def test_rows_that_are_handed_out_are_not_held() -> None:
    rows = [BatchRows(n, [], []) for n in range(3)]
    for left, found in zip((2, 1, 0), handed_out(rows), strict=True):
        assert (found.index, len(rows)) == (2 - left, left)


@pytest.mark.parametrize("engine", ["inline", "processes:2", "dask:1"])
def test_an_error_of_the_workload_itself_is_raised_here(engine: str) -> None:
    with pytest.raises(ConnectionError, match="batch 0 is not served"):
        list(make_executor(engine).map(Raising([]), batches(1)))


@pytest.mark.parametrize("engine", ["processes:2", "dask:1"])
def test_a_metric_that_cannot_be_sent_is_said(tmp_path: Path, engine: str) -> None:
    class Inside(Halved):
        """Defined in a function, so no other process can find it."""

    with pytest.raises(TurnwiseError, match="a metric of this run cannot be sent to a worker") as error:
        list(make_executor(engine).map(workload(tmp_path, Inside), batches(1)))
    assert "Inside" in str(error.value.found)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from turnwise.kernel import extras

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(TurnwiseError, match="the engine dask needs distributed") as error:
        list(make_executor("dask").map(workload(tmp_path, Halved), batches(1)))
    assert error.value.remedy == 'pip install "turnwise[cluster]"'


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("tcp://[::1:1", "tcp://HOST:PORT, a port from 1 to 65535 and no user name"),
        ("tcp://a]b:1", "tcp://HOST:PORT, a port from 1 to 65535 and no user name"),
        (f"processes:{'9' * 5000}", "a number from 1 to 1024, as in processes:4"),
        ("dask:0", "a number from 1 to 1024, as in dask:4"),
        ("ucx://h:1", "inline or processes or processes:N or dask or dask:N or tcp://HOST:PORT"),
    ],
)
def test_engines_that_are_none(engine: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        make_executor(engine)
    assert error.value.expected == expected


def test_a_worker_that_dies_while_it_sends_is_dead() -> None:
    member = Member(pickle.dumps(abs), 1)
    try:
        member.give(-3, "first")
        while (received := member.received()) is None:
            member.connection.poll(10)
        assert received == ("first", 3)
        ours, theirs = multiprocessing.Pipe()
        os.write(theirs.fileno(), (100_000).to_bytes(4) + b"the beginning")
        theirs.close()
        member.connection.close()
        member.connection = ours
        assert member.received() is None
        assert member.ended
    finally:
        member.dismiss()


def test_scripts_are_left_alone_by_one_thread_at_a_time() -> None:
    script = sys.modules["__main__"]

    def leave_alone(seconds: float) -> None:
        with script_left_alone():
            time.sleep(seconds)

    threads = [Thread(target=leave_alone, args=(seconds,)) for seconds in (0.2, 0.05, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.modules["__main__"] is script
