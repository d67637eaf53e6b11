"""Workers that are killed, records that kill their worker, Ctrl-C, a parent that is killed: nothing is lost or doubled.

Real processes die here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from faulty import Deadly, Halved, Numbers, Slow, Unlistable, batches, workload

from turnwise.engine.executors import make_executor
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.engine.executors.ledger import QUARANTINED, STRIKES
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.rows import SCORE_COLUMNS
from turnwise.store.run import BatchRows

distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent
ENGINES = pytest.mark.parametrize("engine", ["processes:2", "dask:2"])


def in_order(rows: list[BatchRows]) -> list[BatchRows]:
    return sorted(rows, key=lambda one: one.index)


def at_work(marks: Path) -> list[int]:
    """The living processes that have measured something."""
    return [pid for pid in (int(mark.name) for mark in marks.iterdir()) if lives(pid)]


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something; its value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come in time"
        time.sleep(0.02)
    return found


@ENGINES
def test_three_killed_workers_cost_no_row_and_double_none(tmp_path: Path, engine: str) -> None:
    work = workload(tmp_path, Halved, Slow, seconds=0.05)
    expected = list(InlineExecutor().map(work, batches(60)))
    (tmp_path / str(os.getpid())).unlink()  # this process measured inline
    rows: list[BatchRows] = []
    killed: set[int] = set()
    for one in make_executor(engine).map(work, batches(60)):
        rows.append(one)
        if len(killed) < 3 and (victims := [pid for pid in at_work(tmp_path) if pid not in killed]):
            os.kill(victims[-1], signal.SIGKILL)
            killed.add(victims[-1])
    assert len(killed) == 3
    assert in_order(rows) == expected


@ENGINES
def test_a_record_that_kills_its_worker_becomes_an_error_and_the_rest_finishes(tmp_path: Path, engine: str) -> None:
    work = workload(tmp_path, Halved, Deadly)
    rows = in_order(list(make_executor(engine).map(work, batches(12, 20, b7_3=1e6))))
    assert [one.index for one in rows] == list(range(12))
    scores = [dict(zip(SCORE_COLUMNS, row, strict=True)) for one in rows for row in one.scores]
    wrong = [(row["metric"], row["output"], row["item"], row["reason"]) for row in scores if row["status"] != "scored"]
    item = 7 << 20 | 3
    assert sorted(wrong) == [(1, "other", item, QUARANTINED), (1, "value", item, QUARANTINED)]
    assert len(scores) == len({(r["metric"], r["output"], r["item"]) for r in scores}) == 12 * 20 * 4
    assert len(rows[7].items) == 20
    # The batches nobody was harmed by are those of an undisturbed run, row for row.
    undisturbed = list(InlineExecutor().map(work, [one for one in batches(12, 20) if one.index != 7]))
    assert [one for one in rows if one.index != 7] == undisturbed
    assert len(list(tmp_path.iterdir())) - 1 >= STRIKES  # the dead left a mark each


def test_records_that_nobody_can_list_are_told_when_the_rest_is_done(tmp_path: Path) -> None:
    work = workload(tmp_path, Halved)
    data: list[Numbers] = [*batches(3), Unlistable(3, [1.0])]
    rows = []
    with pytest.raises(TurnwiseError, match="1 batches of records killed every worker"):
        rows.extend(make_executor("processes:2").map(work, data))


RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from faulty import Slow, batches, workload
from turnwise.engine.executors import make_executor

if __name__ == "__main__":
    marks = Path({marks!r})
    try:
        for rows in make_executor({engine!r}).map(workload(marks, Slow, seconds=0.3), batches(2000)):
            print(rows.index, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(3)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], tuple[subprocess.Popen[str], list[psutil.Process]]]]:
    """A run in a process and a session of its own, once workers are at work; with all the processes it has."""
    started: list[subprocess.Popen[str]] = []
    marks = tmp_path / "marks"
    marks.mkdir()

    def begin(engine: str) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
        script = tmp_path / "run.py"
        script.write_text(RUN.format(here=str(HERE), marks=str(marks), engine=engine))
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        until(lambda: process.poll() is not None or len(at_work(marks)) >= 2)
        assert process.poll() is None, process.communicate()[1]
        return process, psutil.Process(process.pid).children(recursive=True)

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@ENGINES
def test_ctrl_c_stops_everybody(start: Any, engine: str) -> None:
    process, family = start(engine)
    assert len(family) >= 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to every process of the group
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 3, complained
    assert said.endswith("interrupted\n")
    assert "Traceback" not in complained
    until(lambda: not any(lives(one.pid) for one in family), 30)


@ENGINES
def test_a_killed_parent_leaves_nobody_behind(start: Any, engine: str) -> None:
    process, family = start(engine)
    process.kill()
    process.communicate()
    until(lambda: not any(lives(one.pid) for one in family), 30)
