"""A running Dask cluster: joined by its address, left as it was found; who differs is refused; what if it goes away.

Schedulers and workers are real processes on this machine.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import Halved, Slow, batches, workload
from test_executors_rooms import kept

from turnwise.dialogue.suite import SUITE
from turnwise.engine.executors import make_executor
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.engine.job import run_job
from turnwise.engine.options import parse_options
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent


class Site:
    """A scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start("dask_scheduler", "--port", "0")
        deadline = time.monotonic() + 60
        while not self.file.exists() or not self.file.read_text().endswith("}"):
            assert self.scheduler.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address: str = json.loads(self.file.read_text())["address"]

    def start(
        self, program: str, *options: str, path: Path | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """`path` comes first where Python looks for packages."""
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(self.file)]
        paths = os.pathsep.join(str(one) for one in (path, HERE, os.environ.get("PYTHONPATH")) if one)
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", *options],
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
            cwd=cwd or self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def worker(self, *options: str, path: Path | None = None, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        folder = ("--local-directory", str(self.folder))
        return self.start("dask_worker", "--nthreads", "1", "--no-nanny", *folder, *options, path=path, cwd=cwd)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.close()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def another_numpy(tmp_path: Path) -> Path:
    """A folder that makes a worker think it has numpy 0.0.1."""
    about = tmp_path / "other" / "numpy-0.0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n")
    return about.parent


def in_order(rows: Iterator[BatchRows] | list[BatchRows]) -> list[BatchRows]:
    return sorted(rows, key=lambda one: one.index)


def test_a_running_cluster_is_joined_and_left_as_it_was(site: Site, marks: Path) -> None:
    work = workload(marks, Halved, Slow, seconds=0.01)
    expected = list(InlineExecutor().map(work, batches(30)))
    (marks / str(os.getpid())).unlink()
    workers = [site.worker(), site.worker()]
    for _ in range(2):
        executor = make_executor(site.address, 2)
        assert in_order(executor.map(work, batches(30))) == expected
        assert (executor.workers, executor.in_flight) == (2, 0)
    assert {int(mark.name) for mark in marks.iterdir()} == {worker.pid for worker in workers}
    with distributed.Client(site.address, set_as_default=False) as client:
        assert client.run(kept_workloads) == dict.fromkeys(client.scheduler_info()["workers"], 0)


def kept_workloads() -> int:
    from turnwise.engine.executors import dask_worker

    return len(dask_worker._OPENED) + len(dask_worker._DELIVERED)


# Versions


def test_a_worker_of_another_version_is_refused_with_the_reason(site: Site, marks: Path, another_numpy: Path) -> None:
    site.worker(path=another_numpy)
    with pytest.raises(TurnwiseError, match="no worker of the cluster has the versions") as error:
        list(make_executor(site.address).map(workload(marks, Halved), batches(3)))
    assert error.value.where is not None
    assert error.value.where.startswith("tcp://127.0.0.1:")
    import numpy as np

    assert error.value.found == f"numpy 0.0.1 instead of {np.__version__}"


