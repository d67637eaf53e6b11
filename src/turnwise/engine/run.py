"""Carrying out a run: begin or resume it in the store, measure what is not there yet, note how it ended."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from turnwise import __version__
from turnwise.engine.asking import answered, ask, asking_metrics
from turnwise.engine.executors import Executor
from turnwise.engine.measure import Workload
from turnwise.engine.plan import Source
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError
from turnwise.store.run import FAILED, INTERRUPTED, RUNNING, Run
from turnwise.store.store import Store

if TYPE_CHECKING:
    from turnwise.judge.ask import Judge

KIND = 1
"""The place of the kind in a row of items."""
MEASURING, ASKING = "measuring", "asking the judge"


class Standing(NamedTuple):
    """How far a run has come."""

    stage: str
    done: int
    """Items measured, or questions asked."""
    total: int
    in_flight: int = 0
    """Chunks, or calls, that are being worked on."""
    workers: int = 0
    chunks: int = 0
    """Chunks that came back."""


Progress = Callable[[Standing], None]


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
    store: Store,
    run: Run,
    work: Workload,
    source: Source,
    executor: Executor,
    *,
    judge: Judge | None = None,
    progress: Progress | None = None,
) -> None:
    """Ask the judge, measure every batch that is not in the store yet, and write each as soon as it is there."""
    tell = progress or (lambda standing: None)
    done = store.done_batches(run)
    asking = asking_metrics(work) if judge else []
    if judge and asking:
        ask(judge, asking, source, done, lambda n, total, now: tell(Standing(ASKING, n, total, now)))
    measured = store.count_items(run, source.unit)
    tell(Standing(MEASURING, measured, source.n_items))
    batches = source.batches(done)
    # Whatever happens while rows are written, workers end now and not when somebody collects the garbage.
    with closing(executor.map(work, answered(asking, batches, judge) if judge and asking else batches)) as found:
        for rows in found:
            store.write_batch(run, rows)
            measured += sum(item[KIND] == source.unit for item in rows.items)
            busy = executor.in_flight, executor.workers, executor.chunks_done
            tell(Standing(MEASURING, measured, source.n_items, *busy))


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
        if isinstance(error, TurnwiseError) and not isinstance(error, InputError):  # other data are another run
            again = f"go on with turnwise run {run.suite} --resume {run.id}{store.option}"
            error.remedy = f"{error.remedy}; {again}" if error.remedy else again
        raise


def environment() -> dict[str, Any]:
    """What the numbers were computed with."""
    from importlib.metadata import version

    packages = {name: version(name) for name in ("numpy", "SQLAlchemy")}
    return {"python": sys.version.split()[0], "platform": platform.platform(), "packages": packages}
