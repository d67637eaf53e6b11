"""MCD: how far the spoken translation sounds from the reference recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.audio.cepstra import LITERATURE, convention_named
from turnwise.audio.mcd import Prepared, compare, prepare
from turnwise.audio.wave import CLIPPED, MISSING, UnusableAudio, Wave, read_wave
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.metric import Direction, Metric, MetricSpec, Output
from turnwise.kernel.score import Measurement, measured, not_applicable, skipped
from turnwise.kernel.signature import signature
from turnwise.translation import bands
from turnwise.translation.batch import SampleBatch
from turnwise.translation.metrics import ROOM
from turnwise.translation.metrics.base import MEAN_ONLY, SELF_AUDIO, Found, unusable
from turnwise.translation.records import UNIT, Sample

CONVENTION = "mcd_convention"
ALONE = "no other segment to pair with"
MISMATCHED = "mismatched"
"""The variant of predictions held against the wrong references."""


class MelCepstralDistance(Metric):
    """Mel-cepstral distance by a named convention, with exact alignment."""

    spec = MetricSpec(
        room=ROOM,
        name="mcd",
        version=1,
        question="How far does the spoken translation sound from the reference recording?",
        unit=UNIT,
        outputs=(
            Output(
                statistics=("distance",),
                direction=Direction.LOWER,
                range=(0.0, None),
                rollups=(MEAN_ONLY,),
                bands=bands.MCD,
            ),
        ),
        needs=("hypothesis_audio", "reference_audio"),
        context=(CONVENTION,),
        components=("speech synthesis",),
        source="Kubichek (1993)",
        optional=True,
    )
    preload = ("turnwise.audio.compiled",)

    def measure(self, batch: SampleBatch) -> Iterable[Found]:
        """Each pair, and each prediction against the reference of another segment."""
        listener = _Listener(self.settings.context.get(CONVENTION, LITERATURE.name))
        for sample in batch.samples:
            yield sample.unit, "value", self._measured(sample, listener)
        if batch.probe or all(sample.is_reference for sample in batch.samples):
            return
        for sample, place in zip(batch.samples, batch.partners(), strict=True):
            wrong = skipped(ALONE)
            if place is not None:
                other = replace(sample, reference_audio=batch.samples[place].reference_audio)
                wrong = self._measured(other, listener)
            yield sample.unit, "value", wrong._replace(variant=MISMATCHED, evidence=None)

    def _measured(self, sample: Sample, listener: _Listener) -> Measurement:
        if sample.excluded:
            return skipped(sample.excluded)
        if sample.is_reference:
            return not_applicable(SELF_AUDIO)
        if sample.hypothesis_audio is None or sample.reference_audio is None:
            return skipped(MISSING)
        try:
            return listener.distance(sample.hypothesis_audio, sample.reference_audio)
        except TurnwiseError as error:
            return unusable(error)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The document's bands hold for one convention only."""
        if self.settings.context.get(CONVENTION, LITERATURE.name) == LITERATURE.name:
            return self.spec.outputs
        return tuple(replace(output, bands=None) for output in self.spec.outputs)

    @property
    def signature(self) -> str:
        """With every parameter of the convention."""
        convention = convention_named(self.settings.context.get(CONVENTION, LITERATURE.name))
        parts = {("convention" if name == "name" else name): part for name, part in convention.parts().items()}
        return signature(self.spec.full_name, self.spec.version, self.settings.profile, parts)


class _Listener:
    """Recordings of a batch by a convention; the cepstra of each are computed once."""

    def __init__(self, convention: str) -> None:
        self._convention = convention_named(convention)
        self._prepared: dict[tuple[Path, int], Prepared | UnusableAudio] = {}
        self._rates: dict[Path, int] = {}

    def distance(self, hypothesis: Path, reference: Path) -> Measurement:
        """The distance of two recordings, with what was done to them as evidence."""
        rate = self._convention.rate or min(self._rate(hypothesis), self._rate(reference))
        found = compare(self._cepstra(hypothesis, rate), self._cepstra(reference, rate))
        evidence: dict[str, Any] = {
            "frames": list(found.frames),
            "alignment_penalty": round(found.alignment_penalty, 4),
        }
        steps = dict(zip(("hypothesis_audio", "reference_audio"), map(list, found.steps), strict=True))
        evidence |= {name: done for name, done in steps.items() if done}
        return measured((found.value,), evidence=evidence)

    def _rate(self, path: Path) -> int:
        if path not in self._rates:
            self._rates[path] = self._read(path).rate
        return self._rates[path]

    def _read(self, path: Path) -> Wave:
        return read_wave(path, rate=None, tolerate=(CLIPPED,))

    def _cepstra(self, path: Path, rate: int) -> Prepared:
        key = path, rate
        if key not in self._prepared:
            try:
                found = prepare(self._read(path), self._convention, rate)
                # The cepstra are enough from here on; the samples of a whole batch would fill the memory.
                self._prepared[key] = replace(found, wave=replace(found.wave, samples=np.empty(0)))
            except UnusableAudio as error:
                self._prepared[key] = error
        known = self._prepared[key]
        if isinstance(known, UnusableAudio):
            raise known
        return known
