"""What is made once per process, however many threads ask for it at the same time: models, above all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from threading import RLock
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class once(Generic[P, T]):  # noqa: N801  (a decorator)
    """Remember what a function gives for its arguments, as `functools.cache` does; whoever asks meanwhile waits."""

    def __init__(self, function: Callable[P, T]) -> None:
        self._made = cache(function)
        self._lock = RLock()  # making one model may take another
        self.cache_clear = self._made.cache_clear
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        """What was made, now or before."""
        with self._lock:
            return self._made(*arguments, **named)  # type: ignore[arg-type]
