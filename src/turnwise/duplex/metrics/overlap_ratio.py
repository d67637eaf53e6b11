"""Overlap ratio: how much of the talking both do at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from turnwise.duplex.batch import Talk
from turnwise.duplex.metrics.base import TalkMetric
from turnwise.duplex.metrics.responses import declared
from turnwise.duplex.records import CONVERSATION
from turnwise.duplex.timing import overlaps
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, pool
from turnwise.kernel.score import Measurement, measured, not_applicable

_POOLED_SECOND = Rollup("pooled", (pool(),))


class OverlapRatio(TalkMetric):
    """Seconds in which both speak over seconds in which anybody speaks."""

    spec: ClassVar[MetricSpec] = declared(
        "overlap_ratio",
        "How much of the talking do both do at once?",
        (
            Output(
                statistics=("both", "anybody"),
                direction=Direction.NEITHER,
                range=(0.0, 1.0),
                rollups=(MEAN, _POOLED_SECOND),
            ),
        ),
        unit=CONVERSATION,
        source="",
    )

    def judge(self, talk: Talk) -> Iterable[tuple[str, Measurement]]:
        """One conversation."""
        user, agent = talk.timeline.user or (), talk.timeline.agent or ()
        both = sum(end - start for start, end in overlaps(user, agent))
        anybody = sum(segment.seconds for segment in (*user, *agent)) - both
        if anybody <= 0:
            yield "value", not_applicable("nobody speaks")
        else:
            yield "value", measured((min(both, anybody), anybody))
