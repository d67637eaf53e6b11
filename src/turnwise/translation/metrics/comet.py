"""COMET: how good a neural model takes the translation to be. The model comes with the extra `neural`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import SPEC, Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, failed, measured, not_applicable, skipped
from turnwise.translation import bands
from turnwise.translation.batch import SampleBatch
from turnwise.translation.comet import CometScorer, Inputs, load_comet
from turnwise.translation.comet_files import NotAvailable, describe
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import (
    MEAN_ONLY,
    NO_HYPOTHESIS,
    SELF_TEXT,
    Found,
    references_of,
    source_of,
    unusable,
)
from turnwise.translation.records import UNIT, Sample

DEFAULT_MODEL = "McGill-NLP/ssa-comet-qe"


class Comet(Metric):
    """The score of `comet_model`: from source and translation, and from the reference where the model takes one."""

    spec = MetricSpec(
        room=ROOM,
        name="comet",
        version=1,
        question="How good does a neural model, trained on people's judgements, take the translation to be?",
        unit=UNIT,
        outputs=(Output(statistics=("score",), rollups=(MEAN_ONLY,), bands=bands.COMET),),
        needs=("source", "hypothesis"),
        context=("comet_model", "comet_weights", "mode"),
        components=("text translation",),
        source="Rei et al. (2020)",
        optional=True,
    )

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """All samples of a batch at once; without the model each is skipped, with the remedy."""
        context = self.settings.context
        try:
            model = load_comet(context.get("comet_model", DEFAULT_MODEL), context.get("device", "auto"))
        except TurnwiseError as error:
            trouble = unusable(error) if isinstance(error, NotAvailable) else failed(_said(error))
            for sample in batch.samples:
                yield sample.unit, "value", skipped(sample.excluded) if sample.excluded else trouble
            return
        found = [self._inputs(sample, model) for sample in batch.samples]
        scores = iter(model.score([one for one in found if isinstance(one, Inputs)]))
        for sample, one in zip(batch.samples, found, strict=True):
            if isinstance(one, Measurement):
                yield sample.unit, "value", one
            else:
                yield sample.unit, "value", measured((next(scores),), evidence=_evidence(model, one))

    def models(self) -> dict[str, str]:
        """The weights on this machine, to be compared with those on another."""
        return {"weights": describe(self.settings.context.get("comet_model", DEFAULT_MODEL))}

    def _inputs(self, sample: Sample, model: CometScorer) -> Inputs | Measurement:
        """What the model reads, or why it cannot."""
        if sample.excluded:
            return skipped(sample.excluded)
        source = source_of(sample)
        if isinstance(source, Measurement):
            return source
        if sample.hypothesis is None:
            return skipped(NO_HYPOTHESIS)
        itself = sample.is_reference and self.settings.profile != SPEC
        if itself and model.needs_reference:
            return not_applicable(SELF_TEXT)
        if itself or not model.uses_reference:
            return Inputs(source, sample.hypothesis)
        references = references_of(sample)
        if isinstance(references, Measurement):
            # One mean must not mix scores with a reference and scores without: it is one or the other for a run.
            some_have = self.settings.context.get("references", "0") != "0"
            return references if model.needs_reference or some_have else Inputs(source, sample.hypothesis)
        return Inputs(source, sample.hypothesis, references[0])


def _evidence(model: CometScorer, inputs: Inputs) -> dict[str, Any]:
    evidence: dict[str, Any] = {"uses_reference": inputs.reference is not None}
    return evidence if model.disagreement is None else {**evidence, "probe": model.disagreement}


def _said(error: TurnwiseError) -> str:
    return ": ".join(part for part in (error.what, error.found) if part)