def test_a_worker_without_the_plug_in_is_left_out(
    site: Site, tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "plug-in"
    folder.mkdir()
    (folder / "plugged_metric.py").write_text("from faulty import Halved\n\n\nclass Plugged(Halved):\n    pass\n")
    monkeypatch.syspath_prepend(folder)
    import plugged_metric  # type: ignore[import-not-found]

    site.worker("--name", "with", path=folder)
    site.worker("--name", "without")
    work = workload(marks, plugged_metric.Plugged)
    rows = in_order(make_executor(site.address, 2).map(work, batches(30)))
    assert rows == list(InlineExecutor().map(work, batches(30)))
    warnings = {record.message.partition("is not used: ")[2] for record in caplog.records}
    expected = "it cannot load the metrics of this run (ModuleNotFoundError: No module named 'plugged_metric')"
    assert warnings <= {expected}  # if it got a task before the other had done them all


def test_no_worker_has_the_plug_in(site: Site, tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plug-in"
    folder.mkdir()
    (folder / "plugged_alone.py").write_text("from faulty import Halved\n\n\nclass Plugged(Halved):\n    pass\n")
    monkeypatch.syspath_prepend(folder)
    import plugged_alone  # type: ignore[import-not-found]

    site.worker()
    with pytest.raises(TurnwiseError, match="no worker of the cluster has the versions") as error:
        list(make_executor(site.address).map(workload(marks, plugged_alone.Plugged), batches(3)))
    assert "No module named 'plugged_alone'" in str(error.value.found)


def test_a_worker_that_differs_is_left_out_whenever_it_joins(
    site: Site, marks: Path, another_numpy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One differs from the start, one joins while the run is under way; the one that is right does everything."""
    right = site.worker("--name", "right")
    wrong = site.worker("--name", "wrong", path=another_numpy)
    executor: Any = make_executor(site.address, 2)
    work = workload(marks, Slow, seconds=0.05)
    rows: list[BatchRows] = []
    late: subprocess.Popen[bytes] | None = None
    for one in executor.map(work, batches(400)):
        rows.append(one)
        if late is None:
            assert len(executor.refused) == 1
            late = site.worker("--name", "late", path=another_numpy)
        if len(executor.refused) == 2 and len(rows) >= 60:
            break
    else:
        pytest.fail("the late worker was not noticed")
    assert {int(mark.name) for mark in marks.iterdir()} == {right.pid}
    assert wrong.poll() is None, "a worker that is not used is left alone: it is not ours"
    assert [reasons[0].split(" instead")[0] for reasons in executor.refused.values()] == ["numpy 0.0.1"] * 2
    assert caplog.text.count("is not used: numpy 0.0.1 instead of") == 2


def test_a_worker_without_turnwise_is_refused(site: Site, marks: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "turnwise"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not here')\n")
    site.worker(path=hidden.parent)
    with pytest.raises(TurnwiseError, match="no worker of the cluster has the versions") as error:
        list(make_executor(site.address).map(workload(marks, Halved), batches(3)))
    assert "turnwise cannot be used there" in str(error.value.found)


# Who works


def test_only_workers_with_the_wanted_resources_work(site: Site, marks: Path) -> None:
    site.worker()
    with_gpu = site.worker("--resources", "GPU=1")
    with distributed.Client(site.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    work = workload(marks, Slow, seconds=0.01)
    rows = in_order(make_executor(f"{site.address}?GPU=1").map(work, batches(20)))
    assert [one.index for one in rows] == list(range(20))
    assert [mark.name for mark in marks.iterdir()] == [str(with_gpu.pid)]


def test_a_cluster_without_workers_is_told(site: Site, marks: Path) -> None:
    with pytest.raises(TurnwiseError, match="the cluster has no workers") as error:
        list(make_executor(f"{site.address}?wait=1").map(workload(marks, Halved), batches(3)))
    assert (error.value.found, error.value.expected) == ("0 after 1 s", "at least 1")


# The scheduler goes away


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_lost_scheduler_ends_the_run_with_a_clear_message(site: Site, marks: Path, how: signal.Signals) -> None:
    site.worker()
    rows: list[BatchRows] = []

    def run() -> None:
        for one in make_executor(site.address).map(workload(marks, Slow, seconds=0.05), batches(2000)):
            rows.append(one)
            if len(rows) == 5:
                site.scheduler.send_signal(how)

    with pytest.raises(TurnwiseError, match="the scheduler is gone") as error:
        run()
    assert error.value.where == site.address
    assert len({one.index for one in rows}) == len(rows) >= 5


def test_a_run_whose_scheduler_was_lost_goes_on_elsewhere(
    site: Site, tmp_path: Path, sqlite_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inline, and lost on a cluster then resumed in processes: the same rows."""
    monkeypatch.setattr("turnwise.dialogue.load.BATCH_EXCHANGES", 2)
    site.worker()
    data, store = written(tmp_path, 40), Store(sqlite_path)

    def run(engine: str, resume: str | None = None) -> Run:
        options = parse_options(SUITE, {**data, "metrics": ["slot_accuracy"], "resamples": 100, "engine": engine})
        return run_job(SUITE, options, store=store, resume=resume).run

    expected = kept(store, run("inline"))
    write = Store.write_batch
    written_batches = []

    def write_and_kill(self: Store, *arguments: Any) -> None:
        write(self, *arguments)
        written_batches.append(1)
        if len(written_batches) == 2:
            site.scheduler.kill()
            site.scheduler.wait()

    monkeypatch.setattr(Store, "write_batch", write_and_kill)
    with pytest.raises(TurnwiseError, match="the scheduler is gone") as error:
        run(site.address)
    lost = store.run("latest")
    assert lost.status == "failed"
    assert f"--resume {lost.id}" in str(error.value.remedy)
    before = len(store.done_batches(lost))
    assert 2 <= before < 40
    ended = run("processes:2", lost.id)
    assert (ended.id, ended.status) == (lost.id, "finished")
    assert kept(store, ended) == expected
    assert len(written_batches) == 40, "nothing was written twice"
    store.close()


def written(folder: Path, dialogues: int) -> dict[str, Path]:
    """References and predictions of some dialogues of two exchanges."""
    files = {name: folder / f"{name}.jsonl" for name in ("references", "predictions")}
    for file in files.values():
        lines = [
            json.dumps(
                {"dialogue_id": f"d{d}", "turn_id": turn, "state": {"hotel-area": f"{file.stem[: d % 5]}{turn}"}}
            )
            for d in range(dialogues)
            for turn in range(2)
        ]
        file.write_text("\n".join(lines) + "\n")
    return files
