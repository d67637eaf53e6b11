"""Ctrl-C while there is something to bring to an end: the first one asks for it, the second one does not wait."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_to(first: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `first`, the next raises KeyboardInterrupt; outside the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            raise KeyboardInterrupt
        first()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C waits until what is inside is done; the second one does not."""
    pressed = False

    def note() -> None:
        nonlocal pressed
        pressed = True

    try:
        with interrupts_to(note):
            yield
    finally:
        if pressed:
            signal.raise_signal(signal.SIGINT)
