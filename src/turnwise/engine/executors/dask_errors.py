"""What ends a run on a Dask cluster, in words that help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turnwise.kernel.errors import TurnwiseError


def scheduler_gone(address: str, silent_s: float | None = None) -> TurnwiseError:
    """The scheduler is lost, or has not answered for so many seconds."""
    trouble = "the connection to it is lost" if silent_s is None else f"it has not answered for {silent_s:g} s"
    return TurnwiseError(
        "the scheduler is gone",
        where=address,
        found=f"{trouble}; everything that came back before is kept",
        remedy="start it again or use another --engine",
    )


def untaken(address: str, reason: str) -> TurnwiseError:
    """A task could not even begin."""
    return TurnwiseError(
        "a worker could not take its task",
        where=address,
        found=reason,
        expected="metrics of a module that workers can import",
        remedy="move there what a notebook or a script defines, and look into the logs of the workers",
    )


def no_workers(
    address: str, found: str, wanted: int, resources: Mapping[str, float], *, own: bool = False
) -> TurnwiseError:
    """Nobody is there to work, or too few; `own`: of workers that we start."""
    owned = ", ".join(f"{name}={number:g}" for name, number in resources.items())
    return TurnwiseError(
        "the cluster has no workers" if wanted == 1 else "the cluster has too few workers",
        where=address,
        found=found,
        expected=f"at least {wanted}" + (f" with {owned}" if owned else ""),
        remedy="look for what ends them in the system's log (often memory), or use --engine processes"
        if own
        else "start workers (dask worker ADDRESS), or wait longer for them: ADDRESS?wait=600",
    )


def all_refused(refused: Mapping[str, Sequence[str]]) -> TurnwiseError:
    """No worker has what the driver has; by address, what differs."""
    address, reasons = next(iter(refused.items()))
    return TurnwiseError(
        "no worker of the cluster has the versions, metrics and files of this run",
        where=address + (f" and {len(refused) - 1} more" if len(refused) > 1 else ""),
        found="; ".join(reasons),
        expected="the versions of this machine on every worker, and its files under the same paths",
        remedy="install the same environment there, plug-ins included, and mount the same folders",
    )
