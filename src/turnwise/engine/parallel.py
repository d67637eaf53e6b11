"""The same function called many times, in processes of this machine: for work before and after the measuring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import wait
from typing import Any, TypeVar

from turnwise.engine.executors.chunks import pickled
from turnwise.engine.executors.member import Member
from turnwise.kernel.errors import TurnwiseError

T = TypeVar("T")
AHEAD = 2
"""Calls that another process has in hand: one it works on, one that is there when it is done."""
STRIKES = 2
"""So many dead processes are no bad luck."""


def in_parallel(function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: int) -> Iterator[T]:
    """What a function gives for each call, in their order. This process is one of the workers.

    The first error, in the order of the calls, is raised. A process that is killed is replaced, and what it had in hand
    is done again by another, never by this one. A call that has killed two is an error.
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
        self._packed = pickled(self._work, "a function of this run")
        self._left = list(range(len(calls)))[::-1]
        """What nobody has begun, the first calls last."""
        self._outcomes: dict[int, Any] = {}
        self._deaths: Counter[int] = Counter()
        self._dangerous: set[int] = set()
        """What a dead process had in hand: not to be tried in this one."""
        self._members: list[Member] = []
        try:
            for _ in range(others):
                self._members.append(Member(self._packed, 1))
        except BaseException:
            self.dismiss()
            raise

    def outcome(self, place: int) -> Any:
        """What came of a call, or the exception that it raised."""
        while place not in self._outcomes:
            self._collect()
            for ahead in range(1, AHEAD + 1):
                for member in self._members:
                    # Of the last calls one is left for this process, rather than for others to have it in hand.
                    if len(member.in_hand) < ahead and len(self._left) >= ahead:
                        number = self._left.pop()
                        member.give(self._calls[number], number)
            if place in self._outcomes:
                break
            number = next((one for one in self._left if one not in self._dangerous), -1)
            if number >= 0:
                self._left.remove(number)
                self._outcomes[number] = self._done_here(number)
            else:
                wait([one.connection for one in self._members] + [one.process.sentinel for one in self._members])
        return self._outcomes.pop(place)

    def _collect(self) -> None:
        for place, member in enumerate(self._members):
            alive = member.process.is_alive()  # asked first: what it sent before it died is still read
            while (received := member.received()) is not None:
                self._outcomes[received[0]] = received[1]
            if not alive or member.ended:
                self._members[place] = Member(self._packed, 1)
                member.dismiss()
                self._blame(member)

    def _blame(self, member: Member) -> None:
        """What a dead process worked on has probably killed it: what it did before may not have been sent yet."""
        self._dangerous.update(member.in_hand)
        if member.in_hand:
            suspect = member.in_hand[0]
            self._deaths[suspect] += 1
            if self._deaths[suspect] == STRIKES:
                self._outcomes[member.in_hand.popleft()] = _deadly(STRIKES)
        self._left += sorted(member.in_hand, reverse=True)

    def _done_here(self, number: int) -> Any:
        try:
            return self._work(self._calls[number])
        except Exception as error:  # raised when its turn comes
            return error

    def dismiss(self) -> None:
        while self._members:
            self._members.pop().dismiss()


def _deadly(deaths: int) -> TurnwiseError:
    return TurnwiseError(
        "a part of this run kills every process that works on it",
        found=f"{deaths} processes that died",
        remedy="look for the reason in the system's log (often memory), or in the part of the data that it read",
    )


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)
