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
    """What a function gives for each call, in their order. This process is one of the workers.

    The first error, in the order of the calls, is raised. A process that is killed costs time: what is missing is
    done here.
    """
    others = min(workers, len(calls)) - 1
    if others < 1:
        yield from (function(*call) for call in calls)
        return
    pool = ProcessPoolExecutor(others, multiprocessing.get_context(METHOD), prepare_process, (dict(os.environ), 1))
    try:
        with script_left_alone():
            futures = [pool.submit(function, *call) for call in calls]
        last = len(calls)
        for place, call in enumerate(calls):
            while place < last - 1 and not futures[place].done():  # until it is there, work from the other end
                last -= 1
                if futures[last].cancel():  # which nobody has begun
                    futures[last] = _done_here(function, calls[last])
            yield _result(futures[place], function, call)
            futures[place] = Future()  # what it gave may be large
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _done_here(function: Callable[..., T], call: tuple[Any, ...]) -> Future[T]:
    made: Future[T] = Future()
    try:
        made.set_result(function(*call))
    except Exception as error:  # raised when its turn comes
        made.set_exception(error)
    return made


def _result(future: Future[T], function: Callable[..., T], call: tuple[Any, ...]) -> T:
    try:
        return future.result()
    except BrokenProcessPool:
        return function(*call)
