"""One reply of a live assistant, scored at once: the same metrics, on the same code, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.composites import Qualities, qualities
from turnwise.assistant.embedding import AUTO, Embedding, find_embedding
from turnwise.assistant.outcomes import document_value
from turnwise.assistant.profile import Profile, load_profile
from turnwise.assistant.records import Turn
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE, check_rating, scale_named
from turnwise.assistant.suite import run_context
from turnwise.assistant.turn_fields import make_turn
from turnwise.kernel.errors import InputError
from turnwise.kernel.metric import TURNWISE, Metric
from turnwise.kernel.selection import Selection, select_metrics

PLACE = "evaluate(...)"
"""Where a mistake is, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMetrics:
    """The document's fields. None: does not apply, or an input is missing; `missing` says which."""

    has_policy_citation: bool | None = None
    appropriate_action_suggested: bool | None = None
    response_structure_complete: bool | None = None
    citation_accuracy: float | None = None
    response_length_appropriate: bool | None = None
    asks_clarifying_questions: bool | None = None
    sequential_action_correct: bool | None = None
    rag_similarity_score: float | None = None
    processing_time_acceptable: bool | None = None
    objective_quality_score: float | None = None
    professionalism_score: float | None = None
    empathy_score: float | None = None
    clarity_score: float | None = None
    actionability_score: float | None = None
    compliance_score: float | None = None
    subjective_quality_score: float | None = None
    overall_quality_score: float | None = None
    band: str | None = None
    """`production_ready` or `not_ready`, where there is an overall quality."""
    made_of: Mapping[str, Any] = field(default_factory=dict)
    """What the qualities are made of: values, how many of how many, weights."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """By objective metric, why there is no value."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """By objective metric, what it was decided by."""
    context: Mapping[str, str] = field(default_factory=dict)
    """Patterns, embedding model and weights that were used."""
    scenario: str = ""

    def values(self) -> dict[str, float | None]:
        """Objective metrics and ratings as numbers."""
        found = {name: getattr(self, name) for name in (*OBJECTIVE, *SUBJECTIVE)}
        return {name: None if value is None else float(value) for name, value in found.items()}

    def as_json(self) -> dict[str, Any]:
        """The document's JSON object; ratings and qualities that are not there are left out."""
        measured = {name: getattr(self, name) for name in OBJECTIVE}
        others = {name: getattr(self, name) for name in (*SUBJECTIVE, *COMPOSITES)}
        return measured | {name: value for name, value in others.items() if value is not None}

    def rated(self, **ratings: int) -> ResponseMetrics:
        """The same with people's ratings, by scale (`empathy=5`), and the qualities that follow."""
        given: dict[str, Any] = {
            (scale := scale_named(name)).metric: check_rating(scale, value) for name, value in ratings.items()
        }
        found = qualities({**self.values(), **given}, self.context, self.scenario)
        return replace(self, **given, **_composites(found))


def evaluate(
    query: str | None,
    response: str | None,
    search_context: Any,
    processing_time_ms: float | None,
    is_first_response: bool,
    *,
    scenario: str = "",
    profile: str = TURNWISE,
    patterns: str | Path | None = None,
    embedding: str = AUTO,
) -> ResponseMetrics:
    """Score one reply with the nine objective metrics.

    Args:
        query: what the user said.
        response: what the assistant answered.
        search_context: what was retrieved: a list of {"title", "text", "similarity"}, an object with such a list as
            `results` or `chunks`, or None where nobody knows.
        processing_time_ms: how long the reply took.
        is_first_response: whether it is the first of its session.
        scenario: what the turn is about, where actions or weights depend on it.
        profile: `turnwise`, or `spec` for the document to the letter.
        patterns: the organisation's file of patterns.
        embedding: `auto`, `none`, or a folder with a model.
    """
    if is_first_response is None:
        raise InputError(
            "is_first_response is missing",
            where=PLACE,
            expected="True or False",
            remedy="a reply alone does not tell; record_turn(...) takes turn number 1 for the first",
        )
    row = {
        "session_id": "live",
        "turn": 1,
        "query": query,
        "response": response,
        "chunks": search_context,
        "processing_time_ms": processing_time_ms,
        "is_first_response": is_first_response,
        "scenario": scenario,
    }
    used = evaluator(profile, None if patterns is None else str(patterns), embedding)
    return used.measure(make_turn(row, PLACE))


class Evaluator:
    """The objective metrics with their settings, for one turn at a time."""

    def __init__(self, profile: Profile, name: str, embedding: Embedding) -> None:
        self.profile, self.name, self.embedding = profile, name, embedding
        self.context = run_context(profile, embedding)

    def measure(self, turn: Turn) -> ResponseMetrics:
        """The fields of one turn."""
        batch = self.batch(turn)
        values: dict[str, float] = {}
        missing: dict[str, str] = {}
        evidence: dict[str, Any] = {}
        for metric in self.metrics:
            for _, output, found in metric.measure(batch):
                name = metric.spec.name
                if found.statistics is None:
                    missing[name] = found.reason or ""
                else:
                    values[name] = float(metric.value(output, np.array([found.statistics]))[0])
                if found.evidence is not None:
                    evidence[name] = found.evidence
        made = qualities(values, self.context, turn.scenario)
        return ResponseMetrics(
            **{name: document_value(name, values.get(name)) for name in OBJECTIVE},  # type: ignore[arg-type]
            **_composites(made),
            missing=missing,
            evidence=evidence,
            context=self.context,
            scenario=turn.scenario,
        )

    def batch(self, turn: Turn, index: int = 0) -> TurnBatch:
        """The turn alone."""
        return TurnBatch(index, [turn], self.profile, self.embedding)

    @property
    def metrics(self) -> list[Metric]:
        """The nine."""
        return [metric for metric in self.selection.metrics if metric.spec.name in OBJECTIVE]

    @property
    def selection(self) -> Selection:
        """All metrics of a live run: measured, rated and derived ones."""
        return _selection(self.name, tuple(sorted(self.context.items())))


@cache
def evaluator(profile: str = TURNWISE, patterns: str | None = None, embedding: str = AUTO) -> Evaluator:
    """An evaluator; files are read and models are found once per process."""
    return Evaluator(load_profile(patterns, profile), profile, find_embedding(embedding))


@cache
def _selection(profile: str, context: tuple[tuple[str, str], ...]) -> Selection:
    names = [*OBJECTIVE, *SUBJECTIVE, *COMPOSITES, "system_latency_ms"]
    return select_metrics("assistant", names, profile=profile, context=dict(context))


def _composites(found: Qualities) -> dict[str, Any]:
    made = dict(zip(COMPOSITES, (found.objective, found.subjective, found.overall), strict=True))
    return {**made, "band": found.band, "made_of": found.made_of}
