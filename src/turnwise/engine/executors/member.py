"""A worker process as its parent sees it: what it was given, and what it sent back."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections import deque
from contextlib import suppress
from typing import Any

from turnwise.engine.executors.nursery import hire, needs_script
from turnwise.engine.executors.worker import serve


class Member:
    """A process that applies one function to whatever it is sent, one thing after the other."""

    def __init__(self, work: bytes, threads: int) -> None:
        """`work` is the function, pickled; `threads`: how many of its libraries may use."""
        self.connection, theirs = multiprocessing.Pipe()
        arguments = theirs, dict(os.environ), threads
        self.process = hire(serve, arguments, "turnwise worker", script=needs_script(work))
        theirs.close()
        self.ended = False
        self.in_hand: deque[Any] = deque()
        """What it was given and has not sent back, in that order."""
        self._send(work)

    def give(self, argument: Any, what: Any) -> None:
        """Something to do; `what` says whose it is when it comes back."""
        self.in_hand.append(what)
        self._send(pickle.dumps(argument, protocol=5))

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # one that has just died is noticed when its answer is waited for
            self.connection.send_bytes(message)

    def received(self) -> tuple[Any, Any] | None:
        """What was in hand and is done now, and what came of it; None where that is nothing, or it has ended."""
        try:
            if not self.connection.poll():
                return None
            content = self.connection.recv_bytes()
        except (EOFError, OSError):  # it may die in the middle of a message
            self.ended = True
            return None
        return self.in_hand.popleft(), pickle.loads(content)  # noqa: S301  (our own worker sent it)

    def dismiss(self) -> None:
        """End it at once: it holds nothing that is not done again."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()
