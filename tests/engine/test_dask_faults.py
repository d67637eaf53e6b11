"""A running Dask cluster whose workers die, by a record or by chance, or are replaced by others that differ.

Schedulers, nannies and workers are real processes on this machine.
"""

from __future__ import annotations

import signal
import subprocess
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Timer
from typing import Any

import distributed
import pytest
from faulty import Deadly, Filed, Halved, Slow, batches, workload
from test_dask import Site, another_numpy, in_order, marks, site

from turnwise.engine.executors import dask_crew, make_executor
from turnwise.engine.executors.dask import DaskExecutor
from turnwise.engine.executors.dask_local import OwnCluster
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.engine.executors.ledger import QUARANTINED
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.rows import SCORE_COLUMNS
from turnwise.store.run import BatchRows

__all__ = ["another_numpy", "marks", "site"]

POISON = 2 << 20 | 1
"""The item number of the second number of the third batch."""


def rows_by_key(rows: list[BatchRows]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Scores by metric, output and item; a row that is there twice is found."""
    scores = [row for one in rows for row in one.scores]
    columns = [SCORE_COLUMNS.index(name) for name in ("metric", "output", "item")]
    found = {tuple(row[column] for column in columns): row for row in scores}
    assert len(found) == len(scores)
    return found


def test_a_record_that_kills_workers_of_a_running_cluster_is_found(site: Site, marks: Path) -> None:
    """Nannies replace the dead; one number in forty is an error, all others are what they are without it."""
    site.start("dask_worker", "--nthreads", "1", "--nworkers", "2", "--local-directory", str(site.folder))
    work = workload(marks, Halved, Deadly)
    rows = in_order(make_executor(site.address, 2).map(work, batches(5, 8, b2_1=1e6)))
    deaths = len(list(marks.iterdir()))

    assert [one.index for one in rows] == list(range(5))
    harmless = list(InlineExecutor().map(work, batches(5, 8)))
    expected = rows_by_key(harmless)
    found = rows_by_key(rows)
    wrong = {key: row[SCORE_COLUMNS.index("reason")] for key, row in found.items() if row != expected.get(key)}
    # `halved` sees another number there, too: half of 1e6 and its square.
    assert wrong.keys() == {(m, out, POISON) for m, out in [(0, "half"), (0, "square"), (1, "value"), (1, "other")]}
    assert {key: reason for key, reason in wrong.items() if reason is not None} == {
        (1, "value", POISON): QUARANTINED,
        (1, "other", POISON): QUARANTINED,
    }
    value = SCORE_COLUMNS.index("value")
    assert [found[0, out, POISON][value] for out in ("half", "square")] == [500000.0, 1e12]
    assert found.keys() == expected.keys()
    assert [list(one.items) for one in rows if one.index != 2] == [
        list(one.items) for one in harmless if one.index != 2
    ]
    # Four before Dask tells, one for the batch if it was sent with others, one for the metric, three for the unit.
    assert 8 <= deaths <= 9


def test_a_worker_that_differs_says_no_to_a_task_it_got_too_early(site: Site, marks: Path, another_numpy: Path) -> None:
    """The one worker that is right is gone, another takes over its tasks before the driver has looked at it."""
    right = site.worker()
    rows = make_executor(f"{site.address}?wait=20").map(workload(marks, Slow, seconds=0.05), batches(2000))
    next(rows)
    site.worker(path=another_numpy)
    right.kill()
    with pytest.raises(TurnwiseError, match="no worker of the cluster has the versions") as error:
        list(rows)
    assert str(error.value.found).startswith("numpy 0.0.1 instead of")
    assert {int(mark.name) for mark in marks.iterdir()} == {right.pid}


def test_a_worker_that_has_what_is_wanted_may_come_later(site: Site, marks: Path) -> None:
    """One without the resource is there at once; the run waits for the other."""
    site.worker()
    with_gpu: list[subprocess.Popen[bytes]] = []
    late = Timer(3.0, lambda: with_gpu.append(site.worker("--resources", "GPU=1")))
    late.start()
    rows = in_order(make_executor(f"{site.address}?GPU=1&wait=60").map(workload(marks, Slow, seconds=0.0), batches(5)))
    late.join()
    assert [one.index for one in rows] == list(range(5))
    assert [int(mark.name) for mark in marks.iterdir()] == [with_gpu[0].pid]


def test_workers_of_our_own_that_die_while_they_start_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, victims = OwnCluster._started, [0, 1]

    def started_and_killed(cluster: OwnCluster) -> BaseProcess:
        process = started(cluster)
        if victims:
            victims.pop()
            process.kill()
        return process

    monkeypatch.setattr(OwnCluster, "_started", started_and_killed)
    work, begun = workload(tmp_path, Halved), time.monotonic()
    rows = list(make_executor("dask:2").map(work, batches(10)))
    assert rows_by_key(rows) == rows_by_key([work(batch) for batch in batches(10)])
    assert (victims, time.monotonic() - begun < 50) == ([], True)


def test_as_many_workers_as_are_wanted_are_waited_for(site: Site, marks: Path) -> None:
    """Those that do not have what is wanted do not count."""
    site.worker("--resources", "GPU=1")
    site.worker()
    with distributed.Client(site.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    rows = make_executor(f"{site.address}?GPU=1&wait=3", 2).map(workload(marks, Halved), batches(5))
    with pytest.raises(TurnwiseError, match="too few workers") as error:
        list(rows)
    assert (error.value.found, error.value.expected) == ("1 after 3 s", "at least 2 with GPU=1")


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="a path that is another file for every process")
@pytest.mark.parametrize("seeing", [1, 0])
def test_a_worker_that_does_not_see_the_files_of_a_batch_is_refused(
    site: Site, marks: Path, tmp_path: Path, seeing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows would say that there is no such file; a file that the driver does not see either is nobody's fault."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "numbers.csv").touch()
    monkeypatch.chdir(mounted)
    right = [site.worker(cwd=mounted) for _ in range(seeing)]
    site.worker()
    filed = [Filed(one.index, one.numbers) for one in batches(8)]
    work = workload(marks, Slow, seconds=0.3)
    # Both are waited for, so that both get something to do.
    executor = DaskExecutor(seeing + 1, address=f"{site.address}?wait=60")
    if not seeing:
        with pytest.raises(TurnwiseError, match="versions, metrics and files") as error:
            list(executor.map(work, filed))
        assert error.value.found == "it does not see /proc/self/cwd/numbers.csv"
        return
    assert [one.index for one in in_order(executor.map(work, filed))] == list(range(8))
    assert list(executor.refused.values()) == [["it does not see /proc/self/cwd/numbers.csv"]]
    assert {int(mark.name) for mark in marks.iterdir()} == {one.pid for one in right}


def test_a_scheduler_that_hangs_is_lost_and_keeps_nobody(
    site: Site, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine still holds the connection, so nothing but time tells."""
    monkeypatch.setattr(dask_crew, "ANSWER_S", 2.0)
    monkeypatch.setattr(dask_crew, "LEAVE_S", 0.5)
    site.worker()
    rows = make_executor(site.address).map(workload(marks, Slow, seconds=0.05), batches(2000))
    next(rows)
    site.scheduler.send_signal(signal.SIGSTOP)
    with pytest.raises(TurnwiseError, match="the scheduler is gone") as error:
        list(rows)
    assert str(error.value.found).startswith("it has not answered for 2 s")


def forget_everything() -> None:
    from turnwise.engine.executors import dask_worker

    dask_worker._DELIVERED.clear()
    dask_worker._OPENED.clear()


def test_a_worker_that_is_new_under_an_old_address_gets_the_workload(site: Site, marks: Path) -> None:
    """It is back before anybody has looked: the driver takes it for the one it knows."""
    site.worker()
    work = workload(marks, Slow, seconds=0.05)
    rows = make_executor(site.address).map(work, batches(60))
    found = [next(rows)]
    with distributed.Client(site.address, set_as_default=False) as client:
        client.run(forget_everything)
    found += rows
    assert [one.index for one in in_order(found)] == list(range(60))
