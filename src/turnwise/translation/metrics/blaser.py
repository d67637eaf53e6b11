"""BLASER 2.0: whether the spoken translation means what the spoken source means."""

from __future__ import annotations

import json
from collections.abc import Iterable

from turnwise.audio.wave import MISSING
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, measured, skipped
from turnwise.translation import bands
from turnwise.translation.batch import SampleBatch
from turnwise.translation.blaser import BlaserScorer, Request, Score, describe
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, Found, references_of, unusable
from turnwise.translation.records import UNIT, Sample
from turnwise.translation.sonar_models import ENGLISH

MODES = ("qe", "ref")
MODE, MODELS, DEVICE = "blaser_mode", "blaser_models", "device"
LANGUAGES = "blaser_languages"
"""Those spoken in the translations and in the sources of a run, as JSON: they decide which encoders are used."""


class Blaser(Metric):
    """A score of a trained head over SONAR embeddings of source speech, translated speech and, in `ref`, the reference.

    Nominally 1 to 5, never clipped.
    """

    spec = MetricSpec(
        room=ROOM,
        name="blaser",
        version=1,
        question="Does the spoken translation mean what the spoken source means?",
        unit=UNIT,
        outputs=(Output(statistics=("score",), rollups=(MEAN_ONLY,), bands=bands.BLASER),),
        needs=("source_audio", "hypothesis_audio"),
        context=(MODE, MODELS),
        components=("speech translation",),
        source="Dale and Costa-jussà (2024)",
        optional=True,
    )

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """All samples of a batch at once, so that speech of about one length is encoded together."""
        mode = self.settings.context.get(MODE, MODES[0])
        asked = [_request(sample, mode) for sample in batch.samples]
        scores = iter(self._scores(mode, [one for one in asked if isinstance(one, Request)]))
        for sample, one in zip(batch.samples, asked, strict=True):
            yield sample.unit, "value", one if isinstance(one, Measurement) else _measured(next(scores))

    def models(self) -> dict[str, str]:
        """The head and the encoders of the run's languages on this machine, to be compared with those on another."""
        context = self.settings.context
        spoken = json.loads(context.get(LANGUAGES, "[[], []]"))
        return {"models": describe(context.get(MODE, MODES[0]), *spoken)}

    def _scores(self, mode: str, requests: list[Request]) -> list[Score | TurnwiseError]:
        """A score for each, or why there is none; a model that is there and cannot be used is an error."""
        if not requests:
            return []
        try:
            scorer = BlaserScorer(mode, self.settings.context.get(DEVICE, "auto"))
        except TurnwiseError as error:
            return [error] * len(requests)
        return scorer.score(requests)


def _request(sample: Sample, mode: str) -> Request | Measurement:
    """What is asked about a sample, or why nothing is; ground truth is the target recording against the source."""
    if sample.excluded:
        return skipped(sample.excluded)
    if sample.source_audio is None or sample.hypothesis_audio is None:
        return skipped(MISSING)
    references = references_of(sample) if mode == "ref" else [None]
    if isinstance(references, Measurement):
        return references
    spoken = sample.source_language or ENGLISH
    return Request(sample.source_audio, sample.hypothesis_audio, sample.language, references[0], spoken)


def _measured(score: Score | TurnwiseError) -> Measurement:
    return measured((score.value,), evidence=score.evidence) if isinstance(score, Score) else unusable(score)
