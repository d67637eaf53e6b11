"""Runs to rate: the document's example turn, and small runs with chosen sessions and versions."""

from __future__ import annotations

from typing import Any

from turnwise.assistant.rating import find_turn, rate_turn, rateable_run
from turnwise.assistant.suite import SUITE
from turnwise.engine.job import prepare, run_job
from turnwise.engine.options import parse_options
from turnwise.store.ratings import human_ratings
from turnwise.store.run import Run
from turnwise.store.store import Store

SCALES = ("professionalism", "empathy", "clarity", "actionability", "compliance")
DOCUMENT = "!score professionalism:4 empathy:5 clarity:5 actionability:4 compliance:5"
"""The document's example: 23 / 25 = 0.92, and with an objective quality of 0.85: 0.34 + 0.552 = 0.892."""
CONFIRMATION = """✅ Subjective scores added!

Objective Quality: 0.85
Subjective Quality: 0.92
Overall Quality: 0.89"""

_GUIDANCE = "It is worth finding out what happened before anything is decided, and keeping calm while you do. " * 6
REPLY = f"I understand, that is hard. {_GUIDANCE}\n\nNext steps: call them this afternoon."
"""108 words; acknowledges, guides, has next steps, suggests one action, cites nothing."""
QUERY = "What should managers do?"


def document_turn(session: str = "s", turn: int = 1, **more: Any) -> dict[str, Any]:
    """A turn with an objective quality of 0.85.

    No citation 0; action, structure, length, one action at a time and time 1 each; similarity 0.95: 5.95 / 7 = 0.85.
    Accuracy of a citation and clarifying questions do not apply.
    """
    return {
        "session_id": session,
        "turn": turn,
        "query": QUERY,
        "response": REPLY,
        "chunks": [{"title": "Guide", "text": "Call first.", "similarity": 0.95}],
        "processing_time_ms": 1000,
        "is_first_response": False,
        **more,
    }


def kept_run(db: str, rows: list[dict[str, Any]], **options: Any) -> str:
    """The id of a run that is kept in a database."""
    parsed = parse_options(SUITE, {"turns": rows, "resamples": 100, "embedding": "none", **options})
    store = Store(db)
    try:
        return run_job(SUITE, parsed, store=store, prepared=prepare(SUITE, parsed)).run.id
    finally:
        store.close()


def rate(store: Store, run: str, turn: str, rater: str, **ratings: int) -> None:
    """Rate a turn."""
    found = rateable_run(store, run)
    rate_turn(store, found, find_turn(store, found, turn), ratings, rater)


def kept_ratings(store: Store, run: str | Run) -> dict[tuple[str, str, str], float | None]:
    """By turn, scale and rater."""
    name = run if isinstance(run, str) else run.id
    return {
        (one.unit, one.metric.partition("/")[2].removesuffix("_score"), one.rater): one.value
        for one in human_ratings(store, store.run(name))
    }
