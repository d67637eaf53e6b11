"""The workers of a Dask cluster as the driver sees them: who is there, who may take part, who is refused and why.

Imported only where the package `distributed` is there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, TypeVar
from uuid import uuid4

from distributed import Client

from turnwise.engine.executors.dask_errors import all_refused, no_workers, scheduler_gone, untaken
from turnwise.engine.executors.dask_greeting import CONNECT_S, reach, told
from turnwise.engine.executors.dask_local import OwnCluster, quiet
from turnwise.engine.executors.dask_worker import deliver, forget
from turnwise.engine.executors.versions import Versions, differences, versions_here
from turnwise.kernel.cores import cores
from turnwise.kernel.errors import TurnwiseError

LOOK_S = 2.0
"""How often the driver looks who is there."""
SOON_S = 0.2
"""How often, while somebody who has gone may be replaced, who then waits for the workload."""
REPLACED_S = 10.0
"""So long that may take."""
BRIEFLY_S = 0.1
"""How often, while it can do nothing else."""
ANSWER_S = 60.0
"""A scheduler that has not answered for so long is lost."""
SILENT_S = 10.0
"""A worker that has not answered for so long hangs, and does not take part for now."""
SILENT_AGAIN_S = 60.0
"""After so long it is asked again."""
LEAVE_S = 3.0
LOG = logging.getLogger("turnwise.engine")

T = TypeVar("T")


class Crew:
    """A client of a scheduler, and the workers behind it."""

    def __init__(
        self,
        address: str | None,
        count: int | None,
        wait_s: float,
        resources: dict[str, float],
        *,
        script: bool = False,
    ) -> None:
        """`script`: workers of our own also need what the user's script defines."""
        self._wait_s, self.resources = wait_s, resources
        self._count = count or (1 if address else cores())
        self.token = uuid4().hex
        self._delivery: tuple[bytes, Versions, Versions, str | None] = (b"", {}, {}, None)
        self._looked = self._staffed = time.monotonic()
        self._missed = self._looked - REPLACED_S
        self.workers: dict[str, int] = {}
        """Threads of each worker that may take part."""
        self.refused: dict[str, list[str]] = {}
        self._ever_refused = False
        self._silent: dict[str, float] = {}
        """Workers that do not answer, and when they are asked again."""
        self._cluster: OwnCluster | None = None
        if not address:
            self._cluster = OwnCluster(self._count, script=script)
            address = self._cluster.address
        self.address = str(address)
        try:
            self.client = self._connected()
        except BaseException:
            if self._cluster is not None:
                self._cluster.close()
            raise

    @property
    def tells_every_death(self) -> bool:
        """Whether the scheduler tells of the first worker that a task kills; another's gives the task to three more."""
        return self._cluster is not None

    def _connected(self) -> Any:
        try:
            if self._cluster is None:
                reach(self.address)
            # Rows of our own cluster come straight from the workers; elsewhere they may be out of reach.
            direct = True if self._cluster is not None else None
            with quiet():
                return Client(self.address, timeout=CONNECT_S, set_as_default=False, direct_to_workers=direct)
        except TurnwiseError:
            raise
        except Exception as error:  # every kind of connection has its own
            raise TurnwiseError(
                "no scheduler answers",
                where=self.address,
                found=told(error),
                expected="a running Dask scheduler",
                remedy="start one (dask scheduler), check the address, or use --engine dask",
            ) from error

    # Who may take part

    def prepare(self, work: bytes, versions: Versions, models: Versions) -> None:
        """Wait for workers, refuse those that differ, bring the workload to the others."""
        # The workers of our own cluster see our files.
        self._delivery = (work, versions, models, self._cluster.folder if self._cluster else None)
        self._staffed = begun = time.monotonic()
        self.look()
        while len(self.workers) + len(self.refused) < self._count:
            if time.monotonic() - begun > self._wait_s:
                raise self._nobody()
            time.sleep(BRIEFLY_S)
            self.look()  # also starts those of our own again that died while they started
        if not self.workers:
            raise self._nobody()

    def await_anybody(self) -> None:
        """Wait until somebody may take part; not for ever."""
        while not self.workers:
            time.sleep(BRIEFLY_S)
            self.look()

    @property
    def threads(self) -> int:
        """How many tasks the workers can do at once."""
        return max(1, sum(self.workers.values()))

    @property
    def left_out(self) -> bool:
        """Whether there are workers that no task may go to."""
        return bool(self.refused or self._silent)

    @property
    def since_look(self) -> float:
        """Seconds since the driver looked who is there."""
        return time.monotonic() - self._looked

    @property
    def patience(self) -> float:
        """Seconds from one look to the next."""
        return SOON_S if time.monotonic() - self._missed < REPLACED_S else LOOK_S

    def look_soon(self) -> None:
        """Somebody is missing."""
        self._looked = 0.0

    def look(self) -> None:
        """Who is there; whoever is new is checked and gets the workload."""
        if self._cluster is not None:
            self._cluster.look_after()
        with self.or_gone():
            there = self._there()
            self._looked = time.monotonic()
            if self.workers.keys() - there:
                self._missed = self._looked
            self._silent = {address: until for address, until in self._silent.items() if until > self._looked}
            known = self.workers.keys() | self.refused.keys() | self._silent.keys()
            new = [address for address in there if address not in known]
            self.refused = {address: reasons for address, reasons in self.refused.items() if address in there}
            reached = self._deliver(self._check(new))
        known = self.workers.keys() | reached
        self.workers = {name: n for name, n in there.items() if name in known and name not in self.refused}
        if self.workers:
            self._staffed = self._looked
        elif self._looked - self._staffed > self._wait_s:
            raise self._nobody()

    def _there(self) -> dict[str, int]:
        """The threads of each worker that suits."""
        # The client's own way has no limit of time, and names only five workers in some versions of Dask.
        found = self.client.sync(self.client.scheduler.identity, callback_timeout=ANSWER_S)
        return {name: int(about["nthreads"]) for name, about in found["workers"].items() if self._suits(about)}

    def _suits(self, about: dict[str, Any]) -> bool:
        owned = about.get("resources") or {}
        return all(owned.get(name, 0) >= wanted for name, wanted in self.resources.items())

    def _check(self, new: Sequence[str]) -> list[str]:
        """Refuse the workers that differ; those that could be asked."""
        expected = self._delivery[1]
        if not new or not expected:
            return list(new)
        packages = [name for name in expected if name not in ("python", "turnwise")]
        found = self._ask(new, versions_here, packages)
        for address, answer in found.items():
            if isinstance(answer, OSError):
                continue  # it has gone in the meantime, or is asked again at the next look
            there = isinstance(answer, dict)
            reasons = differences(expected, answer) if there else [f"turnwise cannot be used there ({answer})"]
            if reasons:
                self._refused(address, reasons)
        return [address for address, answer in found.items() if not isinstance(answer, OSError)]

    def _deliver(self, new: Sequence[str]) -> set[str]:
        """Bring the workload; those that have it.

        A worker that is refused gets it as well: a task may have come to it before anybody knew, and it says no.
        """
        if not new:
            return set()
        found = self._ask(new, deliver, self.token, *self._delivery)
        failed = {address: answer for address, answer in found.items() if isinstance(answer, Exception)}
        for address, answer in failed.items():
            if address not in self.refused and not isinstance(answer, OSError):  # one that has gone is no trouble
                raise untaken(self.address, f"{type(answer).__name__}: {answer}")
        return set(found) - set(failed)

    def _ask(self, workers: Sequence[str], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What a function gives on each worker, or the exception; one that hangs holds up nobody for long."""

        async def answer(address: str) -> Any:
            asking = self.client.run(function, *arguments, workers=[address], on_error="return", asynchronous=True)
            try:
                return (await asyncio.wait_for(asking, SILENT_S)).get(address, ConnectionError(f"{address} has gone"))
            except TimeoutError as error:
                return error

        async def answers() -> list[Any]:
            return await asyncio.gather(*map(answer, workers))

        found = dict(zip(workers, self.begun(answers()).result(timeout=ANSWER_S), strict=True))
        again = time.monotonic() + SILENT_AGAIN_S
        for address in (name for name, said in found.items() if isinstance(said, TimeoutError)):
            if address not in self._silent:
                LOG.warning("the worker %s is not used: it does not answer", address)
            self._silent[address] = again
        return found

    def begun(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Something that Dask does in its own thread from now on."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def deliver_again(self, address: str) -> None:
        """A worker has not got the workload, or not any more: it is new to us."""
        self.workers.pop(address, None)
        self.look()

    def refuse(self, address: str, reasons: list[str]) -> None:
        """A worker says itself that it may not take part."""
        if self._cluster is not None:
            raise untaken(self.address, "; ".join(reasons))
        self._refused(address, reasons)
        if not self.workers:
            raise self._nobody()

    def _refused(self, address: str, reasons: list[str]) -> None:
        if address not in self.refused:  # said once, whatever else it lacks
            LOG.warning("the worker %s is not used: %s", address, "; ".join(reasons))
        self.refused[address] = reasons
        self.workers.pop(address, None)
        self._ever_refused = True

    def explain(self, error: BaseException, *, anywhere: bool) -> None:
        """A task that could not even begin: on a worker that differs, which is refused, or it ends the run.

        `anywhere`: it may have come to a worker that nobody had looked at yet.
        """
        before = set(self.refused)
        self.look()
        with self.or_gone():
            self._check(list(self.workers))
        if not (self.refused.keys() - before or (anywhere and self._ever_refused)):
            raise untaken(self.address, f"{type(error).__name__}: {error}") from error
        if not self.workers and self.refused:
            raise self._nobody()

    # Ends

    @contextmanager
    def or_gone(self) -> Iterator[None]:
        """Whatever a broken connection raises means that the scheduler is gone; our own errors do not."""
        try:
            yield
        except TurnwiseError:
            raise
        except Exception as error:
            raise self.gone(silent=isinstance(error, TimeoutError)) from error

    def gone(self, *, silent: bool = False) -> TurnwiseError:
        """The error of a run whose scheduler is lost, or silent for too long."""
        return scheduler_gone(self.address, ANSWER_S if silent else None)

    def _nobody(self) -> TurnwiseError:
        """The error of a run that nobody takes part in, or too few do."""
        if self.refused and not self.workers:
            return all_refused(self.refused)
        found = f"{len(self._there())} after {self._wait_s:g} s"
        if self.refused:
            found += f", {len(self.refused)} of which differ from this machine"
        if self._silent:
            found += f", {len(self._silent)} of which do not answer"
        own = self._cluster is not None
        return no_workers(self.address, found, self._count, self.resources, own=own)

    def dismiss(self, in_flight: Sequence[Any]) -> None:
        """Leave the cluster as it was found, or end our own; what is in flight is cancelled."""
        if self.client.status == "running":
            # A scheduler that hangs must not hold up whoever wants to go.
            leaving = Thread(target=self._take_leave, args=(list(in_flight),), daemon=True)
            leaving.start()
            leaving.join(LEAVE_S)
        with suppress(Exception):
            self.client.close(timeout=1)
        if self._cluster is not None:
            self._cluster.close()

    def _take_leave(self, in_flight: list[Any]) -> None:
        with suppress(Exception):
            if in_flight:
                self.client.cancel(in_flight, force=True)
            if self._cluster is None:
                self.client.run(forget, self.token, workers=[*self.workers, *self.refused], on_error="ignore")
