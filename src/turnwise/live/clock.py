"""A clock for frames that does not drift: every frame has its moment, counted from the beginning.

Sleeping 20 ms after each frame adds up what sending takes and how late the sleep ends; here a late frame is sent at
once, and the next one is due when it always was. One timer serves every call of a process, and calls share a few
moments within every 20 ms: to wake up for each of a hundred callers costs more than their frames do.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from turnwise.live.outbox import Outbox

FRAME_S = 0.02
SECOND = 50
"""Frames of a second."""
SLOTS = 4
"""Moments within the time of a frame at which calls may begin: not all at once, and few enough to be done together."""


class FrameClock:
    """Milliseconds since a moment, and how punctual the frames were."""

    def __init__(self, start: float | None = None) -> None:
        self._time = asyncio.get_running_loop().time
        self.start = self._time() if start is None else start
        self.lateness: list[float] = []
        """Milliseconds by which each frame came after its moment."""

    @property
    def now(self) -> float:
        """Milliseconds since the start, on a monotonic clock; to the microsecond, as a log keeps them."""
        return round(1000 * (self._time() - self.start), 3)

    def frame(self, due: float) -> float:
        """A frame that was due at a moment of the event loop is sent now: this is the time on this clock."""
        moment = self._time()
        self.lateness.append(1000 * (moment - due))
        return round(1000 * (moment - self.start), 3)

    def summary(self) -> dict[str, float]:
        """How punctual the frames were; the drift is by how much later they came at the end than in the beginning."""
        if not self.lateness:
            return {"frames": 0}
        p50, p99 = np.percentile(self.lateness, [50, 99])
        drift = np.median(self.lateness[-SECOND:]) - np.median(self.lateness[:SECOND])
        return {
            "frames": len(self.lateness),
            "late_p50_ms": round(float(p50), 3),
            "late_p99_ms": round(float(p99), 3),
            "late_max_ms": round(max(self.lateness), 3),
            "drift_ms": round(float(drift), 3),
        }


@dataclass(eq=False, slots=True)
class _Beat:
    """The frames of one call."""

    start: float
    frame: Callable[[float], bool]
    over: asyncio.Future[None]
    number: int = 0


class Metronome:
    """Calls everybody's frames at their moments, as long as they want more."""

    def __init__(self, outbox: Outbox) -> None:
        self._loop = asyncio.get_running_loop()
        self._outbox = outbox
        self._due: list[tuple[float, int, _Beat]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def due(self) -> float:
        """When the next frame of anybody is due."""
        return self._due[0][0] if self._due else math.inf

    async def beginning(self, place: int) -> float:
        """Wait for the next moment at which the call of this place may begin; the moment."""
        frames = math.floor(self._loop.time() / FRAME_S) + 1
        moment = (frames + place % SLOTS / SLOTS) * FRAME_S
        await asyncio.sleep(moment - self._loop.time())
        return moment

    def keep(self, start: float, frame: Callable[[float], bool]) -> asyncio.Future[None]:
        """Call `frame` with its moment every 20 ms from `start` on until it is false; the future tells when it was.

        What `frame` raises is raised by the future; who cancels the future is called no more.
        """
        beat = _Beat(start, frame, self._loop.create_future())
        self._add(beat)
        self._wait()
        return beat.over

    def _add(self, beat: _Beat) -> None:
        self._count += 1
        heappush(self._due, (beat.start + beat.number * FRAME_S, self._count, beat))

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._due[0][0], self._round) if self._due else None

    def _round(self) -> None:
        """One frame of everybody who is due; who is behind gets the next one after messages have been read."""
        now, ready = self._loop.time(), []
        while self._due and self._due[0][0] <= now:
            ready.append(heappop(self._due))
        with self._outbox:
            for due, _, beat in ready:
                if not beat.over.done():
                    self._call(beat, due)
        self._wait()

    def _call(self, beat: _Beat, due: float) -> None:
        try:
            more = beat.frame(due)
        except Exception as error:  # it belongs to whoever waits for this call, and costs no other
            beat.over.set_exception(error)
            return
        beat.number += 1
        if more:
            self._add(beat)
        elif not beat.over.done():
            beat.over.set_result(None)
