"""Carrying out a run: begin or resume it in the store, measure what is not there yet, note how it ended."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from turnwise import __version__
from turnwise.engine.executors import Executor
from turnwise.engine.measure import Workload
from turnwise.engine.plan import Source
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.store.run import FAILED, INTERRUPTED, RUNNING, Run
from turnwise.store.store import Store

KIND = 1
"""The place of the kind in a row of items."""
Progress = Callable[[int, int], None]
"""Called with the items done so far and their total."""


def new_run(source: Source, *, suite: str, system: str, version: str, profile: str, config: Mapping[str, Any]) -> Run:
    """A run that has not begun yet."""
    return Run(
        suite=suite,
        system=system,
        version=version,
        profile=profile,
        dataset_fingerprint=source.dataset_fingerprint,
        turnwise_version=__version__,
        config={**config, "input_fingerprint": source.input_fingerprint, "coverage": dict(source.coverage)},
        environment=environment(),
        findings=[asdict(finding) for finding in source.findings],
    )


def check_resumable(run: Run, source: Source, signatures: Sequence[str], stored: Sequence[str]) -> None:
    """A run goes on only with the same data and the same metrics."""
    if run.status == RUNNING:
        raise UsageError(
            f"run {run.id} is still running",
            found=f"process {run.process} on {run.host}",
            remedy="wait for it, or end it",
        )
    if run.config.get("input_fingerprint") != source.input_fingerprint:
        raise InputError(
            f"run {run.id} cannot be resumed: the data changed since it began",
            found=f"fingerprint {source.input_fingerprint}",
            expected=f"fingerprint {run.config.get('input_fingerprint')}",
            remedy="restore the files it began with, or start a new run",
        )
    if list(signatures) != list(stored):
        differing = [f"{new} (was {old})" for new, old in zip(signatures, stored, strict=False) if new != old]
        raise UsageError(
            f"run {run.id} cannot be resumed: its metrics have other settings now",
            found="; ".join(differing) or f"{len(signatures)} metrics instead of {len(stored)}",
            remedy="use the turnwise version and the options it began with, or start a new run",
        )


def carry_out(
    store: Store, run: Run, work: Workload, source: Source, executor: Executor, *, progress: Progress | None = None
) -> None:
    """Measure every batch that is not in the store yet, and write each as soon as it is there."""
    measured = store.count_items(run, source.unit)
    if progress:
        progress(measured, source.n_items)
    for rows in executor.map(work, source.batches(store.done_batches(run))):
        store.write_batch(run, rows)
        measured += sum(item[KIND] == source.unit for item in rows.items)
        if progress:
            progress(measured, source.n_items)


class Interrupted(TurnwiseError):
    """Somebody pressed Ctrl-C; what was measured is kept."""


@contextmanager
def status_kept(store: Store, run: Run) -> Iterator[None]:
    """Whatever ends the work inside, the run's status tells."""
    try:
        yield
    except KeyboardInterrupt:
        store.end(run, INTERRUPTED)
        raise Interrupted(
            f"run {run.id} was interrupted; everything measured so far is kept",
            remedy=f"turnwise run {run.suite} --resume {run.id}{store.option}",
        ) from None
    except BaseException as error:
        with suppress(TurnwiseError):  # if it is the database that failed, the first error says more
            store.end(run, FAILED)
        if isinstance(error, TurnwiseError):
            again = f"go on with turnwise run {run.suite} --resume {run.id}{store.option}"
            error.remedy = f"{error.remedy}; {again}" if error.remedy else again
        raise


def environment() -> dict[str, Any]:
    """What the numbers were computed with."""
    from importlib.metadata import version

    packages = {name: version(name) for name in ("numpy", "SQLAlchemy")}
    return {"python": sys.version.split()[0], "platform": platform.platform(), "packages": packages}
