"""The spoken translation, heard by a recogniser: ASR-BLEU, word and character error rate.

BLEU of the text tells what translation lost, ASR-BLEU what translation and speech lost together, and the error rates
against the text that was to be spoken what speech lost alone. The recogniser's own mistakes are in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from turnwise.kernel.metric import SPEC, Direction, Metric, MetricSpec, Output
from turnwise.kernel.rollup import FloatArray
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped
from turnwise.kernel.text import spoken_form
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import (
    CORPUS,
    MEAN_BESIDE,
    NO_HYPOTHESIS,
    Found,
    Pair,
    TextMetric,
    mean_first,
    references_of,
    setting,
)
from turnwise.translation.metrics.bleu import EFFECTIVE_ORDER, TOKENIZER
from turnwise.translation.records import UNIT, Sample
from turnwise.translation.text import BLEU_STATISTICS, bleu_signature, bleu_statistics, bleu_value
from turnwise.translation.transcripts import hear

NO_WORDS = "no words to be spoken"


class AsrBleu(TextMetric):
    """BLEU of what a recogniser heard in the spoken translation, against the reference text."""

    spec = MetricSpec(
        room=ROOM,
        name="asr_bleu",
        version=1,
        question="How many of the word sequences that are heard in the spoken translation stand in the reference?",
        unit=UNIT,
        outputs=(Output(statistics=BLEU_STATISTICS, range=(0.0, 100.0), rollups=(CORPUS, MEAN_BESIDE)),),
        needs=("hypothesis_audio", "reference"),
        parameters=(TOKENIZER, EFFECTIVE_ORDER),
        context=("references", "recogniser"),
        components=("speech translation",),
        source="Lee et al. (2022)",
        optional=True,
    )

    def pair(self, sample: Sample, batch: SampleBatch) -> Pair | Measurement:
        """The transcript and the references, both as they are heard."""
        if sample.excluded:
            return skipped(sample.excluded)
        references = references_of(sample)
        if isinstance(references, Measurement):
            return references
        heard = hear(batch, sample)
        if heard.text is None:
            return skipped(heard.reason, evidence=heard.evidence)
        spoken = [spoken_form(text) for text in references]
        if not all(spoken):
            return not_applicable(NO_WORDS)
        return Pair(sample, spoken_form(heard.text), spoken, heard)

    def statistics(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """As for BLEU."""
        return bleu_statistics(hypotheses, references, tokenizer=setting(self, "tokenizer"))

    def value(self, output: str, statistics: FloatArray) -> FloatArray:
        """BLEU of one sentence."""
        return bleu_value(statistics, effective_order=setting(self, "effective_order"))

    def pooled(self, output: str, statistics: FloatArray) -> FloatArray:
        """BLEU of the corpus."""
        return bleu_value(statistics)

    def sacrebleu_signature(self, references: int | None) -> str:
        """With the tokenizer; the case is gone before."""
        return bleu_signature(references, tokenizer=setting(self, "tokenizer"))


def _rate_output(name: str, words: str) -> Output:
    return Output(
        name,
        statistics=("edits", words),
        direction=Direction.LOWER,
        range=(0.0, None),
        rollups=(CORPUS, MEAN_BESIDE),
    )


class _ErrorRate(Metric):
    """Edits from what should be heard to what is heard, over the length of what should be heard."""

    def units(self, text: str) -> Sequence[Any]:
        """What is counted: words or characters."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it counts")

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """Against the text that was to be spoken, and against the reference."""
        for sample in batch.samples:
            heard = None if sample.excluded else hear(batch, sample)
            for output in ("value", "reference"):
                if heard is None:
                    yield sample.unit, output, skipped(sample.excluded or "")
                elif heard.text is None:
                    yield sample.unit, output, skipped(heard.reason, evidence=heard.evidence)
                else:
                    yield sample.unit, output, self._counted(sample, output, heard.text)

    def _counted(self, sample: Sample, output: str, heard: str) -> Measurement:
        expected: list[str] | Measurement = references_of(sample)
        if output == "value":
            expected = skipped(NO_HYPOTHESIS) if sample.hypothesis is None else [sample.hypothesis]
        if isinstance(expected, Measurement):
            return expected
        spoken = [self.units(spoken_form(text)) for text in expected]
        if not all(spoken):
            return not_applicable(NO_WORDS)
        found = self.units(spoken_form(heard))
        # Of several references the nearest one counts.
        edits, words = min(
            ((Levenshtein.distance(found, text), len(text)) for text in spoken), key=lambda pair: pair[0] / pair[1]
        )
        return measured((float(edits), float(words)), evidence={"transcript": heard})

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The mean of the samples comes first under `spec`."""
        return tuple(mean_first(self.spec.outputs)) if self.settings.profile == SPEC else self.spec.outputs


class WordErrorRate(_ErrorRate):
    """Words wrong, missing or too many, over the words that should be heard."""

    spec = MetricSpec(
        room=ROOM,
        name="wer",
        version=1,
        question="How many words of the text that was to be spoken are not heard in the spoken translation?",
        unit=UNIT,
        outputs=(_rate_output("value", "words"), _rate_output("reference", "words")),
        needs=("hypothesis_audio", "hypothesis|reference"),
        context=("recogniser",),
        components=("speech synthesis",),
        source="Levenshtein (1966)",
        optional=True,
    )

    def units(self, text: str) -> Sequence[Any]:
        """Words."""
        return text.split()


class CharacterErrorRate(_ErrorRate):
    """The same with characters; for languages that are written without spaces, and for long words."""

    spec = MetricSpec(
        room=ROOM,
        name="cer",
        version=1,
        question="How many characters of the text that was to be spoken are not heard in the spoken translation?",
        unit=UNIT,
        outputs=(_rate_output("value", "characters"), _rate_output("reference", "characters")),
        needs=("hypothesis_audio", "hypothesis|reference"),
        context=("recogniser",),
        components=("speech synthesis",),
        source="Levenshtein (1966)",
        optional=True,
    )

    def units(self, text: str) -> Sequence[Any]:
        """Characters, spaces among them."""
        return text
