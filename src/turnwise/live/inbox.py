"""Messages that have arrived and wait to be read, of every call of a process.

When something arrived is noted at once; what it says can wait until no frame is due. So a burst of messages delays
neither the frames that are sent nor the times that are noted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from turnwise.live.clock import Metronome

LONGEST_S = 0.002
"""Reading pauses after so long, to see what else has arrived."""


class Reader(Protocol):
    """Somebody who has messages to read."""

    def read_one(self) -> bool:
        """Read a message; whether there are more. Must not raise."""


class Inbox:
    """Lets everybody read in turn, between frames."""

    def __init__(self, metronome: Metronome) -> None:
        self._loop = asyncio.get_running_loop()
        self._metronome = metronome
        self._ready: deque[Reader] = deque()
        self._working = False

    def wake(self, reader: Reader) -> None:
        """Somebody who had nothing to read has something now."""
        self._ready.append(reader)
        if not self._working:
            self._working = True
            self._loop.call_soon(self._work)

    def _work(self) -> None:
        """Read until a frame is due, but one message at least."""
        until = min(self._loop.time() + LONGEST_S, self._metronome.due)
        while self._ready:
            reader = self._ready.popleft()
            if reader.read_one():
                self._ready.append(reader)
            if self._loop.time() >= until:
                break
        self._working = bool(self._ready)
        if self._working:
            self._loop.call_soon(self._work)
