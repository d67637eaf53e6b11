"""What the tests of databases share: turns with known values, ratings, and the document's own queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnwise.assistant.scales import scale_metric
from turnwise.assistant.suite import SUITE
from turnwise.engine.job import run_job
from turnwise.engine.options import parse_options
from turnwise.kernel.score import Score, Source, Unit
from turnwise.store.run import Run
from turnwise.store.store import Store

REPLY = "Got it. Per our Attendance policy, three late arrivals lead to a conversation. Please call them."
"""Cited 1, action 1, structure 0 (no next steps), length 0 (16 words), one offer 1: 3 / 5."""
SHORT = "Wait."
"""Only that it does not offer two things at once: 1 / 5."""

SESSION_QUERY = """
SELECT
  s.id AS session_id,
  s.master_prompt_version,
  AVG((t.metrics->>'objective_quality_score')::float) AS avg_objective_quality,
  AVG((t.metrics->>'subjective_quality_score')::float) AS avg_subjective_quality,
  AVG((t.metrics->>'overall_quality_score')::float) AS avg_overall_quality,
  COUNT(*) AS total_turns
FROM prompt_tuning_sessions s
JOIN tuning_conversation_turns t ON t.session_id = s.id
WHERE s.id = 'abc-123'
GROUP BY s.id, s.master_prompt_version;
"""
"""As the document prints it."""
VERSION_QUERY = """
SELECT
  s.master_prompt_version,
  AVG((t.metrics->>'overall_quality_score')::float) AS avg_quality,
  COUNT(*) AS sample_size
FROM prompt_tuning_sessions s
JOIN tuning_conversation_turns t ON t.session_id = s.id
WHERE s.master_prompt_version IN ('fc26922', 'ee59fe5')
GROUP BY s.master_prompt_version;
"""
"""As the document prints it."""


def for_sqlite(query: str) -> str:
    """The same question in SQLite's words: JSON is text there, and `::` is no cast."""
    for name in ("objective", "subjective", "overall"):
        query = query.replace(
            f"(t.metrics->>'{name}_quality_score')::float", f"json_extract(t.metrics, '$.{name}_quality_score')"
        )
    return query


def row(session: str, turn: int, response: str | None = REPLY, **more: Any) -> dict[str, Any]:
    known = {"session_id": session, "turn": turn, "query": "What now?", "response": response}
    return {**known, "is_first_response": False, **more}


def run(data: Any, db: str, **options: Any) -> Run:
    """A run, kept."""
    wanted = parse_options(SUITE, {"turns": data, "embedding": "none", "resamples": 100, **options})
    store = Store(db)
    try:
        return run_job(SUITE, wanted, store=store).run
    finally:
        store.close()


def rate(store: Store, into: Run, turn_id: str, ratings: Mapping[str, int], rater: str = "HR partner") -> None:
    """Ratings by scale, as people give them later."""
    signatures = {one.name: one.signature for one in store.metrics(into)}
    scores = [
        Score(
            metric=(name := f"assistant/{scale_metric(scale)}"),
            unit=Unit(turn_id, turn_id.rpartition("#")[0], kind="turn"),
            signature=signatures[name],
            value=float(value),
            statistics=(float(value),),
            source=Source.HUMAN,
            rater=rater,
        )
        for scale, value in ratings.items()
    ]
    store.amend(into, scores, by=rater)


FIVE = {"professionalism": 4, "empathy": 5, "clarity": 5, "actionability": 4, "compliance": 5}
"""The document's example: 23 / 25 = 0.92."""

TABLES = """
CREATE TABLE prompt_tuning_sessions (
  id TEXT PRIMARY KEY, master_prompt_version TEXT, tester_name TEXT, created_at TIMESTAMPTZ DEFAULT now());
CREATE TABLE tuning_conversation_turns (
  id SERIAL PRIMARY KEY, session_id TEXT REFERENCES prompt_tuning_sessions, turn_number INTEGER,
  user_message TEXT, era_response TEXT, improvement_notes TEXT, category TEXT,
  processing_time_ms NUMERIC, search_context JSONB, is_first_response BOOLEAN, site VARCHAR(20),
  embedding_cache BYTEA, created_at TIMESTAMP);
ALTER TABLE tuning_conversation_turns
ADD COLUMN metrics JSONB DEFAULT '{}'::jsonb;
"""
"""The document's tables; the last statement is its own."""


def turn(session: str, number: int, reply: str | None = REPLY, metrics: str = "{}") -> str:
    said = "NULL" if reply is None else f"$${reply}$$"
    return (
        "INSERT INTO tuning_conversation_turns (session_id, turn_number, user_message, era_response, metrics,"
        f" is_first_response) VALUES ('{session}', {number}, 'What now?', {said}, '{metrics}', false);"
    )


SESSIONS = (
    "INSERT INTO prompt_tuning_sessions VALUES ('abc-123', 'fc26922', 'HR partner'), ('def-456', 'ee59fe5', NULL);"
)
