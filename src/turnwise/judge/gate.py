"""Waiting for one's turn: requests go through as the limiter lets them, those that were refused before go first."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque

from turnwise.judge.limiter import Limiter, Ticket


class Closed(Exception):
    """No more requests are to be sent."""


class Gate:
    """The limiter's door."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self._first: deque[asyncio.Future[Ticket]] = deque()
        self._later: deque[asyncio.Future[Ticket]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._closing = asyncio.Event()

    async def enter(self, *, again: bool = False) -> Ticket:
        """Wait for one's turn; `again` for a request that has waited before."""
        if self._closing.is_set():
            raise Closed
        turn: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        (self._first if again else self._later).append(turn)
        self._let_through()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.dropped(turn.result())
            raise

    def answered(self, ticket: Ticket) -> None:
        """A request was answered."""
        self.limiter.answered(ticket, time.monotonic())
        self._let_through()

    def refused(self, ticket: Ticket, retry_after: float | None) -> None:
        """A request was refused."""
        self.limiter.refused(ticket, time.monotonic(), retry_after)
        self._let_through()

    def dropped(self, ticket: Ticket) -> None:
        """A request came to nothing."""
        self.limiter.dropped(ticket)
        self._let_through()

    async def sleep(self, seconds: float) -> None:
        """Wait before another try; shorter if the gate closes."""
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return
        raise Closed

    def close(self) -> None:
        """Let nobody through any more."""
        self._closing.set()
        if self._timer is not None:
            self._timer.cancel()
        for turn in (*self._first, *self._later):
            if not turn.done():
                turn.set_exception(Closed())

    def _let_through(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while not self._closing.is_set() and (turn := self._next()) is not None:
            now = time.monotonic()
            delay = self.limiter.delay(now)
            if delay > 0:
                if delay < math.inf:
                    self._timer = asyncio.get_running_loop().call_later(delay, self._let_through)
                return
            (self._first or self._later).popleft()
            turn.set_result(self.limiter.send(now))

    def _next(self) -> asyncio.Future[Ticket] | None:
        for line in (self._first, self._later):
            while line and line[0].done():
                line.popleft()
            if line:
                return line[0]
        return None
