"""Answers: does the agent answer the user's turns, and how soon?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import OWN, POOLED_MEAN, SHARE, SPREAD, TAU_VOICE, EventMetric, Found
from turnwise.duplex.records import EVENT
from turnwise.duplex.timing import PATIENCE, answers
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.score import measured, not_applicable

ENDS = "the recording ends before an answer is due"
TAU = "tau-voice (Sierra Research): interaction metrics"


def declared(name: str, question: str, outputs: tuple[Output, ...], **changes: Any) -> MetricSpec:
    """The declaration of a metric on events."""
    about: dict[str, Any] = {
        "unit": EVENT,
        "needs": ("speech",),
        "context": ("voice",),
        "components": ("turn taking",),
        "source": TAU,
        "optional": True,
        "profiles": OWN,
    }
    return MetricSpec(room=ROOM, name=name, version=1, question=question, outputs=outputs, **about | changes)


def patience(metric: EventMetric) -> float | None:
    """How long a recording has to go on after the last turn for a missing answer to count."""
    return None if metric.settings.profile == TAU_VOICE else PATIENCE


class ResponseLatency(EventMetric):
    """From the end of a user's turn to the agent's next start; answered turns only."""

    spec: ClassVar[MetricSpec] = declared(
        "response_latency",
        "How long after the user's turn does the agent answer?",
        (Output(statistics=("seconds",), direction=Direction.LOWER, range=(0.0, None), rollups=SPREAD),),
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every turn that could be answered."""
        for answer in answers(talk.timeline, talk.events, patience(self)):
            if talk.asks(answer.event):
                none = not_applicable("no answer" if answer.counted else ENDS)
                found = none if answer.latency is None else measured((answer.latency,))
                yield talk.unit(answer.event), "value", found


class ResponseRate(EventMetric):
    """The share of turns that were answered before the user spoke again."""

    spec: ClassVar[MetricSpec] = declared(
        "response_rate",
        "How often does the agent answer the user's turn?",
        (Output(statistics=("answered",), range=(0.0, 1.0), rollups=SHARE),),
        profiles=(*OWN, TAU_VOICE),
    )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """tau-voice calls its mean pooled."""
        return pooled_outputs(self)

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every turn that could be answered; the last one only if it was."""
        for answer in answers(talk.timeline, talk.events, patience(self)):
            if talk.asks(answer.event):
                found = measured((float(answer.latency is not None),))
                yield talk.unit(answer.event), "value", found if answer.counted else not_applicable(ENDS)


def pooled_outputs(metric: EventMetric) -> tuple[Output, ...]:
    """The outputs; under tau-voice's profile with its one roll-up."""
    if metric.settings.profile != TAU_VOICE:
        return metric.spec.outputs
    return tuple(replace(output, rollups=(POOLED_MEAN,)) for output in metric.spec.outputs)
