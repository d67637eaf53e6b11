"""The three qualities: what code measured, what people rated, and both together; with what each is made of.

The arithmetic is done on arrays, one element per turn, so that a run, a single reply and a chat command share it.
Weights travel as text (`equal`, or JSON by scenario), because they are part of a run's stored configuration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from turnwise.assistant.profile import Profile
from turnwise.assistant.scales import BY_JUDGE, COMPOSITES, HIGHEST, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.bands import Band, Bands
from turnwise.kernel.derived import Input
from turnwise.kernel.rollup import FloatArray

EQUAL = "equal"
OVERALL = "0.4/0.6"
READY = "0.85"
PRODUCTION_READY, NOT_READY = "production_ready", "not_ready"
JUDGE_RATINGS = "judge_ratings"
"""The setting that lets a judge's ratings stand in where people gave none."""
CONTEXT = ("objective_weights", "subjective_weights", "overall_weights", "production_ready")


def composite_context(profile: Profile) -> dict[str, str]:
    """The settings of a run that its qualities depend on."""
    overall = profile.weights.overall
    return {
        "objective_weights": _weights_text(profile, "objective"),
        "subjective_weights": _weights_text(profile, "subjective"),
        "overall_weights": f"{_exact(overall.objective)}/{_exact(overall.subjective)}",
        "production_ready": _exact(profile.production_ready),
    }


def _exact(number: float) -> str:
    """A number as text from which the same number comes back."""
    return repr(number).removesuffix(".0")


def _weights_text(profile: Profile, half: str) -> str:
    everywhere: dict[str, float] = getattr(profile.weights, half)
    by_scenario = {name: {**everywhere, **getattr(own, half)} for name, own in profile.scenario_weights.items()}
    tables = {"": everywhere, **{name: own for name, own in by_scenario.items() if own != everywhere}}
    if all(weight == 1 for table in tables.values() for weight in table.values()):
        return EQUAL
    return json.dumps(tables, sort_keys=True, separators=(",", ":"))


