"""What people say about a reply, on five scales from 1 to 5. Nothing here measures: ratings are added to a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from turnwise.assistant.batch import TurnBatch
from turnwise.assistant.metrics import ROOM
from turnwise.assistant.metrics.base import DOCUMENT, Found
from turnwise.assistant.records import RESPONSE, UNIT
from turnwise.assistant.scales import HIGHEST, LOWEST, guide_digest, scale_metric, scales
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.signature import signature


class Rating(Metric):
    """A scale. Its scores have `source=human` and a rater; several raters of a turn are averaged first."""

    scale: ClassVar[str]

    def measure(self, batch: TurnBatch) -> Iterable[Found]:
        """Nothing: people rate, when they have read the reply."""
        return ()

    @property
    def signature(self) -> str:
        """Ratings made with another guide are another measurement, so the guide's hash is part of it."""
        parts: dict[str, Any] = {"guide": guide_digest(self.scale)}
        return signature(self.spec.full_name, self.spec.version, self.settings.profile, parts)


def _spec(name: str) -> MetricSpec:
    return MetricSpec(
        room=ROOM,
        name=scale_metric(name),
        version=1,
        question=scales()[name].question,
        unit=UNIT,
        outputs=(Output(statistics=("rating",), range=(float(LOWEST), float(HIGHEST))),),
        needs=(RESPONSE,),
        components=("people",),
        source=DOCUMENT,
        baselines=False,
    )


class Professionalism(Rating):
    """How professional the tone is."""

    scale = "professionalism"
    spec: ClassVar[MetricSpec] = _spec("professionalism")


class Empathy(Rating):
    """How empathetic the reply is."""

    scale = "empathy"
    spec: ClassVar[MetricSpec] = _spec("empathy")


class Clarity(Rating):
    """How clear the reply is."""

    scale = "clarity"
    spec: ClassVar[MetricSpec] = _spec("clarity")


class Actionability(Rating):
    """How actionable the next steps are."""

    scale = "actionability"
    spec: ClassVar[MetricSpec] = _spec("actionability")


class Compliance(Rating):
    """How well compliance is handled."""

    scale = "compliance"
    spec: ClassVar[MetricSpec] = _spec("compliance")
