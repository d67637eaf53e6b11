"""What a run says about each turn, session and version, from stored rows alone.

Ratings that came in after the run are there; several raters of a turn are averaged first. Files, exports and chat
commands are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from turnwise.assistant.composites import Qualities, qualities
from turnwise.assistant.metrics.quality import with_judge_ratings
from turnwise.assistant.records import SCENARIO, SESSION, UNIT, VERSION
from turnwise.assistant.scales import BY_JUDGE, COMPOSITES, OBJECTIVE, SUBJECTIVE
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
    """By scale's metric and rater: people's."""
    judged: Mapping[str, float | str] = field(default_factory=dict)
    """What a judge said, by scale's metric, and by the names of the user's own rubrics; never among the values."""
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
    context, stand_in = run.config.get("context", {}), with_judge_ratings(run.config)
    for found, scores in stream_items_with_scores(store, run, item, with_content=True):
        if found["kind"] == UNIT:
            yield _outcome(found, [s for s in scores if s["variant"] in ("", BY_JUDGE)], context, stand_in)


def _outcome(
    item: Mapping[str, Any], scores: list[dict[str, Any]], context: Mapping[str, str], stand_in: bool
) -> TurnOutcome:
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    evidence: dict[str, Any] = {}
    ratings: dict[str, dict[str, float]] = {}
    judged: dict[str, float | str] = {}
    for score in scores:
        name = score["metric"].partition("/")[2]
        said = score["label"] if score["value"] is None else score["value"]
        if score["source"] == Source.HUMAN.value:
            if score["value"] is not None:
                ratings.setdefault(name, {})[score["rater"]] = score["value"]
        elif score["source"] == Source.JUDGE.value:
            if said is not None:
                judged[name if score["output"] == "value" else f"{name}.{score['output']}"] = said
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
        judged=judged,
        evidence=evidence,
        qualities=_qualities(values, judged if stand_in else {}, context, scenario),
    )


def _qualities(
    values: Mapping[str, float], judged: Mapping[str, float | str], context: Mapping[str, str], scenario: str
) -> Qualities:
    """The qualities; where a judge's ratings stand in for people's, they say on which scales (`by_judge`)."""
    others = {name: float(judged[name]) for name in SUBJECTIVE if name in judged and name not in values}
    made = qualities({**values, **others}, context, scenario)
    if not others:
        return made
    half = {**made.made_of["subjective"], "by_judge": list(others)}
    return replace(made, made_of={**made.made_of, "subjective": half})


def by_judge(name: str) -> str:
    """What the ratings of a judge on a scale are called beside people's."""
    return f"{name}_{BY_JUDGE}"


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
        judged = {by_judge(name): float(outcome.judged[name]) for name in SUBJECTIVE if name in outcome.judged}
        for name, value in {**made, **outcome.values, **judged}.items():
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
