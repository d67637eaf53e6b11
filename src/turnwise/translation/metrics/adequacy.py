"""Adequacy: how much of the meaning a judge finds kept, from 0 to 100, with the errors that say why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from turnwise.judge.metric import Asked, BatchWithPieces, JudgedMetric, judged_spec, question
from turnwise.judge.records import Rubric
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.metric import MetricSpec
from turnwise.kernel.score import Measurement, skipped
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, source_of


class Adequacy(JudgedMetric):
    """A judge's score of a translation; the errors it points out (text, kind, severity) are the evidence."""

    rubric: ClassVar[Rubric] = packaged_rubric(ROOM, "adequacy")
    spec: ClassVar[MetricSpec] = judged_spec(
        rubric,
        rollups=(MEAN_ONLY,),
        needs=("source", "hypothesis"),
        source="Specification 003 names no judge; the kinds and severities of errors are those of MQM",
    )

    def asked(self, batch: BatchWithPieces) -> Iterator[Asked]:
        """A question per sample that has a source text and a translation, be it an empty one."""
        assert isinstance(batch, SampleBatch)
        for sample, (unit, pieces) in zip(batch.samples, batch.pieces(self.rubric.unit), strict=True):
            source = skipped(sample.excluded) if sample.excluded else source_of(sample)
            yield unit, source if isinstance(source, Measurement) else question(self.rubric, unit, pieces)
