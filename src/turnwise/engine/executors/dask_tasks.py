"""Tasks on their way to the workers of a Dask cluster and back: what was sent where, and what became of it.

Imported only where the package `distributed` is there.
"""

from __future__ import annotations

import pickle
import time
import warnings
from asyncio import CancelledError
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from distributed import KilledWorker

from turnwise.engine.executors.chunks import Measured
from turnwise.engine.executors.dask_crew import LOOK_S, SOON_S, Crew
from turnwise.engine.executors.dask_worker import NotDelivered, Refusal, perform_here
from turnwise.engine.executors.ledger import Entry, Ledger
from turnwise.engine.executors.parcel import unpacked
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.run import BatchRows

AHEAD = 2
"""Tasks per thread under way: one being worked on, one that is there when it is done."""


class Sent(NamedTuple):
    """A task under way."""

    future: Any
    entry: Entry
    only: frozenset[str]
    """The workers it may go to; empty for any."""
    trial: bool
    """Whether it went to one worker, which may well die of it."""
    at: float


class WorkerLost(Exception):
    """What a task made is gone, with the workers that it was meant for or the file that it was in."""


class Tasks:
    """What a crew has in hand."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._sent: dict[str, Sent] = {}
        self._numbers = iter(range(1 << 62))
        self._finished: SimpleQueue[str] = SimpleQueue()

    def occupy(self, ledger: Ledger) -> None:
        """Send tasks, as far as there are some and workers for them."""
        most = (1 if ledger.ending else AHEAD) * self._crew.threads
        while ledger.in_flight < most and (entry := ledger.next()):
            self._send(entry)

    def _send(self, entry: Entry) -> None:
        crew = self._crew
        # Dask gives the task of a dead worker to the next one, up to four times, before it tells. A suspect goes to one
        # worker and nowhere else: its death is seen at once, and costs no other.
        trial = entry.suspect is not None and not crew.tells_every_death
        if trial and crew.since_look > SOON_S:  # a worker that has just died must not be blamed on it
            crew.look()
        crew.await_anybody()
        only = frozenset([next(iter(crew.workers))] if trial else crew.workers if crew.left_out else ())
        options: dict[str, Any] = {"workers": list(only)} if only else {}
        if crew.resources:
            options["resources"] = crew.resources
        key = f"turnwise-{crew.token}-{next(self._numbers)}"
        with warnings.catch_warnings(), crew.or_gone():  # a chunk of long records is large, and meant to be
            warnings.simplefilter("ignore")
            future = crew.client.submit(perform_here, crew.token, entry.task, key=key, pure=False, **options)
        self._sent[key] = Sent(future, entry, only, trial, time.monotonic())
        future.add_done_callback(lambda done: self._finished.put(done.key))

    def collect(self, ledger: Ledger) -> list[BatchRows]:
        """Wait until something comes back, or is known to be lost; the rows of what is complete with one task."""
        while True:
            if self._crew.since_look > self._patience():
                self._crew.look()
                if (lost := self._lost(ledger)) is not None:
                    return lost
            try:
                key = self._finished.get(timeout=self._patience())
            except Empty:
                continue
            if key in self._sent:
                return self._came_back(self._sent.pop(key), ledger)

    def _patience(self) -> float:
        """Seconds until the next look: soon after a trial has begun, then ever more seldom."""
        trials = [time.monotonic() - sent.at for sent in self._sent.values() if sent.trial]
        return min([self._crew.patience, *(max(SOON_S, waited / 4) for waited in trials)])

    def _lost(self, ledger: Ledger) -> list[BatchRows] | None:
        """Tasks that were meant for workers that have gone would wait for ever. None: there was no trial among them."""
        rows: list[BatchRows] | None = None
        there = self._crew.workers.keys()
        for key, sent in list(self._sent.items()):
            if not sent.only or sent.only & there or sent.future.status == "finished":
                continue
            if sent.trial:
                self._recall(key)
                rows = [*(rows or []), *ledger.died(sent.entry)]
            elif there:
                self._recall(key)
                self._send(sent.entry)
        return rows

    def _recall(self, key: str) -> None:
        with self._crew.or_gone():
            self._crew.client.cancel([self._sent.pop(key).future], force=True)

    def _came_back(self, sent: Sent, ledger: Ledger) -> list[BatchRows]:
        try:
            content = self._fetched(sent)
        except KilledWorker as error:
            self._crew.look_soon()  # somebody is missing
            return ledger.died(sent.entry, error.allowed_failures + 1)
        except WorkerLost:
            ledger.returned(sent.entry)
            return []
        except TurnwiseError:
            raise
        except (Exception, CancelledError) as error:
            if sent.future.status != "error":
                raise self._crew.gone() from error
            self._crew.explain(error, anywhere=not sent.only)
            ledger.returned(sent.entry)
            return []
        outcome = pickle.loads(content)  # noqa: S301  (our own task made it)
        if isinstance(outcome, Refusal):
            self._crew.refuse(outcome.address, outcome.reasons)
            ledger.returned(sent.entry)
            return []
        if isinstance(outcome, NotDelivered):
            self._crew.deliver_again(outcome.address)
            ledger.returned(sent.entry)
            return []
        if isinstance(outcome, BaseException):
            raise outcome
        assert isinstance(outcome, Measured)
        return ledger.done(sent.entry, outcome)

    def _fetched(self, sent: Sent) -> bytes:
        """What a task made. A worker may die with it in hand; then it is made again, if there is somebody to do it."""
        coming = self._crew.begun(self._crew.client.gather([sent.future], asynchronous=True))
        try:
            while True:
                try:
                    (found,) = coming.result(timeout=LOOK_S)
                    return unpacked(found)
                except FileNotFoundError as error:  # somebody has cleared the folder: made again, it is sent otherwise
                    raise WorkerLost from error
                except TimeoutError:
                    if coming.done():  # its own
                        raise
                # It may be large, and the way long: what has come so far is kept while we look around.
                self._crew.look()
                if sent.only and not sent.only & self._crew.workers.keys():
                    raise WorkerLost
        finally:
            coming.cancel()

    @property
    def in_flight(self) -> list[Any]:
        """What has been asked for and has not come back."""
        return [sent.future for sent in self._sent.values()]
