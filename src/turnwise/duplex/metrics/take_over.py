"""Take-over: does the agent take the turn?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import SHARE, SPREAD, EventMetric, Found
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.records import INTERRUPTION, TURN
from turnwise.duplex.timing import take_overs
from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.score import measured, not_applicable

FDB = "Full-Duplex-Bench (Lin et al. 2025)"


class TakeOver(EventMetric):
    """Whether what the agent says at an event is a turn of its own; and how soon it comes."""

    both_sides = False  # the events may be labelled, and the agent's words known

    spec: ClassVar[MetricSpec] = declared(
        "take_over",
        "Does the agent take the turn, where it should and where it should not?",
        (
            Output(statistics=("taken",), direction=Direction.NEITHER, range=(0.0, 1.0), rollups=SHARE),
            Output("latency", ("seconds",), Direction.LOWER, (None, None), SPREAD),
        ),
        source=FDB,
        parameters=(
            Parameter("turn_seconds", 1.0, "seconds from which on speech is a turn"),
            Parameter("turn_words", 3, "words beyond which speech is a turn, however short"),
        ),
    )

    def judge(self, talk: Talk) -> Iterable[Found]:
        """Every event; the latency only at turns and interruptions that were taken over."""
        values = self.settings.values
        for one in take_overs(talk.timeline, talk.events, values["turn_seconds"], values["turn_words"]):
            if not talk.asks(one.event):
                continue
            unit = talk.unit(one.event)
            about = {"seconds": round(one.seconds, 3)} | ({} if one.words is None else {"words": one.words})
            yield unit, "value", measured((float(one.taken),), evidence=about)
            if one.event.kind in (TURN, INTERRUPTION):
                latency = one.latency
                if latency is None:
                    yield unit, "latency", not_applicable("the agent did not take the turn, or had it already")
                else:  # who is asked to take a turn cannot be too early; who interrupts an interrupter is
                    early = max(0.0, latency) if one.event.kind == TURN else latency
                    yield unit, "latency", measured((early,))
