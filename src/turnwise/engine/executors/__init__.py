"""Where batches are measured: in this process, in worker processes, or on a cluster. The rows are the same.

An executor also says how it stands: `workers` (how many are there now), `in_flight` (chunks under way), `chunks_done`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any, Protocol

from turnwise.kernel.cores import cores
from turnwise.kernel.errors import UsageError, near_misses, shorten
from turnwise.store.run import BatchRows

INLINE, PROCESSES, DASK = "inline", "processes", "dask"
NAMES = (INLINE, PROCESSES, DASK)
ADDRESS = re.compile(r"(tcp|tls)://[^\s/?]+:\d+/?(\?\S*)?")
"""A running scheduler: `tcp://host:8786`, with what its workers must have as `?GPU=1`."""
EXPECTED = "inline or processes or processes:N or dask or dask:N or tcp://HOST:PORT"
MOST_WORKERS = 1024


class Executor(Protocol):
    """Something that measures batches; results may come in any order."""

    @property
    def workers(self) -> int:
        """How many work now."""
        ...

    @property
    def in_flight(self) -> int:
        """Chunks under way."""
        ...

    @property
    def chunks_done(self) -> int:
        """Chunks that came back."""
        ...

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Generator[BatchRows]:
        """The rows of each batch. Closing it ends the workers."""
        ...


def make_executor(engine: str, workers: int | None = None) -> Executor:
    """The executor that `--engine` names.

    Args:
        engine: `inline`, `processes` or `processes:N`, `dask` or `dask:N` (a cluster on this machine, for this run
            alone), or the address of a running Dask scheduler, `tcp://HOST:PORT`.
        workers: how many, where the name does not say it; one per core by default. With an address: how many are
            waited for before work starts; one by default.
    """
    if is_address(engine):
        from turnwise.engine.executors.dask import DaskExecutor

        return DaskExecutor(workers, address=engine)
    name, colon, number = engine.partition(":")
    if name not in NAMES or (name == INLINE and colon):
        raise UsageError(f"there is no engine {engine!r}", expected=EXPECTED, remedy=near_misses(name, NAMES) or None)
    workers = _count(engine, number, workers) if colon else workers
    if name == INLINE:
        from turnwise.engine.executors.inline import InlineExecutor

        return InlineExecutor()
    if name == PROCESSES:
        from turnwise.engine.executors.processes import ProcessExecutor

        return ProcessExecutor(workers)
    from turnwise.engine.executors.dask import DaskExecutor

    return DaskExecutor(workers)


def get_ready(engine: str, workers: int | None, modules: Sequence[str]) -> Executor:
    """The executor, before there is anything to measure: whoever needs a while to import begins to."""
    executor = make_executor(engine, workers)
    if engine.startswith(DASK) or is_address(engine):
        Thread(target=_import_dask, name="turnwise imports dask", daemon=True).start()
    if local_workers(engine, workers) > 1:
        from turnwise.engine.executors.nursery import warm

        dask = [f"{__name__}.dask_local", f"{__name__}.dask_worker"] if engine.startswith(DASK) else []
        warm([f"{__name__}.chunks", *dask, *modules])
    return executor


def _import_dask() -> None:
    with suppress(Exception):  # said when it is needed
        import_module(f"{__name__}.dask_crew")


def is_address(engine: str) -> bool:
    """Whether an engine is a running scheduler, whose workers may be on other machines."""
    return ADDRESS.fullmatch(engine) is not None


def local_workers(engine: str, workers: int | None = None) -> int:
    """How many cores of this machine an engine may use."""
    name, _, number = engine.partition(":")
    return 1 if name not in (PROCESSES, DASK) else int(number or 0) or workers or cores()


def _count(engine: str, number: str, workers: int | None) -> int:
    if not (re.fullmatch(r"[0-9]{1,4}", number) and 1 <= int(number) <= MOST_WORKERS):
        raise UsageError(
            f"{engine!r} does not say how many workers",
            found=shorten(number),
            expected=f"a number from 1 to {MOST_WORKERS}, as in {engine.partition(':')[0]}:4",
        )
    if workers is not None and workers != int(number):
        raise UsageError(f"{engine!r} and {workers} workers contradict each other", remedy="leave one of them out")
    return int(number)
