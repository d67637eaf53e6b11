"""What people say about a reply, on five scales from 1 to 5, and what a judge says beside them, where a run has one.

People's ratings are added to a run and never measured. A judge's are measured like anything else, under a variant of
their own, so that the two are never averaged together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from turnwise.assistant.metrics import ROOM
from turnwise.assistant.metrics.base import DOCUMENT, Found
from turnwise.assistant.records import RESPONSE, UNIT
from turnwise.assistant.scales import BY_JUDGE, HIGHEST, LOWEST, guide_digest, scale_metric, scales
from turnwise.judge.metric import CONTEXT, JUDGE, BatchWithPieces, JudgedMetric
from turnwise.judge.records import CONSISTENCY, Rubric
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import MEAN

_OF_JUDGE = (*CONTEXT, "rubric", "prompt")
"""The fields of a signature that are about the judge."""


class Rating(JudgedMetric):
    """A scale. People's scores have `source=human` and a rater; several raters of a turn are averaged first.

    A judge's have `source=judge`, its name as the rater, and the variant `judge`.
    """

    scale: ClassVar[str]
    variant = BY_JUDGE
    apart = frozenset({BY_JUDGE})

    def measure(self, batch: BatchWithPieces) -> Iterable[Found]:
        """What the judge of the run says; nothing without one, for people rate when they have read the reply."""
        return super().measure(batch) if JUDGE in self.settings.context else ()

    @property
    def signed(self) -> dict[str, Any]:
        """Ratings made with another guide are another measurement; so are those of another judge."""
        guide = {"guide": guide_digest(self.scale)}
        return {**guide, **super().signed} if JUDGE in self.settings.context else guide

    def signed_as(self, variant: str, signature: str) -> str:
        """People's ratings do not depend on who judges beside them."""
        return signature if variant == BY_JUDGE else by_people(signature)


def by_people(signature: str) -> str:
    """The signature of a scale without what it says about a judge.

    >>> by_people("assistant/empathy_score|v1|profile=turnwise|guide=ab|judge=m|prompt=1|rubric=empathy_score:cd")
    'assistant/empathy_score|v1|profile=turnwise|guide=ab'
    """
    return "|".join(part for part in signature.split("|") if part.partition("=")[0] not in _OF_JUDGE)


def _spec(name: str) -> MetricSpec:
    return MetricSpec(
        room=ROOM,
        name=scale_metric(name),
        version=1,
        question=scales()[name].question,
        unit=UNIT,
        outputs=(
            Output(statistics=("rating",), range=(float(LOWEST), float(HIGHEST))),
            Output(CONSISTENCY, ("share",), range=(0.0, 1.0), rollups=(MEAN,)),
        ),
        needs=(RESPONSE,),
        context=CONTEXT,
        components=("people",),
        source=DOCUMENT,
        baselines=False,
    )


def _rubric(name: str) -> Rubric:
    return packaged_rubric(ROOM, scale_metric(name))


class Professionalism(Rating):
    """How professional the tone is."""

    scale = "professionalism"
    rubric: ClassVar[Rubric] = _rubric("professionalism")
    spec: ClassVar[MetricSpec] = _spec("professionalism")


class Empathy(Rating):
    """How empathetic the reply is."""

    scale = "empathy"
    rubric: ClassVar[Rubric] = _rubric("empathy")
    spec: ClassVar[MetricSpec] = _spec("empathy")


class Clarity(Rating):
    """How clear the reply is."""

    scale = "clarity"
    rubric: ClassVar[Rubric] = _rubric("clarity")
    spec: ClassVar[MetricSpec] = _spec("clarity")


class Actionability(Rating):
    """How actionable the next steps are."""

    scale = "actionability"
    rubric: ClassVar[Rubric] = _rubric("actionability")
    spec: ClassVar[MetricSpec] = _spec("actionability")


class Compliance(Rating):
    """How well compliance is handled."""

    scale = "compliance"
    rubric: ClassVar[Rubric] = _rubric("compliance")
    spec: ClassVar[MetricSpec] = _spec("compliance")
