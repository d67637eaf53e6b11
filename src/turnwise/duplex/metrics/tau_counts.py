"""The counts behind tau-voice's metrics, under their own names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import TAU_VOICE, TalkMetric
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.metrics.selectivity import SETTINGS, found
from turnwise.duplex.records import BACKCHANNEL, CONVERSATION, NON_DIRECTED, VOCAL_TIC
from turnwise.duplex.timing import Outcome, agent_interruptions, answers, interruptions
from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import Rollup, total
from turnwise.kernel.score import Measurement, measured

_TOTAL = Rollup("pooled", (total(),), primary=True)


def _spec(name: str, question: str, parameters: tuple[Parameter, ...] = ()) -> MetricSpec:
    return declared(
        name,
        question,
        (Output(statistics=("count",), direction=Direction.NEITHER, range=(0.0, None), rollups=(_TOTAL,)),),
        unit=CONVERSATION,
        parameters=parameters,
        profiles=(TAU_VOICE,),
    )


class _Count(TalkMetric):
    """How many there are in a conversation; the roll-up adds up."""

    def judge(self, talk: Talk) -> Iterable[tuple[str, Measurement]]:
        """One number."""
        yield "value", measured((float(self.count(talk)),))

    def count(self, talk: Talk) -> int:
        """How many."""
        raise NotImplementedError


class Simulations(_Count):
    """Conversations."""

    spec: ClassVar[MetricSpec] = _spec("n_simulations", "How many conversations are there?")

    def count(self, talk: Talk) -> int:
        """One."""
        return 1


class ResponseTotal(_Count):
    """Turns that could be answered."""

    spec: ClassVar[MetricSpec] = _spec("response_total", "How many turns could be answered?")

    def count(self, talk: Talk) -> int:
        """Without a last turn that has no answer."""
        return sum(answer.counted for answer in answers(talk.timeline, talk.events, None))


class YieldTotal(_Count):
    """Interruptions."""

    spec: ClassVar[MetricSpec] = _spec("yield_total", "How many interruptions are there?")

    def count(self, talk: Talk) -> int:
        """While the agent speaks."""
        return sum(one.outcome is not Outcome.SILENT for one in interruptions(talk.timeline, talk.events))


class AgentInterrupts(_Count):
    """What the agent began to say while the user spoke."""

    spec: ClassVar[MetricSpec] = _spec("agent_interrupts_count", "How often does the agent interrupt?")

    def count(self, talk: Talk) -> int:
        """Segments of the agent."""
        return len(agent_interruptions(talk.timeline))


class _Ignorable(_Count):
    """Events of one kind that tau-voice reports."""

    kind: ClassVar[str]

    def count(self, talk: Talk) -> int:
        """Beside the user's speech only errors."""
        return sum(one.event.kind == self.kind and one.reported for one in found(self, talk))


class BackchannelTotal(_Ignorable):
    """Signs of listening."""

    kind = BACKCHANNEL
    spec: ClassVar[MetricSpec] = _spec("backchannel_total", "How many signs of listening are there?", SETTINGS)


class VocalTicTotal(_Ignorable):
    """Coughs and the like."""

    kind = VOCAL_TIC
    spec: ClassVar[MetricSpec] = _spec("vocal_tic_total", "How many coughs and the like are there?", SETTINGS)


class NonDirectedTotal(_Ignorable):
    """Things said to somebody else."""

    kind = NON_DIRECTED
    spec: ClassVar[MetricSpec] = _spec("non_directed_total", "How many things are said to somebody else?", SETTINGS)
