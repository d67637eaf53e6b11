"""Interruptions: does the agent stop, how soon, and if not, what does it do instead?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import OWN, SHARE, SPREAD, TAU_VOICE, EventMetric, Found
from turnwise.duplex.metrics.responses import declared, pooled_outputs
from turnwise.duplex.timing import REACTION, YIELD_WINDOW, Interruption, Outcome, interruptions
from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import Rollup, share
from turnwise.kernel.score import labelled, measured, not_applicable

SETTINGS = (
    Parameter("yield_window", YIELD_WINDOW, "seconds within which an agent that yields has fallen silent"),
    Parameter(
        "reaction",
        REACTION,
        "seconds; an agent that falls silent sooner had finished anyway",
        by_profile={TAU_VOICE: 0.0},
    ),
)


CUT_OFF = "the recording ends before the agent could yield"


class _Interruptions(EventMetric):
    """What became of every interruption."""

    def found(self, talk: Talk) -> list[Interruption]:
        """The interruptions that are asked about."""
        values = self.settings.values
        made = interruptions(talk.timeline, talk.events, values["yield_window"], values["reaction"])
        return [one for one in made if talk.asks(one.event)]


class YieldRate(_Interruptions):
    """The share of interruptions at which the agent fell silent in time and let the user speak."""

    spec: ClassVar[MetricSpec] = declared(
        "yield_rate",
        "How often does the agent let the user interrupt?",
        (Output(statistics=("yielded",), range=(0.0, 1.0), rollups=SHARE),),
        parameters=SETTINGS,
        profiles=(*OWN, TAU_VOICE),
    )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """tau-voice calls its mean pooled."""
        return pooled_outputs(self)

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every interruption at which the agent had something to yield."""
        for one in self.found(talk):
            none = not_applicable("nothing to yield: the agent was silent, or had finished")
            # tau-voice looks for the first moment of silence and not further.
            paused = self.settings.profile == TAU_VOICE and one.outcome is Outcome.PAUSED
            yes = one.outcome is Outcome.YIELDED or paused
            # There, no silence in time is no yielding, even if the recording ends first.
            if one.cut_off and self.settings.profile != TAU_VOICE:
                none = not_applicable(CUT_OFF)
            tells = one.tells or (one.cut_off and self.settings.profile == TAU_VOICE)
            yield talk.unit(one.event), "value", measured((float(yes),)) if tells else none


class StopLatency(_Interruptions):
    """From the user's start to the agent's silence, where it yielded; and what became of all interruptions."""

    spec: ClassVar[MetricSpec] = declared(
        "stop_latency",
        "How fast does the agent fall silent when it is interrupted?",
        (
            Output(statistics=("seconds",), direction=Direction.LOWER, range=(0.0, None), rollups=SPREAD),
            Output(
                "outcome",
                (),
                Direction.NEITHER,
                (0.0, 1.0),
                tuple(Rollup(f"share of {one}", (share(one),), one is Outcome.YIELDED) for one in Outcome),
            ),
        ),
        parameters=SETTINGS,
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every interruption; a latency only where the agent yielded."""
        for one in self.found(talk):
            unit = talk.unit(one.event)
            about = None if one.latency is None else {"silent_after": round(one.latency, 3)}
            known = labelled(one.outcome.value, evidence=about)
            yield unit, "outcome", not_applicable(CUT_OFF) if one.cut_off else known
            yielded = one.outcome is Outcome.YIELDED and one.latency is not None
            why = CUT_OFF if one.cut_off else one.outcome.value
            yield unit, "value", measured((one.latency or 0.0,)) if yielded else not_applicable(why)
