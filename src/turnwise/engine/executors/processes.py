"""Measure in worker processes on this machine. The store is written by the parent alone."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from turnwise.kernel.errors import TurnwiseError
from turnwise.store.run import BatchRows

_work: Callable[[Any], BatchRows]


class ProcessExecutor:
    """A pool that is never more than two batches per worker ahead, so memory stays bounded."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Iterator[BatchRows]:
        """The rows of each batch, as they are ready."""
        pool = ProcessPoolExecutor(
            self.workers,
            # Not "fork": a forked copy of a parent with threads or database connections may hang.
            mp_context=multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn"),
            initializer=_start,
            initargs=(work,),
        )
        waiting: set[Future[BatchRows]] = set()
        try:
            for batch in batches:
                waiting.add(pool.submit(_measure, batch))
                if len(waiting) >= 2 * self.workers:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool as error:
            raise TurnwiseError(
                "a worker process died",
                found="it was killed, or ran out of memory",
                remedy="use fewer --workers, or --executor inline",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _start(work: Callable[[Any], BatchRows]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_follow_parent, daemon=True).start()
    _work = work


def _follow_parent() -> None:
    """A parent that is killed cannot end its workers, and they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _measure(batch: Any) -> BatchRows:
    return _work(batch)
