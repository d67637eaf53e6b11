"""BLEU: how many of the translation's word sequences stand in the reference, too."""

from __future__ import annotations

from collections.abc import Sequence

from turnwise.kernel.metric import SPEC, MetricSpec, Output, Parameter
from turnwise.kernel.rollup import FloatArray
from turnwise.translation import bands
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import CORPUS, MEAN_BESIDE, TextMetric, setting
from turnwise.translation.records import UNIT
from turnwise.translation.text import BLEU_STATISTICS, TOKENIZERS, bleu_signature, bleu_statistics, bleu_value

TOKENIZER = Parameter(
    "tokenizer", "13a", f"How BLEU splits text into words: {', '.join(TOKENIZERS)}, or another of sacrebleu's."
)
LOWERCASE = Parameter("lowercase", False, "Compare texts in lower case.")
EFFECTIVE_ORDER = Parameter(
    "effective_order",
    True,
    "In the BLEU of one sentence, leave out the n-grams it is too short for; the corpus score never does.",
    by_profile={SPEC: False},
)


class Bleu(TextMetric):
    """sacrebleu's BLEU: corpus from pooled statistics, and the mean of sentence scores."""

    spec = MetricSpec(
        room=ROOM,
        name="bleu",
        version=1,
        question="How many of the translation's word sequences stand in the reference, too?",
        unit=UNIT,
        outputs=(
            Output(
                statistics=BLEU_STATISTICS,
                range=(0.0, 100.0),
                rollups=(CORPUS, MEAN_BESIDE),
                bands=bands.BLEU,
            ),
        ),
        needs=("hypothesis", "reference"),
        parameters=(TOKENIZER, LOWERCASE, EFFECTIVE_ORDER),
        context=("references", "mode", "transcripts"),
        components=("text translation",),
        source="Papineni et al. (2002); Post (2018)",
    )

    def statistics(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """Lengths, matches and totals of the n-grams."""
        return bleu_statistics(
            hypotheses, references, tokenizer=setting(self, "tokenizer"), lowercase=setting(self, "lowercase")
        )

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """BLEU of one sentence."""
        return bleu_value(statistics, effective_order=setting(self, "effective_order") or self._itself)

    def pooled(self, output: str, statistics: FloatArray) -> FloatArray:
        """BLEU of the corpus."""
        return bleu_value(statistics, effective_order=self._itself)

    @property
    def _itself(self) -> bool:
        """Whether texts are held against themselves: that is 100, however short they are (003-10)."""
        return self.settings.context.get("mode") == "ground_truth" and self.settings.profile == SPEC

    def sacrebleu_signature(self, references: int | None) -> str:
        """With the tokenizer and the case."""
        return bleu_signature(references, tokenizer=setting(self, "tokenizer"), lowercase=setting(self, "lowercase"))
