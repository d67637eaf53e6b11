"""Agent interruption rate: how often the agent begins while the user is speaking."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import OWN, POOLED, TAU_VOICE, TalkMetric
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.records import CONVERSATION
from turnwise.duplex.timing import PATIENCE, agent_interruptions, answers
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import FloatArray, ratio_value
from turnwise.kernel.score import Measurement, measured, not_applicable


class AgentInterruptionRate(TalkMetric):
    """What the agent began to say while the user spoke, per turn that could be answered."""

    spec: ClassVar[MetricSpec] = declared(
        "agent_interruption_rate",
        "How often does the agent begin while the user is speaking?",
        (
            Output(
                statistics=("interruptions", "turns"),
                direction=Direction.LOWER,
                range=(0.0, None),
                rollups=(POOLED,),
            ),
        ),
        unit=CONVERSATION,
        profiles=(*OWN, TAU_VOICE),
    )

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """Of one conversation; without a turn of the user every interruption counts as one of one."""
        return statistics[..., 0] / np.maximum(statistics[..., 1], 1)

    def pooled(self, output: str, statistics: FloatArray) -> FloatArray:
        """Of all: interruptions over turns."""
        return ratio_value(statistics)

    def judge(self, talk: Talk) -> Iterable[tuple[str, Measurement]]:
        """One conversation, with the moments as evidence."""
        published = self.settings.profile == TAU_VOICE
        turns = sum(one.counted for one in answers(talk.timeline, talk.events, None if published else PATIENCE))
        found = agent_interruptions(talk.timeline)
        if not turns and not (found and published):  # there, interruptions count even where nothing could be answered
            yield "value", not_applicable("no turn of the user that could be answered")
        else:
            at = [round(segment.start, 3) for segment in found]
            yield "value", measured((float(len(found)), float(turns)), evidence={"at": at} if at else None)
