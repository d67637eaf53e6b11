"""chrF and chrF++: how many character sequences (and words) translation and reference share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from turnwise.kernel.metric import MetricSpec, Output
from turnwise.kernel.rollup import FloatArray
from turnwise.translation import bands
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import CORPUS, MEAN_BESIDE, TextMetric, setting
from turnwise.translation.metrics.bleu import LOWERCASE
from turnwise.translation.records import UNIT
from turnwise.translation.text import (
    CHRF_PLUS_PLUS_WORD_ORDER,
    chrf_signature,
    chrf_statistics,
    chrf_statistics_names,
    chrf_value,
)


class _CharacterMetric(TextMetric):
    """What both have in common."""

    word_order: ClassVar[int]

    def statistics(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """Counts of the n-grams on both sides, and the matches."""
        return chrf_statistics(hypotheses, references, word_order=self.word_order, lowercase=setting(self, "lowercase"))

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """The F-score of a sentence or of the corpus."""
        return chrf_value(statistics)

    def sacrebleu_signature(self, references: int | None) -> str:
        """With the orders and the case."""
        return chrf_signature(references, word_order=self.word_order, lowercase=setting(self, "lowercase"))


class Chrf(_CharacterMetric):
    """sacrebleu's chrF: corpus from pooled statistics, and the mean of sentence scores."""

    word_order = 0
    spec = MetricSpec(
        room=ROOM,
        name="chrf",
        version=1,
        question="How many character sequences do translation and reference share?",
        unit=UNIT,
        outputs=(
            Output(
                statistics=chrf_statistics_names(word_order),
                range=(0.0, 100.0),
                rollups=(CORPUS, MEAN_BESIDE),
                bands=bands.CHRF,
            ),
        ),
        needs=("hypothesis", "reference"),
        parameters=(LOWERCASE,),
        context=("references", "mode", "transcripts"),
        components=("text translation",),
        source="Popović (2015)",
    )


class ChrfPlusPlus(_CharacterMetric):
    """chrF with words and pairs of words beside the characters."""

    word_order = CHRF_PLUS_PLUS_WORD_ORDER
    spec = MetricSpec(
        room=ROOM,
        name="chrf++",
        version=1,
        question="How many character sequences, words and pairs of words do translation and reference share?",
        unit=UNIT,
        outputs=(
            Output(statistics=chrf_statistics_names(word_order), range=(0.0, 100.0), rollups=(CORPUS, MEAN_BESIDE)),
        ),
        needs=("hypothesis", "reference"),
        parameters=(LOWERCASE,),
        context=("references", "mode", "transcripts"),
        components=("text translation",),
        source="Popović (2017)",
    )
