"""An event loop whose time is counted, not waited for: what is due happens at once, at exactly its moment."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _NoWaiting(selectors.SelectSelector):
    """Nothing ever arrives; who would wait lets the time pass."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everybody waits for somebody else")
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._selector_of_time = _NoWaiting()
        super().__init__(self._selector_of_time)

    def time(self) -> float:
        return self._selector_of_time.now


def run_virtually(work: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
