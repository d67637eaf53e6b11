"""What is evaluated: a sample, a source with its translation and its references, as text, as speech, or both."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnwise.audio.remote import url_of
from turnwise.kernel.score import Unit

UNIT = "sample"
LANGUAGE = "language"

TEXTS = ("source", "hypothesis", "reference")
AUDIO = ("source_audio", "hypothesis_audio", "reference_audio")
FIELDS = (*TEXTS, *AUDIO)
"""What a sample may carry, as metrics name what they need."""
OPERATIONS = ("latency_ms", "tokens", "cost")


def is_there(path: Path | None) -> bool:
    """Whether a recording is a file, or a URL, which is looked at when it is read; a name no file can have is none."""
    try:
        return path is not None and (path.is_file() or url_of(path) is not None)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Sample:
    """One translated segment. A text that is None was not given; an empty one was."""

    id: str
    segment: str
    user: str = ""
    cluster: str = ""
    """Samples of one cluster (speakers of one sentence, sentences of one document) are not independent; by itself, if
    it is empty."""
    language: str | None = None
    """What it was translated into, by the name used in results."""
    source_language: str | None = None
    """What it was translated from; None where nobody says."""
    pair: str = ""
    """Source and target language, e.g. `en-xho`."""
    source: str | None = None
    hypothesis: str | None = None
    references: tuple[str | None, ...] = ()
    source_audio: Path | None = None
    hypothesis_audio: Path | None = None
    reference_audio: Path | None = None
    is_reference: bool = False
    """The text and the audio of the translation are the reference itself: a check of reference data."""
    excluded: str | None = None
    """Why no metric scores it."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, float] = field(default_factory=dict)
    """What the translation cost: latency_ms, tokens, cost."""

    @property
    def unit(self) -> Unit:
        """What its scores are about."""
        dimensions = {**self.metadata, **({LANGUAGE: self.language} if self.language is not None else {})}
        return Unit(self.id, self.cluster or self.id, dimensions, UNIT)

    @property
    def uuid(self) -> str:
        """The same for the same language, segment and user, whatever system translated it."""
        name = "/".join(part for part in (self.language, self.segment, self.user) if part)
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))

    def content(self) -> dict[str, Any]:
        """What is kept to show the sample later."""
        texts: dict[str, Any] = {"source": self.source, "hypothesis": self.hypothesis}
        texts["references"] = [text for text in self.references if text is not None]
        audio = {name: url_of(path) or str(path) for name in AUDIO if (path := getattr(self, name)) is not None}
        about = {"uuid": self.uuid, "segment_id": self.segment, "user_id": self.user, "language_pair": self.pair}
        return {**about, **{key: value for key, value in texts.items() if value not in (None, [])}, **audio}
