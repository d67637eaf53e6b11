"""Turns of a live assistant, kept as they happen: turn and metrics in one step, in a run that people can rate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError

from turnwise import __version__
from turnwise.assistant.embedding import AUTO
from turnwise.assistant.evaluator import Evaluator, ResponseMetrics, evaluator
from turnwise.assistant.records import Turn
from turnwise.assistant.suite import SUITE
from turnwise.assistant.turn_fields import make_turn
from turnwise.engine.measure import Workload
from turnwise.engine.run import environment
from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import TURNWISE
from turnwise.kernel.signature import digest
from turnwise.report.summary import RESAMPLES
from turnwise.store.append import append_batch
from turnwise.store.run import FINISHED, Run
from turnwise.store.store import Store

LIVE = "live"
"""Marks, in a run's configuration, one that turns are added to."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """Where a turn was kept, and what was measured."""

    run_id: str
    turn_id: str
    metrics: ResponseMetrics


def record_turn(
    store: Store,
    *,
    session_id: str,
    turn: int,
    query: str | None,
    response: str | None,
    search_context: Any = None,
    processing_time_ms: float | None = None,
    is_first_response: bool | None = None,
    version: str = "",
    system: str = "assistant",
    profile: str = TURNWISE,
    patterns: str | Path | None = None,
    embedding: str = AUTO,
    run: str | None = None,
    **more: Any,
) -> RecordedTurn:
    """Measure a turn and keep both in a store, all or nothing.

    Turns go into the newest live run of the same system, version, profile and patterns; the first one begins it.

    Args:
        store: where; `turnwise.store.store.Store(db)` opens one.
        session_id: of the conversation.
        turn: its number there, from 1.
        query: what the user said.
        response: what the assistant answered.
        search_context: what was retrieved, as in `evaluate`.
        processing_time_ms: how long the reply took.
        is_first_response: whether it is the first of its session; by default turn number 1.
        version: the prompt version.
        system: the name of the assistant.
        profile: `turnwise` or `spec`.
        patterns: the organisation's file of patterns.
        embedding: `auto`, `none`, or a folder with a model.
        run: the id of a live run, to add to that one.
        more: other fields of a turn: scenario, tester, improvement_notes, category, timestamp, tokens, cost, or a
            column to slice by.
    """
    row = {
        **more,
        "session_id": session_id,
        "turn": turn,
        "version": version,
        "query": query,
        "response": response,
        "chunks": search_context,
        "processing_time_ms": processing_time_ms,
        "is_first_response": is_first_response,
    }
    made = make_turn(row, "record_turn(...)")
    used = evaluator(profile, None if patterns is None else str(patterns), embedding)
    into = _live_run(store, used, system or "", made.version) if run is None else _named_run(store, used, run)
    kept = append_batch(store, into, lambda index: _measured(used, made, index))
    return RecordedTurn(into.id, kept.items[0][2], used.measure(made))


def _measured(used: Evaluator, turn: Turn, index: int) -> Any:
    return Workload(list(enumerate(used.selection.metrics)))(used.batch(turn, index))


def _live_run(store: Store, used: Evaluator, system: str, version: str) -> Run:
    try:
        return _found(store, used, system, version) or _begin(store, used, system, version)
    except IntegrityError:  # another thread or process has begun it a moment ago
        run = _found(store, used, system, version)
        if run is None:
            raise
        return run


def _found(store: Store, used: Evaluator, system: str, version: str) -> Run | None:
    """The newest live run that the turn fits into."""
    signatures = _signatures(used)
    for run in store.runs(SUITE.name):
        same = run.config.get(LIVE) and (run.system, run.version, run.profile) == (system, version, used.name)
        if same and run.config.get("signatures") == signatures:
            return run
    return None


def _signatures(used: Evaluator) -> str:
    return digest([sign for _, sign in used.selection.signatures])


def _named_run(store: Store, used: Evaluator, name: str) -> Run:
    run = store.run(name)
    if not run.config.get(LIVE) or run.config.get("signatures") != _signatures(used):
        what = "its metrics have other settings" if run.config.get(LIVE) else "it is not a live one"
        raise UsageError(f"no turn can be added to run {run.id}", found=what, remedy="leave out run=")
    return run


def _begin(store: Store, used: Evaluator, system: str, version: str) -> Run:
    """A run that has finished with every turn it holds, and takes more.

    Its id follows from what it is of, so that of several workers that begin it at once only one can.
    """
    signatures = used.selection.signatures
    of = digest([system, version, used.name, _signatures(used)])
    config = {
        LIVE: True,
        "signatures": _signatures(used),
        "metrics": [name.partition("/")[2] for name, _ in signatures],
        "by": [list(names) for names in SUITE.groupings],
        "context": used.context,
        "resamples": RESAMPLES,
    }
    new = Run(
        id=f"{LIVE}-{SUITE.name}-{of}",
        suite=SUITE.name,
        system=system,
        version=version,
        profile=used.name,
        dataset_fingerprint=LIVE,
        turnwise_version=__version__,
        config=config,
        environment=environment(),
    )
    return store.end(store.begin(new, signatures), FINISHED)
