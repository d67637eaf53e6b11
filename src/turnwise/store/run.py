"""A run as it is kept, and whether the process behind it still lives."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from turnwise.kernel.jsontext import dumps_clean, loads

RUNNING, FINISHED, FAILED, INTERRUPTED = "running", "finished", "failed", "interrupted"
STALE_AFTER = timedelta(minutes=10)
"""A run on another machine that has written nothing for so long is taken for interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluation of one system on one data set."""

    suite: str
    system: str
    version: str
    profile: str
    dataset_fingerprint: str
    turnwise_version: str
    config: Mapping[str, Any]
    environment: Mapping[str, Any]
    findings: Sequence[Mapping[str, Any]] = ()
    id: str = ""
    key: int = -1
    status: str = RUNNING
    started: str = ""
    finished: str | None = None
    updated: str = ""
    host: str = ""
    process: str = ""


@dataclass(frozen=True, slots=True)
class RunMetric:
    """A metric as it was used in a run."""

    number: int
    name: str
    signature: str


@dataclass(frozen=True, slots=True)
class BatchRows:
    """What a batch adds to the store, as tuples in the order of the tables' columns after `run`."""

    index: int
    items: Sequence[tuple[Any, ...]]
    scores: Sequence[tuple[Any, ...]]


def now() -> str:
    """The time, in UTC, as it is kept."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


JSON_COLUMNS = ("config", "environment", "findings")


def run_values(run: Run) -> dict[str, Any]:
    """A run as column values."""
    values = {name: getattr(run, name) for name in run.__dataclass_fields__ if name != "key"}
    return {**values, **{name: dumps_clean(values[name]) for name in JSON_COLUMNS}}


def run_from(row: Mapping[str, Any]) -> Run:
    """A run from its row; one whose process has died without a word is interrupted."""
    run = Run(**{**row, **{name: loads(row[name]) for name in JSON_COLUMNS}})
    return replace(run, status=INTERRUPTED) if run.status == RUNNING and not _alive(run) else run


def this_process() -> str:
    """This process, such that another one that gets the same id later is not taken for it."""
    return _process(os.getpid()) or str(os.getpid())


def _process(pid: int) -> str | None:
    """`pid:start time` of a living process (the pid alone where the system does not tell), None for a dead one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else f"{pid}:{fields[19]}"  # Z, X: dead, but nobody has looked yet
    except FileNotFoundError:
        if Path("/proc/self").is_dir():
            return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return str(pid)


def _alive(run: Run) -> bool:
    if run.host == platform.node():
        return _process(int(run.process.split(":")[0])) == run.process
    return datetime.now(UTC) - datetime.fromisoformat(run.updated) < STALE_AFTER
