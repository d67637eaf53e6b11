"""DNSMOS: how clean the spoken translation sounds, as a model of people's opinions has it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from turnwise.audio.quality import dnsmos
from turnwise.audio.wave import CLIPPED, MISSING, read_wave
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, measured, skipped
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, Found, unusable
from turnwise.translation.records import UNIT

OUTPUTS = {"value": "overall", "signal": "signal", "background": "background", "p808": "p808"}
"""What the outputs are called in the model's own result."""


class DnsMos(Metric):
    """The four predicted opinion scores of P.835 and P.808; no reference is needed."""

    spec = MetricSpec(
        room=ROOM,
        name="dnsmos",
        version=1,
        question="How clean does the spoken translation sound?",
        unit=UNIT,
        outputs=tuple(Output(name, statistics=(opinion,), rollups=(MEAN_ONLY,)) for name, opinion in OUTPUTS.items()),
        needs=("hypothesis_audio",),
        context=("dnsmos",),
        components=("speech synthesis",),
        source="Reddy et al. (2022)",
        optional=True,
        baselines=False,  # it knows no reference, so no probe and no oracle can be worse or better
    )

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """Each spoken translation alone."""
        for sample in batch.samples:
            if sample.excluded or sample.hypothesis_audio is None:
                reason = skipped(sample.excluded or MISSING)
                yield from ((sample.unit, output, reason) for output in OUTPUTS)
            else:
                yield from ((sample.unit, output, found) for output, found in _opinions(sample.hypothesis_audio))


def _opinions(path: Path) -> list[tuple[str, Measurement]]:
    try:
        found = dnsmos(read_wave(path, tolerate=(CLIPPED,)))
    except TurnwiseError as error:
        return [(output, unusable(error)) for output in OUTPUTS]
    return [(output, measured((getattr(found, opinion),))) for output, opinion in OUTPUTS.items()]
