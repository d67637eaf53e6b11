"""Behaviour: what the agent did, as somebody labelled it. Totals are made of these labels, whoever gave them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.cases import conversation_unit
from turnwise.duplex.categories import LABELS
from turnwise.duplex.metrics import ROOM
from turnwise.duplex.metrics.base import OWN, Found
from turnwise.duplex.metrics.labels import LabelMetric
from turnwise.duplex.metrics.totals import HUMDIAL
from turnwise.duplex.records import CONVERSATION
from turnwise.judge.records import CONSISTENCY, Question
from turnwise.kernel.metric import Direction, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, share
from turnwise.kernel.score import labelled, measured, skipped


class Behaviour(LabelMetric):
    """The label of each conversation, and the share of every label."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room=ROOM,
        name="behaviour",
        version=1,
        question="What does the agent do when the user speaks up?",
        unit=CONVERSATION,
        outputs=(
            Output(
                statistics=(),
                direction=Direction.NEITHER,
                range=(0.0, 1.0),
                rollups=tuple(
                    Rollup(f"share of {label}", (share(label),), primary=label == LABELS[0]) for label in LABELS
                ),
            ),
            Output(CONSISTENCY, ("share",), range=(0.0, 1.0), rollups=(MEAN,)),
        ),
        needs=("label",),
        components=("turn taking",),
        source=HUMDIAL,
        optional=True,
        profiles=OWN,
        baselines=False,
    )

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Only a judge that is asked more than once can disagree with itself."""
        repeated = self.judging and "judge_repeats" in self.settings.context
        return self.spec.outputs if repeated else self.spec.outputs[:1]

    def measure(self, batch: DuplexBatch) -> Iterable[Found]:
        """Every label; a conversation may have several. Where there is none, what the judge says."""
        for case in batch.cases:
            for repeat, label in enumerate(case.labels):
                yield case.unit, "value", labelled(label)._replace(repeat=repeat)
            if case.opinion is not None:
                yield case.unit, "value", case.opinion.found
                if case.opinion.consistency is not None:
                    own = measured((case.opinion.consistency,))
                    whose = case.opinion.found
                    yield case.unit, CONSISTENCY, own._replace(source=whose.source, rater=whose.rater)
        if self.judging:
            yield from self._not_judged(batch)

    def _not_judged(self, batch: DuplexBatch) -> Iterator[Found]:
        """Conversations without a label that the judge could not be shown, or whose recording cannot be used."""
        unusable = {conversation_unit(talk.timeline).id: talk.unusable for talk in batch.talks if talk.unusable}
        for unit, asked in self.asked(batch):
            if not isinstance(asked, Question):
                yield unit, "value", asked
            elif unit.id in unusable:
                yield unit, "value", skipped(unusable[unit.id])
