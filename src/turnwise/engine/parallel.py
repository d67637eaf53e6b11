"""The same function called many times, in processes of this machine: for work before and after the measuring."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from turnwise.engine.executors.nursery import METHOD, script_left_alone
from turnwise.engine.executors.worker import prepare_process

T = TypeVar("T")


def in_parallel(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: int) -> Iterator[T]:
    """What a function gives for each call, in their order; with one worker, in this process.

    The first error, in the order of the calls, is raised. A process that is killed costs time: what is missing is
    done here.
    """
    if min(workers, len(calls)) < 2:
        yield from (function(*call) for call in calls)
        return
    pool = ProcessPoolExecutor(
        min(workers, len(calls)), multiprocessing.get_context(METHOD), prepare_process, (dict(os.environ), 1)
    )
    try:
        with script_left_alone():
            futures = [pool.submit(function, *call) for call in calls]
        yield from (_result(future, function, call) for future, call in zip(futures, calls, strict=True))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[T], function: Callable[..., T], call: tuple[Any, ...]) -> T:
    try:
        return future.result()
    except BrokenProcessPool:
        return function(*call)
