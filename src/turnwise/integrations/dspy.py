"""The quality of an assistant's replies as a metric of DSPy: for `dspy.Evaluate`, for bootstrapping and for GEPA.

DSPy calls a metric in three ways. Without a trace it wants a number; with a trace it asks whether a reply is good
enough to learn from; with the name of a predictor it wants the number and words about it. The metric sees by its
arguments which it is. What it raises DSPy logs and counts as 0; `failures` keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from turnwise.assistant.composites import Qualities, qualities
from turnwise.assistant.embedding import AUTO
from turnwise.assistant.evaluator import Evaluator, ResponseMetrics, evaluator
from turnwise.assistant.feedback import feedback
from turnwise.assistant.scales import HIGHEST, LOWEST, scale_named
from turnwise.assistant.turn_fields import make_turn
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError, near_misses, shorten
from turnwise.kernel.extras import import_extra
from turnwise.kernel.metric import TURNWISE

JUDGE, OMIT, ERROR = "judge", "omit", "error"
FIELDS = (
    *("query", "response", "search_context", "processing_time_ms"),
    *("is_first_response", "turn", "scenario", "ratings"),
)
"""What a metric reads, by the names it looks for unless `fields` says others."""
Judge = Callable[[str, str, Any], Mapping[str, float]]
"""Rates a reply: (query, response, what was retrieved) to ratings from 1 to 5 by scale."""
_OF_THE_PREDICTION = frozenset({"search_context", "processing_time_ms", "ratings"})
"""Looked for in the prediction before the example: they belong to the reply."""


def as_metric(
    *,
    subjective: str,
    judge: Judge | None = None,
    threshold: float | None = None,
    profile: str = TURNWISE,
    patterns: str | Path | None = None,
    embedding: str = AUTO,
    fields: Mapping[str, str] | None = None,
) -> AssistantQuality:
    """A metric for DSPy.

    Args:
        subjective: where the half comes from that people rate. `omit`: from nowhere, the score is the objective
            quality alone. `judge`: from `judge`, the score is the overall quality. `error`: from the prediction (or
            example), which carries `ratings`; without them the metric fails.
        judge: rates a reply, for `subjective="judge"`.
        threshold: from which score on a reply is good enough to learn from; the default is the profile's
            `production_ready`, 0.85 unless it says otherwise.
        profile: `turnwise`, or `spec` for the document to the letter.
        patterns: the organisation's file of patterns.
        embedding: `auto`, `none`, or a folder with a model.
        fields: other names of fields, e.g. `{"query": "question", "response": "answer"}`.

    Example:
        >>> from turnwise.integrations.dspy import as_metric
        >>> metric = as_metric(subjective="omit", threshold=0.8)
    """
    _check_subjective(subjective, judge)
    used = evaluator(profile, None if patterns is None else str(patterns), embedding)
    least = float(used.context["production_ready"]) if threshold is None else threshold
    if not 0 <= least <= 1:
        raise UsageError("threshold is not a quality", found=str(threshold), expected="a number from 0 to 1")
    return AssistantQuality(used, judge, subjective, least, _names(fields or {}))


class AssistantQuality:
    """The metric; `as_metric` makes it."""

    def __init__(
        self, used: Evaluator, judge: Judge | None, subjective: str, threshold: float, fields: Mapping[str, str]
    ) -> None:
        self.subjective, self.threshold, self.fields = subjective, threshold, fields
        self.failures: list[TurnwiseError] = []
        """What was raised: DSPy goes on after an error, and counts 0."""
        self._evaluator, self._judge = used, judge

    def __call__(
        self, example: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """A number from 0 to 1; with a trace, whether it reaches the threshold; for a predictor, with feedback."""
        try:
            measured, found = self.measure(example, pred)
            score = self._score(measured, found)
        except TurnwiseError as error:
            self.failures.append(error)
            raise
        if pred_name is not None:
            dspy = import_extra("dspy", "dspy", "feedback for an optimiser")
            return dspy.Prediction(score=score, feedback=feedback(measured, found, self._evaluator.profile))
        return score >= self.threshold if trace is not None else score

    def measure(self, example: Any, pred: Any) -> tuple[ResponseMetrics, Qualities]:
        """What is known about a reply, and the qualities that follow."""
        row = {name: self._field(name, example, pred) for name in FIELDS}
        turn = {
            "session_id": "dspy",
            "turn": 1 if row["turn"] is None else row["turn"],
            "query": self._said("query", example, "example"),
            "response": self._said("response", pred, "prediction"),
            "chunks": row["search_context"],
            "processing_time_ms": row["processing_time_ms"],
            "is_first_response": row["is_first_response"],
            "scenario": row["scenario"],
        }
        measured = self._evaluator.measure(make_turn(turn, "as_metric(...)"))
        ratings = self._ratings(turn["query"], turn["response"], row)
        return measured, qualities({**measured.values(), **ratings}, measured.context, measured.scenario)

    def _score(self, measured: ResponseMetrics, found: Qualities) -> float:
        score = found.objective if self.subjective == OMIT else found.overall
        if score is None:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in measured.missing.items())
            raise InputError("there is no quality of this reply: a number would be made up", found=reasons)
        return round(score, 12)

    def _ratings(self, query: str, response: str, row: Mapping[str, Any]) -> dict[str, float]:
        if self.subjective == OMIT:
            return {}
        given = self._judge(query, response, row["search_context"]) if self._judge is not None else row["ratings"]
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                "the overall quality needs ratings, and there are none",
                found=shorten(given),
                expected='ratings by scale, e.g. {"empathy": 4, "clarity": 5}',
                remedy="nobody has rated a new reply yet: subjective='omit', or 'judge' with a judge",
            )
        return {scale_named(name).metric: _rating(name, value) for name, value in given.items()}

    def _said(self, name: str, source: Any, what: str) -> str:
        value = _get(source, self.fields[name])
        if not isinstance(value, str):
            known = ", ".join(map(str, source.keys())) if hasattr(source, "keys") else type(source).__name__
            raise InputError(
                f"the {what} has no text {self.fields[name]!r}",
                found=known if value is None else shorten(value),
                expected=f"the {name} as a text",
                remedy=f"say what it is called: as_metric(fields={{{name!r}: ...}})",
            )
        return value

    def _field(self, name: str, example: Any, pred: Any) -> Any:
        order = (pred, example) if name in _OF_THE_PREDICTION else (example, pred)
        found = (_get(source, self.fields[name]) for source in order)
        return next((value for value in found if value is not None), None)


def _check_subjective(subjective: str, judge: Judge | None) -> None:
    known = (JUDGE, OMIT, ERROR)
    if subjective not in known:
        remedy = near_misses(str(subjective), known) or None
        raise UsageError(f"subjective={subjective!r} is unknown", expected=" or ".join(known), remedy=remedy)
    if subjective == JUDGE and judge is None:
        raise UsageError(
            "turnwise has no judge of its own yet",
            expected="judge=, a function of query, response and what was retrieved that gives ratings by scale",
            remedy="pass one, or choose subjective='omit' for the objective quality alone",
        )
    if subjective != JUDGE and judge is not None:
        raise UsageError(f"a judge is of no use with subjective={subjective!r}", remedy="subjective='judge'")


def _names(given: Mapping[str, str]) -> dict[str, str]:
    for name in given:
        if name not in FIELDS:
            remedy = near_misses(name, FIELDS) or None
            raise UsageError(f"there is no field {name!r}", expected=", ".join(FIELDS), remedy=remedy)
    return {name: given.get(name, name) for name in FIELDS}


def _get(source: Any, name: str) -> Any:
    """A field of an example or a prediction, or of a dictionary; None where it is not there."""
    get = getattr(source, "get", None)
    return get(name, None) if callable(get) else getattr(source, name, None)


def _rating(scale: str, value: Any) -> float:
    """A rating from 1 to 5; a judge may average several."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
    if not isfinite(number) or not LOWEST <= number <= HIGHEST:
        raise InputError(f"{scale} cannot be rated {shorten(value)}", expected=f"a number from {LOWEST} to {HIGHEST}")
    return float(number)
