"""Where batches are measured: in this process, or in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from turnwise.kernel.errors import UsageError, near_misses
from turnwise.store.run import BatchRows

NAMES = ("inline", "processes")


class Executor(Protocol):
    """Something that measures batches; results may come in any order."""

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Iterator[BatchRows]:
        """The rows of each batch."""
        ...


def make_executor(name: str, workers: int | None = None) -> Executor:
    """The executor of that name."""
    if name == "inline":
        from turnwise.engine.executors.inline import InlineExecutor

        return InlineExecutor()
    if name == "processes":
        from turnwise.engine.executors.processes import ProcessExecutor

        return ProcessExecutor(workers)
    raise UsageError(
        f"there is no executor {name!r}", expected=" or ".join(NAMES), remedy=near_misses(name, NAMES) or None
    )
