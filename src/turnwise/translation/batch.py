"""A batch of samples, with what several metrics work out together; and other answers to the same samples (probes)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from turnwise.audio.remote import url_of
from turnwise.judge.records import Judged, Pieces
from turnwise.kernel.metric import Item
from turnwise.kernel.score import Unit
from turnwise.translation.pieces import sample_pieces
from turnwise.translation.records import AUDIO, Sample


@dataclass
class SampleBatch:
    """Samples of whole clusters."""

    index: int
    samples: Sequence[Sample]
    probe: bool = False
    """Whether the translations are made up, to see what a metric says about them."""
    judged: Judged = field(default_factory=dict, repr=False)
    """What a judge said about its samples."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What several metrics work out together, once."""

    @property
    def files(self) -> list[Path]:
        """The recordings; what is read from a URL is no file."""
        paths = (getattr(sample, name) for sample in self.samples for name in AUDIO)
        return [path for path in paths if path is not None and url_of(path) is None]

    def items(self) -> Iterable[Item]:
        """Every sample, as it was read."""
        return (Item(sample.unit, sample.content()) for sample in self.samples)

    def split(self, unit_kind: str) -> Iterator[tuple[Unit, SampleBatch]]:
        """One batch per sample."""
        yield from ((sample.unit, replace(self, samples=[sample], memo={})) for sample in self.samples)

    def pieces(self, unit_kind: str) -> Iterator[tuple[Unit, Pieces]]:
        """What a judge can be shown of each sample."""
        yield from ((sample.unit, sample_pieces(sample)) for sample in self.samples)

    def operations(self) -> Iterator[tuple[Unit, dict[str, float]]]:
        """What each translation cost."""
        yield from ((sample.unit, dict(sample.operations)) for sample in self.samples)

    def partners(self) -> list[int | None]:
        """For each sample another one, of the same language and another segment; None where there is none."""
        # By chance, but the same for the same samples in any order.
        marks = [hashlib.sha256(sample.id.encode("utf-8", "surrogatepass")).digest() for sample in self.samples]
        order = sorted(range(len(marks)), key=marks.__getitem__)
        found: list[int | None] = [None] * len(order)
        for place, own in enumerate(order):
            others = (order[(place + step) % len(order)] for step in range(1, len(order)))
            found[own] = next((other for other in others if self._differ(own, other)), None)
        return found

    def _differ(self, one: int, other: int) -> bool:
        a, b = self.samples[one], self.samples[other]
        return a.language == b.language and a.segment != b.segment and a.unit.cluster != b.unit.cluster

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memo": {}}  # worked out anew where the batch is measured


def identity(batch: SampleBatch) -> SampleBatch:
    """The reference as the translation: nothing can be better."""
    return _answered(batch, lambda s: _translated(s, _reference(s), s.reference_audio))


def empty(batch: SampleBatch) -> SampleBatch:
    """A system that says nothing."""
    return _answered(batch, lambda s: _translated(s, "", None))


def source_copied(batch: SampleBatch) -> SampleBatch:
    """A system that repeats the source."""
    return _answered(batch, lambda s: _translated(s, s.source, s.source_audio))


def shuffled(batch: SampleBatch) -> SampleBatch:
    """The system's translations, each given to another sample; a sample alone has none."""
    others = [None if place is None else batch.samples[place] for place in batch.partners()]
    samples = [
        replace(own, excluded=own.excluded or "no other segment to exchange with")
        if other is None
        else _translated(own, other.hypothesis, other.hypothesis_audio)
        for own, other in zip(batch.samples, others, strict=True)
    ]
    return SampleBatch(batch.index, samples, probe=True)


def _translated(sample: Sample, text: str | None, audio: Any) -> Sample:
    """The sample with another translation, of the kinds (text, speech) that the system gave."""
    return replace(
        sample,
        hypothesis=None if sample.hypothesis is None else text,
        hypothesis_audio=None if sample.hypothesis_audio is None else audio,
        is_reference=False,
    )


def _reference(sample: Sample) -> str | None:
    return next((text for text in sample.references if text and text.strip()), None)


def _answered(batch: SampleBatch, answer: Callable[[Sample], Sample]) -> SampleBatch:
    return SampleBatch(batch.index, [answer(sample) for sample in batch.samples], probe=True)


BASELINES = {"empty": empty, "oracle": identity}
PROBES = {"identity": identity, "shuffled": shuffled, "source copied": source_copied, "empty": empty}
