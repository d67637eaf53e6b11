"""What is sent together: the frames of a moment leave one right after the other, once all of them are made.

Whoever receives them then wakes up once for many; each waking costs both sides more than a frame does.
"""

from __future__ import annotations

from typing import Any


class Outbox:
    """Writes at once, or at the end of the block that it is used for."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, bytes]] | None = None

    def write(self, transport: Any, data: bytes) -> None:
        """Hand data to a transport."""
        if self._waiting is None:
            transport.write(data)
        else:
            self._waiting.append((transport, data))

    def __enter__(self) -> None:
        self._waiting = []

    def __exit__(self, *_: object) -> None:
        waiting, self._waiting = self._waiting or [], None
        for transport, data in waiting:
            transport.write(data)
