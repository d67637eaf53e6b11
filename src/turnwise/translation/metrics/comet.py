"""COMET: how good a neural model takes the translation to be. Its seat; the model comes with the extra `neural`."""

from __future__ import annotations

from collections.abc import Iterable

from turnwise.kernel.extras import remedy
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.score import skipped
from turnwise.translation import bands
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, Found
from turnwise.translation.records import UNIT

DEFAULT_MODEL = "McGill-NLP/ssa-comet-qe"
NOT_INSTALLED = f"no neural model: {remedy('neural')}"


class Comet(Metric):
    """Skipped, with the remedy, until a model can be loaded."""

    spec = MetricSpec(
        room=ROOM,
        name="comet",
        version=1,
        question="How good does a neural model, trained on people's judgements, take the translation to be?",
        unit=UNIT,
        outputs=(Output(statistics=("score",), rollups=(MEAN_ONLY,), bands=bands.COMET),),
        needs=("source", "hypothesis"),
        context=("comet_model",),
        components=("text translation",),
        source="Rei et al. (2020)",
        optional=True,
    )

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """Nothing yet."""
        for sample in batch.samples:
            yield sample.unit, "value", skipped(sample.excluded or NOT_INSTALLED)
