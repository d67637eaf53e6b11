"""The two totals of the challenge: does the agent answer interruptions, and does it ignore what it should?"""

from __future__ import annotations

from typing import ClassVar

from turnwise.duplex.cases import PART, REJECT, RESPOND, RESUME, SILENT, Fact
from turnwise.duplex.categories import Measured
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import BY_FILE, CATEGORIES, OWN, CaseMetric, over_files
from turnwise.duplex.metrics.labels import LabelMetric
from turnwise.duplex.records import CATEGORY, CONVERSATION
from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import MEAN, MICRO_SECOND, Rollup, mean
from turnwise.kernel.score import Measurement, not_applicable

HUMDIAL = "HumDial challenge, track 2: the scoring document"


class InterruptionTotal(LabelMetric, CaseMetric):
    """The share of interruptions that were answered, averaged over five categories in two languages, times 100."""

    facts: ClassVar = {"value": (RESPOND,)}
    scale = 100.0
    of_measured = (Measured.RESPOND,)
    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="interruption_total_score",
        version=1,
        question="How often does the agent answer an interruption?",
        unit=CONVERSATION,
        outputs=(Output(statistics=("score",), range=(0.0, 100.0), rollups=(MEAN,)),),
        needs=(RESPOND,),
        context=("level",),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
        baselines=False,
    )

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """Each category counts the same; beside it, each conversation."""
        primary = over_files(mean, 2 if self.is_spec else None)
        return (primary,) if self.level == CATEGORIES else (primary, MICRO_SECOND)


class RejectionTotal(LabelMetric, CaseMetric):
    """How often the agent ignores what is not meant for it: four parts, each averaged over two languages."""

    facts: ClassVar = {"value": (RESUME, REJECT)}
    scale = 100.0
    of_measured = (Measured.RESUME,)
    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="rejection_total_score",
        version=1,
        question="How often does the agent ignore what is not meant for it?",
        unit=CONVERSATION,
        outputs=(Output(statistics=("score",), range=(0.0, 100.0), rollups=(MEAN,)),),
        needs=(f"{RESUME}|{REJECT}",),
        context=("level",),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
        baselines=False,
    )

    def judged(self, output: str, fact: Fact) -> Measurement:
        """The document leaves outputs without a word out; silence is right where nothing should be answered."""
        if self.is_spec and fact.reason == SILENT:
            return not_applicable("the output has no word")
        return super().judged(output, fact)

    def rollups(self, output: Output) -> tuple[Rollup, ...]:
        """Languages first, then the two categories with a third party, then the four parts."""
        steps = (
            mean(by=(PART, *BY_FILE)),
            mean(by=(PART, CATEGORY), digits=1 if self.is_spec else None),
            mean(by=(PART,)),
            mean(digits=3 if self.is_spec else None),
        )
        primary = Rollup("mean", steps, primary=True)
        return (primary,) if self.level == CATEGORIES else (primary, MICRO_SECOND)
