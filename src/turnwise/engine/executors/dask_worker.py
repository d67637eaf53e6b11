"""What runs on a Dask worker: it keeps the workload of a run, unpickled once, and performs tasks with it."""

from __future__ import annotations

import os
import pickle
import time
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

from distributed import get_worker

from turnwise.engine.executors.chunks import Task, perform
from turnwise.engine.executors.outcome import packed
from turnwise.engine.executors.parcel import Parcel, posted
from turnwise.engine.executors.versions import Versions, differences, models_here, versions_here

DELIVERY_S = 2.0
"""A worker that joins gets its first task and the workload at about the same time."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A worker that may not take part, and why."""

    address: str
    reasons: list[str]


@dataclass(frozen=True, slots=True)
class NotDelivered:
    """A worker that has nothing to work with: it is new under an old address, or has forgotten the run over others."""

    address: str


class Delivery(NamedTuple):
    """The workload of a run on its way to a worker."""

    address: str
    """The worker, as the driver calls it."""
    work: bytes
    versions: Versions
    models: Versions
    folder: str | None
    """Where a driver on this machine picks up what is made; None for one that may be elsewhere."""


KEPT = 8
"""Runs that a worker remembers: one whose driver was killed never says that it is over."""
_DELIVERED: dict[str, Delivery] = {}
_OPENED: dict[str, Any] = {}
"""Workloads, or refusals, by run: metrics and their models are loaded once per worker."""
_OPENING = Lock()


def deliver(
    token: str, work: bytes, versions: Versions, models: Versions, folder: str | None = None, dask_worker: Any = None
) -> None:
    """Put the workload of a run where its tasks find it; nothing is loaded yet. Dask fills in the worker."""
    for old in list(_DELIVERED)[: 1 - KEPT]:
        forget(old)
    _DELIVERED[token] = Delivery(dask_worker.address, work, versions, models, folder)


def forget(token: str) -> None:
    """The run is over."""
    _DELIVERED.pop(token, None)
    _OPENED.pop(token, None)


def perform_here(token: str, task: Task) -> bytes | Parcel:
    """Do a task of a run; the outcome, a refusal or an exception, pickled."""
    delivery = _DELIVERED.get(token)
    return posted(_performed(token, task), delivery.folder if delivery else None)


def _performed(token: str, task: Task) -> bytes:
    work: Any = _opened(token)
    if not isinstance(work, Refusal | NotDelivered):
        work = _without_files(token, task) or work
    try:
        outcome: Any = work if isinstance(work, Refusal | NotDelivered) else perform(work, task)
    except Exception as error:  # it is raised again by the driver
        outcome = error
    return packed(outcome)


def _without_files(token: str, task: Task) -> Refusal | None:
    """No to a task about files that this machine does not see: they would be measured as if nobody had them."""
    delivery = _DELIVERED.get(token)
    if delivery is None or delivery.folder is not None:  # on the driver's own machine, what is gone is gone
        return None
    absent = [path for path in task.files if not os.path.exists(path)]  # noqa: PTH110
    if not absent:
        return None
    more = f" and {len(absent) - 1} more files" if len(absent) > 1 else ""
    return Refusal(delivery.address, [f"it does not see {absent[0]}{more}"])


def _opened(token: str) -> Any:
    delivery = _awaited(token)
    if delivery is None:
        return NotDelivered(str(get_worker().address))
    with _OPENING:
        if token not in _OPENED:
            own = delivery.versions
            reasons = differences(own, versions_here(name for name in own if name not in ("python", "turnwise")))
            if not reasons:
                try:
                    work = pickle.loads(delivery.work)  # noqa: S301  (our own driver sent it)
                    reasons = differences(delivery.models, models_here(_metrics(work)))
                except Exception as error:  # a module that is not there, for one
                    reasons = [f"it cannot load the metrics of this run ({type(error).__name__}: {error})"]
            _OPENED[token] = Refusal(delivery.address, reasons) if reasons else work
        return _OPENED[token]


def _awaited(token: str) -> Delivery | None:
    deadline = time.monotonic() + DELIVERY_S
    while token not in _DELIVERED:
        if time.monotonic() > deadline:
            return None
        time.sleep(0.05)
    return _DELIVERED[token]


def _metrics(work: Any) -> list[Any]:
    return [metric for _, metric in getattr(work, "metrics", ())]
