"""Measure in this process, one batch after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from turnwise.store.run import BatchRows


class InlineExecutor:
    """No processes, no copies."""

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Iterator[BatchRows]:
        """The rows of each batch, in order."""
        return map(work, batches)
