"""What a run says about each turn, session and version, from stored rows alone.

Ratings that came in after the run are there; several raters of a turn are averaged first. Files, exports and chat
commands are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnwise.assistant.composites import Qualities, qualities
from turnwise.assistant.records import SCENARIO, SESSION, UNIT, VERSION
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.jsontext import loads
from turnwise.kernel.score import Source
from turnwise.store.reading import stream_items_with_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

BOOLEAN = frozenset(OBJECTIVE) - {"citation_accuracy", "rag_similarity_score"}
"""Objective metrics that the document writes as true and false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """One turn with all that is known about it."""

    number: int
    """The item's number in the store: turns come in the order of the data."""
    id: str
    session_id: str
    version: str
    scenario: str
    content: Mapping[str, Any]
    """The turn in the names of the JSONL form."""
    values: Mapping[str, float]
    """By metric, objective ones and (averaged over raters) ratings; what is missing is not in it."""
    missing: Mapping[str, str]
    """By objective metric, why there is no value."""
    ratings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By scale's metric and rater."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """By objective metric, what it was decided by."""
    qualities: Qualities = field(default_factory=Qualities)

    def metrics(self) -> dict[str, Any]:
        """The document's JSON object: true and false, null for what does not apply, ratings where there are any."""
        measured = {name: document_value(name, self.values.get(name)) for name in OBJECTIVE}
        rated = {name: plain_rating(self.values[name]) for name in SUBJECTIVE if name in self.values}
        q = self.qualities
        made = dict(zip(COMPOSITES, (q.objective, q.subjective, q.overall), strict=True))
        return {**measured, **rated, **{name: value for name, value in made.items() if value is not None}}


def document_value(name: str, value: float | None) -> bool | float | None:
    """A value as the document writes it."""
    return None if value is None else bool(value) if name in BOOLEAN else value


def turn_outcomes(store: Store, run: Run, item: int | None = None) -> Iterator[TurnOutcome]:
    """Every turn of a run in the order of the data, or the one with a number; baselines are left out."""
    context = run.config.get("context", {})
    for found, scores in stream_items_with_scores(store, run, item, with_content=True):
        if found["kind"] == UNIT:
            yield _outcome(found, [score for score in scores if not score["variant"]], context)


def _outcome(item: Mapping[str, Any], scores: list[dict[str, Any]], context: Mapping[str, str]) -> TurnOutcome:
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    evidence: dict[str, Any] = {}
    ratings: dict[str, dict[str, float]] = {}
    for score in scores:
        name = score["metric"].partition("/")[2]
        if score["source"] != Source.CODE.value:
            if score["value"] is not None:
                ratings.setdefault(name, {})[score["rater"]] = score["value"]
        elif name in OBJECTIVE:
            if score["value"] is None:
                missing[name] = score["reason"]
            else:
                values[name] = score["value"]
            if score["evidence"]:
                evidence[name] = loads(score["evidence"])
    for name, given in ratings.items():
        values[name] = sum(given.values()) / len(given)
    dimensions = loads(item["dimensions"])
    scenario = dimensions.get(SCENARIO, "")
    return TurnOutcome(
        number=item["number"],
        id=item["id"],
        session_id=dimensions.get(SESSION, item["cluster"]),
        version=dimensions.get(VERSION, ""),
        scenario=scenario,
        content=loads(item["content"]) if item["content"] else {},
        values=values,
        missing=missing,
        ratings=ratings,
        evidence=evidence,
        qualities=qualities(values, context, scenario),
    )


def plain_rating(value: float) -> int | float:
    """A rating as people write it: a whole number, unless raters were averaged."""
    return int(value) if value == int(value) else value


@dataclass(slots=True)
class Averages:
    """The averages of the document's queries, over the turns that have a value."""

    turns: int = 0
    _sums: dict[str, float] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, outcome: TurnOutcome) -> None:
        """One more turn."""
        self.turns += 1
        q = outcome.qualities
        made = dict(zip(COMPOSITES, (q.objective, q.subjective, q.overall), strict=True))
        for name, value in {**made, **outcome.values}.items():
            if value is not None:
                self._sums[name] = self._sums.get(name, 0.0) + value
                self._counts[name] = self._counts.get(name, 0) + 1

    def mean(self, name: str) -> float | None:
        """The mean of a metric; None where no turn has it."""
        return self._sums[name] / self._counts[name] if self._counts.get(name) else None

    def count(self, name: str) -> int:
        """How many turns have a value of a metric."""
        return self._counts.get(name, 0)


def session_averages(outcomes: Iterable[TurnOutcome]) -> dict[tuple[str, str], Averages]:
    """By session and version, in the order of the data."""
    found: dict[tuple[str, str], Averages] = {}
    for outcome in outcomes:
        found.setdefault((outcome.session_id, outcome.version), Averages()).add(outcome)
    return found


def version_averages(outcomes: Iterable[TurnOutcome]) -> dict[str, Averages]:
    """By version, in the order of the data."""
    found: dict[str, Averages] = {}
    for outcome in outcomes:
        found.setdefault(outcome.version, Averages()).add(outcome)
    return found
