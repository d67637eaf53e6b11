"""A running Dask cluster that is slow, or has a worker that hangs: rows arrive all the same, once each."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from faulty import Halved, batches, workload
from test_dask import Site, in_order, marks, site

from turnwise.engine.executors import dask_crew, dask_tasks, make_executor
from turnwise.engine.executors.inline import InlineExecutor
from turnwise.kernel.errors import TurnwiseError

__all__ = ["marks", "site"]

PIECE = 1 << 14


@contextmanager
def slow_link(port: int, bytes_per_second: float) -> Iterator[int]:
    """A port that leads to another one, and lets only so much through on the way back."""
    ready, ports = Event(), list[int]()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rate: float | None) -> None:
        with suppress(OSError):
            while data := await reader.read(PIECE):
                writer.write(data)
                await writer.drain()
                if rate:
                    await asyncio.sleep(len(data) / rate)
        writer.close()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, back, None), pump(there, writer, bytes_per_second))

    async def serve() -> None:
        async with await asyncio.start_server(lead, "127.0.0.1", 0) as server:
            ports.append(server.sockets[0].getsockname()[1])
            ready.set()
            while ready.is_set():
                await asyncio.sleep(0.05)

    thread = Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield ports[0]
    finally:
        ready.clear()
        thread.join(10)


def test_rows_that_take_longer_than_a_look_around_arrive(
    site: Site, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_tasks, "LOOK_S", 0.3)
    site.worker()
    work, numbers = workload(marks, Halved), batches(2, 6000)
    with slow_link(int(site.address.rpartition(":")[2]), 500_000) as port:  # about a megabyte in all
        rows = make_executor(f"tcp://127.0.0.1:{port}").map(work, numbers)
        assert in_order(rows) == list(InlineExecutor().map(work, numbers))


def test_a_worker_that_hangs_holds_up_nobody_else(
    site: Site, marks: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dask_crew, "SILENT_S", 1.0)
    site.worker("--name", "well")
    hanging = site.worker("--name", "hanging")
    wait_for_workers(site, 2)
    os.kill(hanging.pid, signal.SIGSTOP)
    work, numbers = workload(marks, Halved), batches(20)
    executor = make_executor(site.address)
    begun = time.monotonic()
    assert in_order(executor.map(work, numbers)) == list(InlineExecutor().map(work, numbers))
    assert executor.workers == 1
    assert time.monotonic() - begun < dask_crew.SILENT_AGAIN_S
    assert [record.message for record in caplog.records if "does not answer" in record.message]


def test_workers_that_all_hang_are_told(site: Site, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_crew, "SILENT_S", 0.5)
    worker = site.worker()
    wait_for_workers(site, 1)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(TurnwiseError, match="the cluster has no workers") as error:
        list(make_executor(f"{site.address}?wait=2").map(workload(marks, Halved), batches(3)))
    assert error.value.found == "1 after 2 s, 1 of which do not answer"


def wait_for_workers(site: Site, count: int) -> None:
    import distributed

    with distributed.Client(site.address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
