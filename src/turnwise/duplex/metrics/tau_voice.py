"""tau-voice's metrics under their own names, for its profile: what that tool reports, nothing corrected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import POOLED_MEAN, TAU_VOICE, EventMetric, Found
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.metrics.selectivity import SETTINGS, found
from turnwise.duplex.metrics.yielding import SETTINGS as YIELDING
from turnwise.duplex.records import BACKCHANNEL, NON_DIRECTED, VOCAL_TIC
from turnwise.duplex.timing import EPSILON, answers, interruptions
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.score import measured

_PROFILE = (TAU_VOICE,)
_SECONDS = Output(statistics=("seconds",), direction=Direction.LOWER, range=(0.0, None), rollups=(POOLED_MEAN,))


class ResponseLatencyMean(EventMetric):
    """The mean latency of all answers."""

    spec: ClassVar[MetricSpec] = declared(
        "response_latency_mean", "How long after the user's turn does the agent answer?", (_SECONDS,), profiles=_PROFILE
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every answered turn."""
        for answer in answers(talk.timeline, talk.events, None):
            if answer.latency is not None and talk.asks(answer.event):
                yield talk.unit(answer.event), "value", measured((answer.latency,))


class YieldLatencyMean(EventMetric):
    """The mean time to the first moment of silence, of interruptions at which there is one in time."""

    spec: ClassVar[MetricSpec] = declared(
        "yield_latency_mean",
        "How fast does the agent fall silent when interrupted?",
        (_SECONDS,),
        parameters=YIELDING,
        profiles=_PROFILE,
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every interruption with a moment of silence in time."""
        window, reaction = (self.settings.values[name] for name in ("yield_window", "reaction"))
        for one in interruptions(talk.timeline, talk.events, window, reaction):
            if one.latency is not None and one.latency <= window + EPSILON and talk.asks(one.event):
                yield talk.unit(one.event), "value", measured((one.latency,))


class _Selectivity(EventMetric):
    """1 - errors / events, of events of one kind; beside the user's speech only errors are events."""

    kind: ClassVar[str]

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Everything of the kind that tau-voice reports."""
        for one in found(self, talk):
            if one.event.kind == self.kind and one.reported:
                yield talk.unit(one.event), "value", measured((float(one.correct),))


def _selectivity(name: str, what: str) -> MetricSpec:
    return declared(
        f"selectivity_{name}",
        f"How often does the agent ignore {what}?",
        (Output(statistics=("ignored",), range=(0.0, 1.0), rollups=(POOLED_MEAN,)),),
        parameters=SETTINGS,
        profiles=_PROFILE,
    )


class SelectivityBackchannel(_Selectivity):
    """Signs of listening."""

    kind = BACKCHANNEL
    spec: ClassVar[MetricSpec] = _selectivity("backchannel", "signs of listening")


class SelectivityVocalTic(_Selectivity):
    """Coughs and the like."""

    kind = VOCAL_TIC
    spec: ClassVar[MetricSpec] = _selectivity("vocal_tic", "coughs and the like")


class SelectivityNonDirected(_Selectivity):
    """What the user says to somebody else."""

    kind = NON_DIRECTED
    spec: ClassVar[MetricSpec] = _selectivity("non_directed", "what the user says to somebody else")
