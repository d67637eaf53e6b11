"""Reject rate: does the agent wait, where a stranger speaks or the user only pauses?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.duplex.cases import REJECT, SILENT, Fact
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import CATEGORIES, OWN, CaseMetric, over_files
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CONVERSATION
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, MICRO_SECOND, Rollup, mean
from turnwise.kernel.score import Measurement, not_applicable


class RejectRate(CaseMetric):
    """The share of outputs that begin only after the user's sentence; and the share that never begin."""

    facts: ClassVar = {"value": (REJECT,), "silent": (SILENT,)}
    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="reject_rate",
        version=1,
        question="How often does the agent wait for the end of the user's own sentence?",
        unit=CONVERSATION,
        outputs=(
            Output(statistics=("rejected",), range=(0.0, 1.0), rollups=(MEAN,)),
            Output("silent", ("silent",), Direction.NEITHER, (0.0, 1.0), (MEAN,)),
        ),
        needs=(REJECT,),
        context=("level", "delays", "voice"),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
    )

    def judged(self, output: str, fact: Fact) -> Measurement:
        """The document counts outputs with a word only."""
        if output == "value" and self.is_spec and fact.reason == SILENT:
            return not_applicable("the output has no word")
        return super().judged(output, fact)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Files do not tell silent outputs."""
        told = self.level != CATEGORIES and "delays" not in self.settings.context
        return super().outputs if told else super().outputs[:1]

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """Each category and language counts the same; beside it, each conversation."""
        primary = over_files(mean, None)
        return (primary,) if self.level == CATEGORIES else (primary, MICRO_SECOND)
