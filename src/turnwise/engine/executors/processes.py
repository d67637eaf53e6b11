"""Measure in worker processes on this machine. The store is written by the parent alone.

A worker that dies costs what it had in hand, which is measured again elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import partial
from multiprocessing.connection import wait
from typing import Any

from turnwise.engine.executors.chunks import Measured, perform, pickled
from turnwise.engine.executors.ledger import Counted, Ledger, handed_out
from turnwise.engine.executors.member import Member
from turnwise.kernel.cores import cores
from turnwise.store.run import BatchRows

AHEAD = 2
"""Tasks a worker has in hand: one it works on, one that is there when it is done (but for the last ones)."""


class ProcessExecutor(Counted):
    """Worker processes; never more than two chunks per worker are under way, so memory stays bounded."""

    def __init__(self, workers: int | None = None) -> None:
        self._most = workers or cores()
        self._team: Team | None = None

    @property
    def workers(self) -> int:
        """Processes at work now."""
        return len(self._team.members) if self._team else 0

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Generator[BatchRows]:
        """The rows of each batch, as they are ready."""
        self._ledger = ledger = Ledger(work, batches, self._most)
        self._team = team = Team(self._most, pickled(partial(perform, work), "a metric of this run"))
        try:
            team.occupy(ledger)
            while team.busy:
                rows = team.collect(ledger)
                team.occupy(ledger)  # before the rows are handed out: writing them takes a while
                yield from handed_out(rows)
            ledger.check_complete()
        finally:
            team.dismiss()


class Team:
    """The worker processes of a run, started as there is work for them."""

    def __init__(self, most: int, work: bytes) -> None:
        self._most, self._work = most, work
        self._threads = max(1, cores() // most)
        self.members: list[Member] = []

    @property
    def busy(self) -> bool:
        """Whether anybody has something in hand."""
        return any(member.in_hand for member in self.members)

    def occupy(self, ledger: Ledger) -> None:
        """Give everybody something to do, as far as there is something."""
        while self._has_room(1 if ledger.ending else AHEAD) and (entry := ledger.next()):
            member = min(self.members, key=lambda one: len(one.in_hand), default=None)
            if member is None or (member.in_hand and len(self.members) < self._most):
                member = self._hire()
            member.give(entry.task, entry)

    def _has_room(self, ahead: int) -> bool:
        return len(self.members) < self._most or any(len(member.in_hand) < ahead for member in self.members)

    def _hire(self) -> Member:
        self.members.append(Member(self._work, self._threads))
        return self.members[-1]

    def collect(self, ledger: Ledger) -> list[BatchRows]:
        """Wait until somebody is done, or dead; the rows of what is complete with one task.

        What others have sent stays in their pipes: unpickled, it takes several times as much memory.
        """
        watched = {one.connection: one for one in self.members} | {one.process.sentinel: one for one in self.members}
        member = watched[wait(list(watched))[0]]  # type: ignore[index]
        self.members.remove(member)
        self.members.append(member)  # the next time it is somebody else's turn
        alive = member.process.is_alive()  # asked first: what it sent before it died is still read
        received = member.received()
        if received is None:
            return [] if alive and not member.ended else self._lost(member, ledger)
        entry, outcome = received
        if isinstance(outcome, BaseException):
            raise outcome
        assert isinstance(outcome, Measured)
        return ledger.done(entry, outcome)

    def _lost(self, member: Member, ledger: Ledger) -> list[BatchRows]:
        """A dead worker: what it worked on is suspicious, what only waited is not."""
        self.members.remove(member)
        member.dismiss()
        rows = ledger.died(member.in_hand.popleft()) if member.in_hand else []
        for entry in member.in_hand:
            ledger.returned(entry)
        return rows

    def dismiss(self) -> None:
        """End everybody."""
        for member in self.members:
            member.process.kill()
        while self.members:
            self.members.pop().dismiss()
