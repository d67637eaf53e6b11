"""TER: how much of the translation must be edited until it is the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnwise.kernel.metric import Direction, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import FloatArray
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import CORPUS, MEAN_BESIDE, TextMetric
from turnwise.translation.records import UNIT
from turnwise.translation.text import TER_STATISTICS, ter_signature, ter_statistics, ter_value


class Ter(TextMetric):
    """sacrebleu's TER: edits (shifts among them) in percent of the reference's words."""

    spec = MetricSpec(
        room=ROOM,
        name="ter",
        version=1,
        question="How much of the translation must be edited until it is the reference?",
        unit=UNIT,
        outputs=(
            Output(
                statistics=TER_STATISTICS,
                direction=Direction.LOWER,
                range=(0.0, None),
                rollups=(CORPUS, MEAN_BESIDE),
            ),
        ),
        needs=("hypothesis", "reference"),
        parameters=(
            Parameter("normalized", False, "Separate punctuation from words, as tercom does."),
            Parameter("no_punct", False, "Remove punctuation."),
            Parameter("asian_support", False, "Split Chinese and Japanese characters (with normalized)."),
            Parameter("case_sensitive", False, "Keep the case."),
        ),
        context=("references", "mode", "transcripts"),
        components=("text translation",),
        source="Snover et al. (2006)",
    )

    def statistics(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """Edits and words of the reference."""
        return ter_statistics(hypotheses, references, **self._flags())

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """TER of a sentence or of the corpus."""
        return ter_value(statistics)

    def sacrebleu_signature(self, references: int | None) -> str:
        """With what was done to the texts."""
        return ter_signature(references, **self._flags())

    def _flags(self) -> dict[str, Any]:
        return {parameter.name: self.settings.values[parameter.name] for parameter in self.spec.parameters}
