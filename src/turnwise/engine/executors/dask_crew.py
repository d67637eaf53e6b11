"""The workers of a Dask cluster as the driver sees them: who may take part, what they have in hand, what they send.

Imported only where the package `distributed` is there.
"""

from __future__ import annotations

import logging
import os
import pickle
import time
import warnings
from asyncio import CancelledError
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, KilledWorker

from turnwise.engine.executors.chunks import Measured
from turnwise.engine.executors.dask_local import OwnCluster
from turnwise.engine.executors.dask_worker import Refusal, deliver, forget, perform_here
from turnwise.engine.executors.ledger import Entry, Ledger
from turnwise.engine.executors.versions import Versions, differences, versions_here
from turnwise.kernel.errors import TurnwiseError
from turnwise.store.run import BatchRows

AHEAD = 2
"""Tasks per thread under way: one being worked on, one that is there when it is done."""
LOOK_S = 2.0
"""How often the driver looks who is there."""
CONNECT_S = 10.0
LOG = logging.getLogger("turnwise.engine")


class Sent(NamedTuple):
    """A task under way."""

    future: Any
    entry: Entry
    only: frozenset[str]
    """The workers it may go to; empty for any."""


class Crew:
    """A client of a scheduler, and the workers behind it."""

    def __init__(self, address: str | None, count: int | None, wait_s: float, resources: dict[str, float]) -> None:
        self._wait_s, self._resources = wait_s, resources
        self._count = count or (1 if address else os.cpu_count() or 1)
        self._token = uuid4().hex
        self._sent: dict[str, Sent] = {}
        self._numbers = iter(range(1 << 62))
        self._finished: SimpleQueue[str] = SimpleQueue()
        self._delivery: tuple[bytes, Versions, Versions] = (b"", {}, {})
        self._looked = self._staffed = time.monotonic()
        self.workers: dict[str, int] = {}
        """Threads of each worker that may take part."""
        self.refused: dict[str, list[str]] = {}
        self._cluster: OwnCluster | None = None
        if not address:
            self._cluster = OwnCluster(self._count)
            address = self._cluster.address
        self.address = str(address)
        try:
            self._client = self._connected()
        except BaseException:
            if self._cluster is not None:
                self._cluster.close()
            raise

    def _connected(self) -> Any:
        try:
            # Rows of our own cluster come straight from the workers; elsewhere they may be out of reach.
            direct = True if self._cluster is not None else None
            return Client(self.address, timeout=CONNECT_S, set_as_default=False, direct_to_workers=direct)
        except (OSError, ValueError, TimeoutError) as error:
            raise TurnwiseError(
                "no scheduler answers",
                where=self.address,
                found=f"{type(error).__name__}: {error}",
                expected="a running Dask scheduler",
                remedy="start one (dask scheduler), check the address, or use --engine dask",
            ) from error

    # Who may take part

    def prepare(self, work: bytes, versions: Versions, models: Versions) -> None:
        """Wait for workers, refuse those that differ, bring the workload to the others."""
        # Our own workers run what we run.
        self._delivery = (work, versions, models) if self._cluster is None else (work, {}, {})
        try:
            self._client.wait_for_workers(self._count, timeout=self._wait_s)
        except TimeoutError as error:
            raise self._unstaffed() from error
        self.look()
        if not self.workers:
            raise self._all_refused()

    def look(self) -> None:
        """Who is there; whoever is new is checked and gets the workload."""
        if self._cluster is not None:
            self._cluster.look_after()
        try:
            there = {
                address: int(about["nthreads"])
                for address, about in self._client.scheduler_info()["workers"].items()
                if self._suits(about)
            }
        except Exception as error:  # whatever a broken connection raises
            raise self._gone() from error
        self._looked = time.monotonic()
        new = [address for address in there if address not in self.workers and address not in self.refused]
        self.refused = {address: reasons for address, reasons in self.refused.items() if address in there}
        self._check(new)
        self._deliver([address for address in new if address not in self.refused])
        self.workers = {address: n for address, n in there.items() if address not in self.refused}
        if self.workers:
            self._staffed = self._looked
        elif self._looked - self._staffed > self._wait_s:
            raise self._all_refused() if self.refused else self._unstaffed()

    def _suits(self, about: dict[str, Any]) -> bool:
        owned = about.get("resources") or {}
        return all(owned.get(name, 0) >= wanted for name, wanted in self._resources.items())

    def _check(self, new: Sequence[str]) -> None:
        expected = self._delivery[1]
        if not new or not expected:
            return
        packages = [name for name in expected if name not in ("python", "turnwise")]
        found = self._client.run(versions_here, packages, workers=list(new), on_error="return")
        for address, answer in found.items():
            if isinstance(answer, dict):
                reasons = differences(expected, answer)
            elif isinstance(answer, OSError):
                continue  # it has gone in the meantime
            else:
                reasons = [f"turnwise cannot be used there ({answer})"]
            if reasons:
                self._refuse(address, reasons)

    def _deliver(self, new: Sequence[str]) -> None:
        if not new:
            return
        found = self._client.run(deliver, self._token, *self._delivery, workers=list(new), on_error="return")
        for answer in found.values():
            if isinstance(answer, Exception) and not isinstance(answer, OSError):  # one that has gone is no trouble
                raise self._untaken(answer)

    def _refuse(self, address: str, reasons: list[str]) -> None:
        self.refused[address] = reasons
        self.workers.pop(address, None)
        LOG.warning("the worker %s is not used: %s", address, "; ".join(reasons))

    # Tasks

    def occupy(self, ledger: Ledger) -> None:
        """Send tasks, as far as there are some and workers for them."""
        most = AHEAD * max(1, sum(self.workers.values()))
        while ledger.in_flight < most and (entry := ledger.next()):
            self._send(entry)

    def _send(self, entry: Entry) -> None:
        key = f"turnwise-{self._token}-{next(self._numbers)}"
        only = frozenset(self.workers) if self.refused else frozenset()
        options: dict[str, Any] = {"workers": list(only)} if only else {}
        if self._resources:
            options["resources"] = self._resources
        with warnings.catch_warnings():  # a chunk of long records is large, and meant to be
            warnings.simplefilter("ignore")
            future = self._client.submit(perform_here, self._token, entry.task, key=key, pure=False, **options)
        self._sent[key] = Sent(future, entry, only)
        future.add_done_callback(lambda done: self._finished.put(done.key))

    def collect(self, ledger: Ledger) -> list[BatchRows]:
        """Wait until something comes back; the rows of what is complete."""
        while True:
            if time.monotonic() - self._looked > LOOK_S:
                self.look()
                self._send_elsewhere()
            try:
                keys = [self._finished.get(timeout=LOOK_S)]
            except Empty:
                continue
            with suppress(Empty):
                while True:
                    keys.append(self._finished.get_nowait())
            return [rows for key in keys if key in self._sent for rows in self._came_back(self._sent.pop(key), ledger)]

    def _send_elsewhere(self) -> None:
        """Tasks that were meant for workers that have gone would wait for ever."""
        for key, sent in list(self._sent.items()):
            if sent.only and not sent.only & self.workers.keys() and self.workers:
                del self._sent[key]
                self._client.cancel([sent.future], force=True)
                self._send(sent.entry)

    def _came_back(self, sent: Sent, ledger: Ledger) -> list[BatchRows]:
        try:
            outcome = pickle.loads(self._fetched(sent.future))  # noqa: S301  (our own task made it)
        except KilledWorker:
            self._looked = 0.0  # somebody is missing
            return ledger.died(sent.entry)
        except TurnwiseError:
            raise
        except (Exception, CancelledError) as error:
            if sent.future.status != "error":
                raise self._gone() from error
            self._explain(error)
            ledger.returned(sent.entry)
            return []
        if isinstance(outcome, Refusal):
            self._refuse(outcome.address, outcome.reasons)
            ledger.returned(sent.entry)
            if not self.workers:
                raise self._all_refused()
            return []
        if isinstance(outcome, BaseException):
            raise outcome
        assert isinstance(outcome, Measured)
        return ledger.done(sent.entry, outcome)

    def _fetched(self, future: Any) -> bytes:
        """What a task made. A worker may die with it in hand; then it is made again, if there is somebody to do it."""
        while True:
            try:
                return bytes(future.result(timeout=LOOK_S))
            except TimeoutError:
                self.look()

    def _explain(self, error: BaseException) -> None:
        """A task that could not even begin: on a worker that differs, which is refused, or it ends the run."""
        before = set(self.refused)
        self._check(list(self.workers))
        if not self.refused.keys() - before:
            raise self._untaken(error) from error
        if not self.workers:
            raise self._all_refused()

    # Ends

    def _gone(self) -> TurnwiseError:
        return TurnwiseError(
            "the scheduler is gone",
            where=self.address,
            found="the connection to it is lost; everything that came back before is kept",
            remedy="start it again or use another --engine",
        )

    def _untaken(self, error: BaseException) -> TurnwiseError:
        return TurnwiseError(
            "a worker could not take its task",
            where=self.address,
            found=f"{type(error).__name__}: {error}",
            remedy="look into the logs of the workers, or use --engine processes",
        )

    def _unstaffed(self) -> TurnwiseError:
        wanted = ", ".join(f"{name}={number:g}" for name, number in self._resources.items())
        return TurnwiseError(
            "the cluster has no workers" if self._count == 1 else "the cluster has too few workers",
            where=self.address,
            found=f"{self._there()} after {self._wait_s:g} s",
            expected=f"at least {self._count}" + (f" with {wanted}" if wanted else ""),
            remedy="start workers (dask worker ADDRESS), or wait longer for them: ADDRESS?wait=600",
        )

    def _there(self) -> int:
        found = self._client.scheduler_info()["workers"].values()
        return sum(map(self._suits, found))

    def _all_refused(self) -> TurnwiseError:
        if not self.refused:
            return self._unstaffed()
        address, reasons = next(iter(self.refused.items()))
        return TurnwiseError(
            "no worker of the cluster computes with the same versions",
            where=address + (f" and {len(self.refused) - 1} more" if len(self.refused) > 1 else ""),
            found="; ".join(reasons),
            expected="the versions of this machine on every worker",
            remedy="install the same environment there",
        )

    def dismiss(self) -> None:
        """Leave the cluster as it was found, or end our own; what is in flight is cancelled."""
        alive = self._client.status == "running"
        if alive and self._sent:
            with suppress(Exception):
                self._client.cancel([sent.future for sent in self._sent.values()], force=True)
        self._sent.clear()
        if alive and self._cluster is None:
            with suppress(Exception):
                self._client.run(forget, self._token, workers=list(self.workers), on_error="ignore")
        with suppress(Exception):
            self._client.close(timeout=1)
        if self._cluster is not None:
            self._cluster.close()
