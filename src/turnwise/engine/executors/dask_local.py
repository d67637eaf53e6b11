"""A Dask cluster of one run, on this machine: a scheduler in this process, and worker processes that are looked after.

Dask's own guardian of workers (the nanny) gives up on one that dies while it starts, and lets Ctrl-C through to it.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import dask
from distributed import LocalCluster, Worker

from turnwise.engine.executors.nursery import hire
from turnwise.engine.executors.worker import prepare_process
from turnwise.kernel.cores import cores

NO_TRACE = logging.CRITICAL + 1
LOOPBACK = "127.0.0.1"
ANY_PORT = f"{LOOPBACK}:0"
_LOGGERS = ("distributed", "tornado", "asyncio")
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
}
"""What Dask looks at all the time, and nobody here asks for: what is running (a profile), how busy its loop is (fifty
times a second), the load of the machine, copies of results to be thrown away. Each look interrupts whatever is being
measured; together they cost a tenth of its speed."""


class OwnCluster:
    """As many worker processes of one thread as are wanted; reached by nobody else, gone with this process."""

    def __init__(self, count: int, *, script: bool = False) -> None:
        """`script`: the workers also need what the user's script defines."""
        self._count, self._script = count, script
        self._processes: list[BaseProcess] = []
        with quiet():
            self._cluster: Any = LocalCluster(
                n_workers=0,
                host=LOOPBACK,
                dashboard_address=ANY_PORT,  # None would take Dask's usual port, on every network
                silence_logs=False,
                # Every death is told at once: how often a task may kill its worker is counted in one place, the ledger.
                scheduler_kwargs={"allowed_failures": 0},
            )
        self.address = str(self._cluster.scheduler_address)
        self._scratch = TemporaryDirectory(prefix="turnwise-dask-", ignore_cleanup_errors=True)
        self.folder = self._scratch.name
        try:
            self.look_after()
        except BaseException:
            self.close()
            raise

    def look_after(self) -> None:
        """Start the workers that are not there, at first and whenever one has died."""
        for process in [one for one in self._processes if not one.is_alive()]:
            self._processes.remove(process)
            process.close()
        while len(self._processes) < self._count:
            self._processes.append(self._started())

    def _started(self) -> BaseProcess:
        threads = max(1, cores() // self._count)
        arguments = self.address, self.folder, dict(os.environ), threads
        return hire(run_worker, arguments, "turnwise dask worker", script=self._script)

    def close(self) -> None:
        """End everybody at once: they hold nothing that is not measured again."""
        for process in self._processes:
            process.kill()
        while self._processes:
            process = self._processes.pop()
            process.join()
            process.close()
        with suppress(Exception):
            self._cluster.close(timeout=5)
        self._scratch.cleanup()


def quiet() -> Any:
    """What begins inside, of Dask, keeps still while it has nothing to do."""
    return dask.config.set(QUIET)


def run_worker(address: str, folder: str, environment: Mapping[str, str], threads: int) -> None:
    """A worker, for as long as its scheduler or its parent lives; the main function of a process."""
    prepare_process(environment, threads)
    Thread(target=_follow_parent, args=(folder,), daemon=True).start()
    with hushed(), suppress(Exception), quiet():
        asyncio.run(_work(address, folder))


async def _work(address: str, folder: str) -> None:
    options: dict[str, Any] = {"nthreads": 1, "host": LOOPBACK, "memory_limit": 0, "local_directory": folder}
    async with Worker(address, dashboard=False, dashboard_address=ANY_PORT, **options) as worker:
        await worker.finished()


def _follow_parent(folder: str) -> None:
    """A parent that is killed cannot end its workers, who would wait for work for ever, nor clear its folder."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


@contextmanager
def hushed() -> Iterator[None]:
    """Dask tells its troubles in its log; what matters of them becomes an error of ours."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOGGERS]
    before = {name: logging.getLogger(name).level for name in [*names, *_LOGGERS]}
    for name in before:
        logging.getLogger(name).setLevel(NO_TRACE)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
