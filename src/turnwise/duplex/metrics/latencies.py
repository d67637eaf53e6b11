"""The challenge's two latencies: how long both speak at once, and how long the agent takes to answer."""

from __future__ import annotations

from typing import ClassVar

from turnwise.duplex.cases import RESP, STOP
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import CATEGORIES, OWN, POOLED, RECORDINGS, CaseMetric, over_files
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CONVERSATION
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, pool


def _spec(name: str, question: str, fact: str) -> MetricSpec:
    return MetricSpec(
        room=ROOM,
        name=name,
        version=1,
        question=question,
        unit=CONVERSATION,
        outputs=(
            Output(statistics=("seconds", "intervals"), direction=Direction.LOWER, range=(0.0, None), rollups=(MEAN,)),
        ),
        needs=(f"{fact}|speech",),
        context=("level", "voice"),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
    )


class _Latency(CaseMetric):
    """The mean length of all intervals of a category, then the mean of the categories."""

    pools = True

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """Intervals of a category are pooled; without categories, all of them are."""
        whole = Rollup("pooled", (pool(),), primary=self.level == RECORDINGS)
        if self.level == RECORDINGS:
            return (POOLED,)
        primary = over_files(pool, 3 if self.is_spec else None)
        return (primary,) if self.level == CATEGORIES else (primary, whole)


class AverageStop(_Latency):
    """The mean length of the stretches in which user and agent speak at once."""

    facts: ClassVar = {"value": (STOP,)}
    spec: ClassVar[MetricSpec] = _spec(
        "avg_latency_stop", "How long do the user and the agent speak at once when the user interrupts?", STOP
    )


class AverageResponse(_Latency):
    """The mean gap between the user's end and the agent's next start."""

    facts: ClassVar = {"value": (RESP,)}
    spec: ClassVar[MetricSpec] = _spec(
        "avg_latency_resp", "How long after the user's end does the agent begin to speak?", RESP
    )
