"""Measure on a Dask cluster: one of this run's own on this machine, or a running one, by its address.

Dask carries tasks to workers and their rows back. Which task is to be done, and what it means that a worker died, is
the ledger's business, as with processes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from turnwise.engine.executors.chunks import pickled
from turnwise.engine.executors.ledger import Counted, Ledger, handed_out
from turnwise.engine.executors.nursery import needs_script
from turnwise.engine.executors.versions import models_here, packages_of, versions_here
from turnwise.kernel.errors import UsageError
from turnwise.kernel.extras import import_extra
from turnwise.store.run import BatchRows

if TYPE_CHECKING:
    from turnwise.engine.executors.dask_crew import Crew

WAIT_S = 60.0
"""How long a run waits for workers before it gives up, at the start and when none is left."""


class DaskExecutor(Counted):
    """The workers of a Dask cluster; never more than two chunks per thread are under way."""

    def __init__(self, workers: int | None = None, *, address: str | None = None) -> None:
        self._count = workers
        self._address, _, query = (address or "").partition("?")
        self._address = _scheduler(self._address.rstrip("/"))
        self._wait_s, self._resources = _wishes(address or "", query)
        self._crew: Crew | None = None

    @property
    def workers(self) -> int:
        """Workers that may take part now."""
        return len(self._crew.workers) if self._crew else 0

    @property
    def refused(self) -> dict[str, list[str]]:
        """Workers that may not take part, by address, with what differs."""
        return dict(self._crew.refused) if self._crew else {}

    def map(self, work: Callable[[Any], BatchRows], batches: Iterable[Any]) -> Generator[BatchRows]:
        """The rows of each batch, as they are ready."""
        import_extra("distributed", "cluster", "the engine dask")
        from turnwise.engine.executors.dask_crew import Crew
        from turnwise.engine.executors.dask_local import hushed
        from turnwise.engine.executors.dask_tasks import Tasks

        metrics = [metric for _, metric in getattr(work, "metrics", ())]
        packed = pickled(work, "a metric of this run")
        with hushed():
            self._crew = crew = Crew(
                self._address or None, self._count, self._wait_s, self._resources, script=needs_script(packed)
            )
            tasks = Tasks(crew)
            try:
                if self._address:
                    crew.prepare(packed, versions_here(packages_of(metrics)), models_here(metrics))
                else:  # our own workers run what we run
                    crew.prepare(packed, {}, {})
                self._ledger = ledger = Ledger(work, batches, crew.threads)
                tasks.occupy(ledger)
                while ledger.in_flight:
                    rows = tasks.collect(ledger)
                    tasks.occupy(ledger)  # before the rows are handed out: writing them takes a while
                    yield from handed_out(rows)
                ledger.check_complete()
            finally:
                crew.dismiss(tasks.in_flight)


def _scheduler(address: str) -> str:
    """The address of a scheduler, checked as far as it can be without trying it; empty for a cluster of our own."""
    try:
        parts = urlsplit(address)
        usable = not address or (parts.port and parts.hostname and parts.username is None)
    except ValueError:  # a port that no machine has, half of an IPv6 address
        usable = False
    if not usable:
        raise UsageError(
            "this is no address of a scheduler",
            found=address,
            expected="tcp://HOST:PORT, a port from 1 to 65535 and no user name",
        )
    return address


def _wishes(address: str, query: str) -> tuple[float, dict[str, float]]:
    """`?wait=600&GPU=1`: how long to wait for workers, and what a worker must have declared as its resources."""
    wait_s, resources = WAIT_S, {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 < number < float("inf"):
            raise UsageError(
                f"{name} cannot be {text!r}", where=address, expected="a number above 0, as in ?GPU=1 or ?wait=600"
            )
        if name == "wait":
            wait_s = number
        else:
            resources[name] = number
    return wait_s, resources
