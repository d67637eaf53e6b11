"""What the metrics share that are made of labels: where nobody labelled a conversation, a judge is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.cases import conversation_unit
from turnwise.duplex.categories import Measured, category_named
from turnwise.duplex.opinion import asked_about, behaviour_rubric
from turnwise.duplex.records import Timeline
from turnwise.judge.metric import CONTEXT, JUDGE, Asked
from turnwise.judge.prompt import PROMPT_VERSION
from turnwise.kernel.metric import Metric

LABELLED_BY = "labelled_by"
"""The setting of a run that says that a judge gives some of the labels."""


class LabelMetric(Metric):
    """A metric that is made of labels."""

    of_measured: ClassVar[tuple[Measured, ...]] = ()
    """The categories that it needs labels of, by what they are scored by; none: every conversation's."""

    @property
    def judging(self) -> bool:
        """Whether a judge gives some of the labels."""
        return self.settings.context.get(LABELLED_BY) == JUDGE

    def asked(self, batch: DuplexBatch) -> Iterator[Asked]:
        """What the judge is asked about each conversation that has no label, or why it cannot be."""
        for timeline in batch.timelines:
            unit = conversation_unit(timeline)
            asked = asked_about(timeline, unit) if self._counts(timeline) else None
            if asked is not None:
                yield unit, asked

    def _counts(self, timeline: Timeline) -> bool:
        if not self.of_measured:
            return True
        category = category_named(timeline.category) if timeline.category else None
        return category is not None and category.measured in self.of_measured

    @property
    def signed(self) -> dict[str, Any]:
        """With who is asked, and what, where anybody is."""
        if not self.judging:
            return super().signed
        context = self.settings.context
        rubric = behaviour_rubric()
        judge = {name: context[name] for name in CONTEXT if name in context}
        return {**super().signed, **judge, "rubric": f"{rubric.name}:{rubric.hash}", "prompt": PROMPT_VERSION}
