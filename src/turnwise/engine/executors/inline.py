"""Measure in this process, one batch after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from turnwise.kernel.threads import one_thread
from turnwise.store.run import BatchRows


class InlineExecutor:
    """No processes, no copies."""

    workers = 1
    in_flight = 0

    def __init__(self) -> None:
        self.chunks_done = 0

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Generator[BatchRows]:
        """The rows of each batch, in order."""
        for batch in batches:
            with one_thread():
                rows = work(batch)
            self.chunks_done += 1
            yield rows
