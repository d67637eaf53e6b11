"""BLASER 2.0: whether speech means what the source speech means. Its seat; the models come with the extra `neural`."""

from __future__ import annotations

from collections.abc import Iterable

from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.score import skipped
from turnwise.translation import bands
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, Found
from turnwise.translation.metrics.comet import NOT_INSTALLED
from turnwise.translation.records import UNIT

MODES = ("qe", "ref")


class Blaser(Metric):
    """Skipped, with the remedy, until the models can be loaded."""

    spec = MetricSpec(
        room=ROOM,
        name="blaser",
        version=1,
        question="Does the spoken translation mean what the spoken source means?",
        unit=UNIT,
        outputs=(Output(statistics=("score",), rollups=(MEAN_ONLY,), bands=bands.BLASER),),
        needs=("source_audio", "hypothesis_audio"),
        context=("blaser_mode",),
        components=("speech translation",),
        source="Dale and Costa-jussà (2024)",
        optional=True,
    )

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """Nothing yet."""
        for sample in batch.samples:
            yield sample.unit, "value", skipped(sample.excluded or NOT_INSTALLED)
