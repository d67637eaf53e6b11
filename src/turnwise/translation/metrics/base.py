"""What the metrics of the room share: their roll-ups, what they cannot score and why, and metrics on text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from turnwise.audio.wave import UnusableAudio
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import SPEC, Metric, Output
from turnwise.kernel.rollup import FloatArray, Rollup, mean, pool
from turnwise.kernel.score import Measurement, Unit, measured, not_applicable, skipped
from turnwise.translation.batch import SampleBatch
from turnwise.translation.records import Sample
from turnwise.translation.transcripts import Heard, hear

CORPUS = Rollup("corpus", (pool(),), primary=True)
"""From the statistics of all samples together."""
MEAN_BESIDE = Rollup("mean", (mean(),))
MEAN_ONLY = Rollup("mean", (mean(),), primary=True)
"""For metrics that have no other corpus value than the mean of their samples."""

NO_HYPOTHESIS = "no hypothesis"
NO_REFERENCE = "no reference"
EMPTY_REFERENCE = "empty reference"
NO_SOURCE = "no source"
EMPTY_SOURCE = "empty source"
SELF_TEXT = "ground truth: the text would be compared with itself"
SELF_AUDIO = "ground truth: the audio would be compared with itself"

Found = tuple[Unit, str, Measurement]


class Pair(NamedTuple):
    """A sample with the text that is scored and the references it is held against."""

    sample: Sample
    hypothesis: str
    references: list[str]
    heard: Heard | None = None
    """Where the text comes from, if a recogniser gave it."""


def references_of(sample: Sample) -> list[str] | Measurement:
    """The references that say something, or why there is none."""
    found = [text for text in sample.references if text is not None and text.strip()]
    if found:
        return found
    return skipped(EMPTY_REFERENCE if any(text is not None for text in sample.references) else NO_REFERENCE)


def source_of(sample: Sample) -> str | Measurement:
    """The source text, or why there is none."""
    if sample.source is None:
        return skipped(NO_SOURCE)
    return sample.source if sample.source.strip() else skipped(EMPTY_SOURCE)


def unusable(error: TurnwiseError) -> Measurement:
    """Audio that cannot be measured, or a package that is not there: the reason, short enough to be counted."""
    if isinstance(error, UnusableAudio):
        return skipped(error.reason, evidence={"file": error.where, "found": error.found})
    return skipped(f"{error.what}: {error.remedy}" if error.remedy else error.what)


def text_pair(sample: Sample, batch: SampleBatch, profile: str) -> Pair | Measurement:
    """What a text metric compares, or why it cannot."""
    if sample.excluded:
        return skipped(sample.excluded)
    references = references_of(sample)
    if isinstance(references, Measurement):
        return references
    if sample.hypothesis is None:
        return skipped(NO_HYPOTHESIS)
    if sample.is_reference and profile != SPEC:
        heard = hear(batch, sample)
        if heard.text is None:
            return not_applicable(SELF_TEXT, evidence=heard.evidence)
        return Pair(sample, heard.text, references, heard)
    return Pair(sample, sample.hypothesis, references)


class TextMetric(Metric):
    """A metric whose statistics come from a text and its references; `corpus` first, under `spec` the mean."""

    def statistics(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> FloatArray:
        """One row of statistics for each pair."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it counts")

    def pair(self, sample: Sample, batch: SampleBatch) -> Pair | Measurement:
        """What is compared for a sample, or why nothing is."""
        return text_pair(sample, batch, self.settings.profile)

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """All texts of a batch at once."""
        found = [self.pair(sample, batch) for sample in batch.samples]
        pairs = [one for one in found if isinstance(one, Pair)]
        rows = iter(self._rows(pairs))
        for sample, one in zip(batch.samples, found, strict=True):
            if isinstance(one, Measurement):
                yield sample.unit, "value", one
            else:
                evidence = None if one.heard is None else one.heard.evidence
                yield sample.unit, "value", measured(tuple(next(rows)), evidence=evidence)

    def _rows(self, pairs: Sequence[Pair]) -> list[list[float]]:
        if not pairs:
            return []
        rows: list[list[float]] = self.statistics([p.hypothesis for p in pairs], [p.references for p in pairs]).tolist()
        return rows

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The mean of the sentence scores comes first under `spec` (003-0)."""
        return tuple(mean_first(self.spec.outputs)) if self.settings.profile == SPEC else self.spec.outputs

    def sacrebleu_signature(self, references: int | None) -> str:
        """What sacrebleu itself would sign the corpus score with."""
        raise NotImplementedError(f"{type(self).__name__} has no signature of sacrebleu")

    @property
    def signature(self) -> str:
        """Ours, and at its end sacrebleu's own as it prints it."""
        count = self.settings.context.get("references", "var")
        return f"{super().signature}|sacrebleu={self.sacrebleu_signature(int(count) if count.isdigit() else None)}"


def mean_first(outputs: Iterable[Output]) -> Iterator[Output]:
    """The outputs with the mean as the primary roll-up."""
    for output in outputs:
        rollups = tuple(replace(rollup, primary=rollup.name == "mean") for rollup in output.rollups)
        yield replace(output, rollups=rollups)


def setting(metric: Metric, name: str) -> Any:
    """A setting of a metric."""
    return metric.settings.values[name]
