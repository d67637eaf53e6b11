"""The same function called many times, in processes of this machine: for work before and after the measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import wait
from typing import Any, TypeVar

from turnwise.engine.executors.chunks import pickled
from turnwise.engine.executors.member import Member

T = TypeVar("T")
AHEAD = 2
"""Calls that another process has in hand: one it works on, one that is there when it is done."""


def in_parallel(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: int) -> Iterator[T]:
    """What a function gives for each call, in their order. This process is one of the workers.

    The first error, in the order of the calls, is raised. A process that is killed costs time: what is missing is
    done here.
    """
    others = min(workers, len(calls)) - 1
    if others < 1:
        yield from (function(*call) for call in calls)
        return
    shared = _Shared(function, calls, others)
    try:
        for place in range(len(calls)):
            outcome = shared.outcome(place)
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        shared.dismiss()


class _Shared:
    """Calls that others do from the front, and this process from the back while it waits for them."""

    def __init__(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], others: int) -> None:
        self._work, self._calls = partial(_called, function), calls
        work = pickled(self._work, "a function of this run")
        self._members = [Member(work, 1) for _ in range(others)]
        self._left = list(range(len(calls)))[::-1]
        """What nobody has begun, the first calls last."""
        self._outcomes: dict[int, Any] = {}

    def outcome(self, place: int) -> Any:
        """What came of a call, or the exception that it raised."""
        while place not in self._outcomes:
            self._collect()
            for ahead in range(1, AHEAD + 1):
                for member in self._members:
                    # Of the last calls one is left for this process, rather than for others to have it in hand.
                    if len(member.in_hand) < ahead and len(self._left) >= ahead:
                        number = self._left.pop()
                        member.give(number, self._calls[number], number)
            if place in self._outcomes:
                break
            if self._left:
                number = self._left.pop(0)
                self._outcomes[number] = self._done_here(number)
            else:
                wait([one.connection for one in self._members] + [one.process.sentinel for one in self._members])
        return self._outcomes.pop(place)

    def _collect(self) -> None:
        for member in list(self._members):
            alive = member.process.is_alive()  # asked first: what it sent before it died is still read
            while (received := member.received()) is not None:
                self._outcomes[received[0]] = received[1]
            if not alive or member.ended:
                self._members.remove(member)
                member.dismiss()
                self._left += sorted((number for number, _ in member.in_hand), reverse=True)

    def _done_here(self, number: int) -> Any:
        try:
            return self._work(self._calls[number])
        except Exception as error:  # raised when its turn comes
            return error

    def dismiss(self) -> None:
        while self._members:
            self._members.pop().dismiss()


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)
