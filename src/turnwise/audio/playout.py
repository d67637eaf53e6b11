"""When audio that arrived is heard: a listener's queue, simulated.

A live system sends audio faster than it can be heard. A chunk begins when it has arrived and the one before it has
ended; a stop message throws away what has not been heard yet.
"""

from __future__ import annotations

from dataclasses import dataclass

_SOONEST = 1e-9


@dataclass(slots=True)
class Chunk:
    """A piece of audio in the queue of a listener; times in milliseconds."""

    number: int
    arrived: float
    start: float
    end: float
    response: str | None = None
    cut: bool = False
    """Whether its end, or all of it, was thrown away."""

    @property
    def heard(self) -> float:
        """Milliseconds that were heard."""
        return max(0.0, self.end - self.start)


class Playout:
    """The queue of one listener; moments must not go back."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._free = float("-inf")

    def add(self, number: int, arrived: float, duration: float, response: str | None = None) -> Chunk:
        """Audio that arrived; it is heard after what came before."""
        start = max(arrived, self._free)
        chunk = Chunk(number, arrived, start, start + duration, response)
        self.chunks.append(chunk)
        self._free = chunk.end
        return chunk

    def stop(self, at: float) -> list[Chunk]:
        """Throw away what has not been heard at a moment; what was cut by it."""
        cut = []
        for chunk in reversed(self.chunks):
            if not chunk.cut and chunk.end <= at + _SOONEST:
                break
            if not chunk.cut:
                chunk.end = max(chunk.start, at)
                chunk.cut = True
                cut.append(chunk)
        self._free = min(self._free, at)
        return cut[::-1]

    def keep(self, response: str | None, duration: float, at: float) -> list[Chunk]:
        """Of a response only so much is to be heard; what has been heard already cannot be taken back."""
        cut, left = [], duration
        for chunk in self.chunks:
            if chunk.response != response:
                continue
            wanted = max(min(chunk.heard, left), min(chunk.end, at) - chunk.start, 0.0)
            left -= chunk.heard
            if wanted < chunk.heard - _SOONEST:
                chunk.end, chunk.cut = chunk.start + wanted, True
                cut.append(chunk)
        heard = max((chunk.end for chunk in self.chunks if chunk.heard), default=at)
        self._free = min(self._free, max(at, heard))
        return cut

    def heard_of(self, response: str | None, at: float) -> float:
        """Milliseconds of a response that were heard by a moment."""
        own = (chunk for chunk in self.chunks if chunk.response == response)
        return sum(max(0.0, min(chunk.end, at) - chunk.start) for chunk in own)

    @property
    def free(self) -> float:
        """When everything that arrived has been heard."""
        return self._free

    def playing(self, at: float) -> Chunk | None:
        """What is heard at a moment."""
        return next((chunk for chunk in reversed(self.chunks) if chunk.start <= at < chunk.end), None)
