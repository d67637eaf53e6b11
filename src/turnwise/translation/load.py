"""From a layout to a checked source of samples: what they carry, what looks wrong, and batches of them.

Nothing is dropped: a sample that lacks something is skipped by the metrics that need it, and counted there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from turnwise.engine.plan import Finding
from turnwise.translation.batch import SampleBatch
from turnwise.translation.formats.base import Samples
from turnwise.translation.hygiene import Hygiene
from turnwise.translation.listening import Ear
from turnwise.translation.records import AUDIO, FIELDS, LANGUAGE, OPERATIONS, UNIT, Sample, is_there

UNDETERMINED = "und"
"""The language of samples that have none, where others have one (ISO 639)."""
BATCH_OF_TEXTS = 1024
BATCH_WITH_AUDIO = 16
"""Samples measured together. Audio takes longer, and its progress should be seen."""


@dataclass
class TranslationSource:
    """Samples of a layout, checked; an engine source."""

    samples: Samples
    all_need: Collection[str] = ()
    """Fields without which a sample is skipped for all metrics, as the document has it (`spec`)."""
    check_audio: bool = True
    """Whether recordings are looked into before anything is scored."""
    workers: int = 1
    """How many recordings are looked into at once."""
    findings: list[Finding] = field(default_factory=list)
    unit = UNIT

    def __post_init__(self) -> None:
        self.n_items = len(self.samples.order)
        self.directions: dict[tuple[str | None, str | None], None] = {}
        """Target and source languages that occur together, in the order of the data."""
        self.references = Counter[int]()
        """How many samples have so many references."""
        self._carried: Counter[str] = Counter()
        self._metadata: set[str] = set()
        self._scan()

    @property
    def dataset_fingerprint(self) -> str:
        """What was asked: sources and references; systems on the same ones can be compared."""
        return self._asked

    @property
    def input_fingerprint(self) -> str:
        """Everything that is read, and into how large batches it is cut."""
        return self._given

    @property
    def fields(self) -> dict[str, int]:
        """How many samples carry each field; a recording counts if its file is there."""
        operations = {f"prediction.{name}": self._carried[name] for name in OPERATIONS}
        return {name: self._carried[name] for name in FIELDS} | operations

    @property
    def dimensions(self) -> set[str]:
        """The language and every metadata column."""
        return self._metadata | ({LANGUAGE} if self.languages != [None] else set())

    @property
    def languages(self) -> list[str | None]:
        """The target languages; `und` stands for none beside others, None for none at all."""
        found = dict.fromkeys(target for target, _ in self.directions)
        return list(dict.fromkeys(UNDETERMINED if name is None and len(found) > 1 else name for name in found))

    @property
    def coverage(self) -> dict[str, int]:
        """How much of the data set was translated, as text or as speech."""
        return {"samples": self.n_items, "samples_predicted": self._translated}

    @property
    def reference_count(self) -> str:
        """How many references the samples have: a number, or `var` where they differ."""
        counts = [n for n in self.references if n]
        return str(counts[0]) if len(counts) == 1 else "var" if counts else "0"

    def batches(self, done: Set[int] = frozenset()) -> Iterator[SampleBatch]:
        """The batches that are not done yet."""
        for index, numbers in enumerate(self._portions):
            if index not in done:
                yield SampleBatch(index, self._read(numbers))

    def _read(self, numbers: Sequence[int]) -> list[Sample]:
        return [self._judged(sample) for sample in self.samples.read(numbers)]

    def _judged(self, sample: Sample) -> Sample:
        """The sample as it is measured.

        It has a language where others have one; under `spec` it is left out of all metrics where it lacks what any of
        them asks for.
        """
        if sample.language is None and self.languages != [None]:
            sample = replace(sample, language=UNDETERMINED)
        lacking = [name for name in self.all_need if not carries(sample, name)]
        if lacking and sample.excluded is None:
            return replace(sample, excluded=f"no {', no '.join(lacking)} (spec: skipped for all metrics)")
        return sample

    def _scan(self) -> None:
        """Look at every sample once: count what it carries, check it, take the fingerprints."""
        asked, given = 0, hashlib.sha256()
        hygiene = Hygiene(self.check_audio)
        ear = Ear(self.check_audio, self.workers)
        translated = 0
        spoken = False
        for numbers in self.samples.order.portions(BATCH_OF_TEXTS):
            samples = self.samples.read(numbers)
            carried = [[name for name in FIELDS if carries(sample, name)] for sample in samples]
            heard = ear.hear(
                path for sample, found in zip(samples, carried, strict=True) for path in _recordings(sample, found)
            )
            for sample, found in zip(samples, carried, strict=True):
                self._carried.update(found)
                self._carried.update(sample.operations.keys())
                self._metadata.update(sample.metadata)
                self.directions[sample.language, sample.source_language] = None
                self.references[sum(bool((text or "").strip()) for text in sample.references)] += 1
                translated += sample.hypothesis is not None or "hypothesis_audio" in found
                spoken = spoken or any(getattr(sample, name) is not None for name in AUDIO)
                question = repr((sample.id, sample.language, sample.source, sample.references))
                # Systems may list the same samples in different orders: a sum does not depend on it.
                asked += int.from_bytes(hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest())
                spoken_as = [heard[path].mark for path in _recordings(sample, found)]
                costs, metadata = sorted(sample.operations.items()), sorted(sample.metadata.items())
                about = (sample.source_language, sample.cluster, sample.excluded, metadata, costs)
                answer = (sample.hypothesis, spoken_as, about)
                given.update(repr((question, answer)).encode("utf-8", "surrogatepass"))
                hygiene.look_at(sample, heard)
        self._portions = self.samples.order.portions(BATCH_WITH_AUDIO if spoken else BATCH_OF_TEXTS)
        self._translated = translated
        self._asked = f"{asked % 2**256:064x}"[:12]
        given.update(f"{len(self._portions)}".encode())
        self._given = given.hexdigest()[:12]
        self.findings += [*self.samples.findings, *hygiene.findings()]


def _recordings(sample: Sample, carried: Collection[str]) -> list[Path]:
    return [getattr(sample, name) for name in AUDIO if name in carried]


def carries(sample: Sample, name: str) -> bool:
    """Whether a sample has a field; a recording, whether its file is there."""
    if name == "reference":
        return any((text or "").strip() for text in sample.references)
    found = getattr(sample, name)
    return is_there(found) if name in AUDIO else found is not None
