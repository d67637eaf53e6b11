"""The three qualities as derived metrics: worked out when they are read, so that a rating changes them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnwise.assistant import composites
from turnwise.assistant.metrics import ROOM
from turnwise.assistant.metrics.base import DOCUMENT
from turnwise.assistant.records import SCENARIO, UNIT
from turnwise.assistant.scales import BY_JUDGE, COMPOSITES, HIGHEST, LOWEST, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.derived import Derived, Input
from turnwise.kernel.metric import MetricSpec, Output, Parameter

_JUDGE_RATINGS = Parameter(
    composites.JUDGE_RATINGS,
    False,
    "whether a judge's ratings stand in on scales that nobody rated a turn on",
    quiet=True,
)


def with_judge_ratings(config: Mapping[str, Any]) -> bool:
    """Whether a run, by its configuration, lets a judge's ratings stand in."""
    given = config.get("set", {}).get(_JUDGE_RATINGS.name)
    return given is not None and bool(_JUDGE_RATINGS.parse(str(given)))


def _spec(name: str, question: str, lowest: float, *context: str, parameters: tuple[Parameter, ...] = ()) -> MetricSpec:
    return MetricSpec(
        room=ROOM,
        name=name,
        version=1,
        question=question,
        unit=UNIT,
        outputs=(Output(range=(lowest, 1.0)),),
        parameters=parameters,
        context=context,
        components=("quality",),
        source=DOCUMENT,
    )


OBJECTIVE_QUALITY = Derived(
    _spec(COMPOSITES[0], "How good is the reply, as far as code can tell?", 0.0, "objective_weights"),
    tuple(map(Input, OBJECTIVE)),
    composites.objective_quality,
    partial=True,
    dimensions=(SCENARIO,),
)
SUBJECTIVE_QUALITY = Derived(
    _spec(
        COMPOSITES[1],
        "How good is the reply, as people see it?",
        LOWEST / HIGHEST,
        "subjective_weights",
        parameters=(_JUDGE_RATINGS,),
    ),
    (
        *map(Input, SUBJECTIVE),
        *(Input(name, variant=BY_JUDGE, only_if=composites.JUDGE_RATINGS) for name in SUBJECTIVE),
    ),
    composites.subjective_quality,
    partial=True,
    dimensions=(SCENARIO,),
)
OVERALL_QUALITY = Derived(
    _spec(COMPOSITES[2], "How good is the reply, all in all?", 0.0, "overall_weights", "production_ready"),
    (Input(COMPOSITES[0]), Input(COMPOSITES[1])),
    composites.overall_quality,
    bands=composites.ready_bands,
)
