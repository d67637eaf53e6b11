"""A clock for frames that does not drift: every frame has its moment, counted from the beginning.

Sleeping 20 ms after each frame adds up what sending takes and how late the sleep ends; here a late frame is sent at
once, and the next one is due when it always was.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np

FRAME_S = 0.02


class FrameClock:
    """Milliseconds since a moment, and frames at their moments."""

    def __init__(self, start: float | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self.start = self._loop.time() if start is None else start
        self.lateness: list[float] = []
        """Milliseconds by which each frame came after its moment."""

    @property
    def now(self) -> float:
        """Milliseconds since the start, on a monotonic clock; to the microsecond, as a log keeps them."""
        return round(1000 * (self._loop.time() - self.start), 3)

    async def frames(self) -> AsyncIterator[int]:
        """The numbers of the frames, each at its moment or as soon after it as can be."""
        number = 0
        while True:
            due = self.start + number * FRAME_S
            wait = due - self._loop.time()
            # A late frame still lets the others run; otherwise one that is behind would never let them.
            await asyncio.sleep(max(0.0, wait))
            self.lateness.append(1000 * (self._loop.time() - due))
            yield number
            number += 1

    def summary(self) -> dict[str, float]:
        """How punctual the frames were."""
        if not self.lateness:
            return {"frames": 0}
        p50, p99 = np.percentile(self.lateness, [50, 99])
        return {
            "frames": len(self.lateness),
            "late_p50_ms": round(float(p50), 3),
            "late_p99_ms": round(float(p99), 3),
            "late_max_ms": round(max(self.lateness), 3),
            "drift_ms": round(self.lateness[-1], 3),
        }