@cache
def _tables(text: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {"": {}} if text == EQUAL else json.loads(text)
    return found


def weights_of(text: str, scenario: str = "") -> dict[str, float]:
    """The weights that are not 1, for a turn of a scenario."""
    tables = _tables(text)
    return tables.get(scenario.strip().casefold(), tables[""])


def objective_quality(
    inputs: Mapping[str, FloatArray], *, objective_weights: str = EQUAL, scenario: Sequence[str] | None = None
) -> FloatArray:
    """The weighted mean of the objective metrics that have a value: sum(w v) / sum(w); NaN where none has."""
    return _weighted(inputs, OBJECTIVE, objective_weights, scenario)


def subjective_quality(
    inputs: Mapping[str, FloatArray],
    *,
    subjective_weights: str = EQUAL,
    judge_ratings: bool = False,
    scenario: Sequence[str] | None = None,
) -> FloatArray:
    """The weighted mean of the ratings there are, divided by 5: 0.2 to 1.

    With `judge_ratings` a judge's rating takes the place of one that nobody gave, scale by scale and turn by turn.
    """
    ratings = _stood_in(inputs) if judge_ratings else inputs
    return _weighted(ratings, SUBJECTIVE, subjective_weights, scenario) / HIGHEST


def _stood_in(inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """People's ratings, and a judge's where people gave none."""
    judged = {name: inputs[Input(name, variant=BY_JUDGE).label] for name in SUBJECTIVE}
    return {name: np.where(np.isnan(inputs[name]), judged[name], inputs[name]) for name in SUBJECTIVE}


def overall_quality(
    inputs: Mapping[str, FloatArray], *, overall_weights: str = OVERALL, production_ready: str = READY
) -> FloatArray:
    """0.4 objective + 0.6 subjective, or whatever the weights are; NaN unless both are there."""
    objective, subjective = (float(part) for part in overall_weights.split("/"))
    found = objective * inputs[COMPOSITES[0]] + subjective * inputs[COMPOSITES[1]]
    rounded: FloatArray = np.round(found, 12)  # so that 0.85 made of 0.85 and 0.85 is not below 0.85
    return rounded


def ready_bands(*, production_ready: str = READY, overall_weights: str = OVERALL) -> Bands:
    """From which overall quality on a reply is called production ready."""
    return Bands((Band(NOT_READY), Band(PRODUCTION_READY, f">={production_ready}")))


def _weighted(
    inputs: Mapping[str, FloatArray], names: Sequence[str], text: str, scenario: Sequence[str] | None
) -> FloatArray:
    values = np.stack([np.asarray(inputs[name], dtype=np.float64) for name in names])
    weights = np.ones_like(values)
    if text != EQUAL:
        known = scenario if scenario is not None else [""] * int(np.prod(values.shape[1:]))
        rows = [[weights_of(text, one).get(name, 1.0) for one in known] for name in names]
        weights = np.array(rows, dtype=np.float64).reshape(values.shape)
    there = ~np.isnan(values)
    counted = np.where(there, weights, 0.0)
    total = counted.sum(axis=0)
    summed = (counted * np.where(there, values, 0.0)).sum(axis=0)
    found: FloatArray = np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)
    return found


@dataclass(frozen=True, slots=True)
class Qualities:
    """The three qualities of one turn; None where there is nothing to make one of."""

    objective: float | None = None
    subjective: float | None = None
    overall: float | None = None
    band: str | None = None
    """Of the overall quality."""
    made_of: Mapping[str, Any] = field(default_factory=dict)
    """For each half the values it is the mean of, how many of how many, and the weights that are not 1."""


def qualities(values: Mapping[str, float | None], context: Mapping[str, str], scenario: str = "") -> Qualities:
    """The qualities of one turn from the values of its metrics; a metric that is missing or None has none.

    Args:
        values: by short name: the nine of 0 to 1, the five of 1 to 5 (the mean over raters).
        context: what `composite_context` gave; kept in the `context` of a run's configuration.
        scenario: of the turn.
    """
    inputs = {name: np.array([_number(values.get(name))]) for name in (*OBJECTIVE, *SUBJECTIVE)}
    own = {name: context[name] for name in CONTEXT if name in context}
    weights = {half: own.get(f"{half}_weights", EQUAL) for half in ("objective", "subjective")}
    objective = objective_quality(inputs, objective_weights=weights["objective"], scenario=[scenario])
    subjective = subjective_quality(inputs, subjective_weights=weights["subjective"], scenario=[scenario])
    last = {name: own[name] for name in CONTEXT[2:] if name in own}
    both = {COMPOSITES[0]: objective, COMPOSITES[1]: subjective}
    overall = _value(overall_quality(both, **last))
    made_of = {
        half: _made_of(values, names, weights_of(weights[half], scenario))
        for half, names in (("objective", OBJECTIVE), ("subjective", SUBJECTIVE))
    }
    made_of["overall"] = dict(zip(("objective", "subjective"), _halves(last), strict=True))
    band = None if overall is None else ready_bands(**last).of(overall)
    return Qualities(_value(objective), _value(subjective), overall, band, made_of)


def _halves(context: Mapping[str, str]) -> list[float]:
    return [float(part) for part in context.get("overall_weights", OVERALL).split("/")]


def _made_of(values: Mapping[str, float | None], names: Sequence[str], weights: Mapping[str, float]) -> dict[str, Any]:
    there = {name: value for name in names if (value := values.get(name)) is not None}
    found: dict[str, Any] = {"n": len(there), "of": len(names), "values": there}
    return found | ({"weights": {name: weights[name] for name in there if name in weights}} if weights else {})


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _value(found: FloatArray) -> float | None:
    return None if np.isnan(found[0]) else float(found[0])
