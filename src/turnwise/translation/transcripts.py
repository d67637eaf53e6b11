"""What a recogniser hears in the spoken translation of a sample, once for all metrics of a batch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.audio.recognise import recogniser_for, recogniser_name, why_not
from turnwise.audio.wave import CLIPPED, MISSING, UnusableAudio, read_wave
from turnwise.kernel.errors import TurnwiseError
from turnwise.translation.batch import SampleBatch
from turnwise.translation.records import Sample


def recognisers(languages: Iterable[str | None]) -> str:
    """Who hears which language, for signatures."""
    heard = {language: recogniser_name(language) for language in languages}
    return ", ".join(f"{language}: {name}" for language, name in sorted(heard.items(), key=str) if name) or "none"


class Heard(NamedTuple):
    """A transcript, or why there is none."""

    text: str | None
    reason: str = ""
    evidence: Any = None


def hear(batch: SampleBatch, sample: Sample) -> Heard:
    """The transcript of the spoken translation."""
    heard: dict[tuple[Path | None, str | None], Heard] = batch.memo.setdefault("heard", {})
    key = sample.hypothesis_audio, sample.language
    if key not in heard:
        heard[key] = _heard(*key)
    return heard[key]


def _heard(path: Path | None, language: str | None) -> Heard:
    if path is None:
        return _unheard(MISSING)
    if reason := why_not(language):
        return _unheard(reason)
    recogniser = recogniser_for(language)
    if recogniser is None:
        return _unheard(f"no recogniser for {language}")
    try:
        text = recogniser.transcribe(read_wave(path, tolerate=(CLIPPED,)))
    except UnusableAudio as error:
        return Heard(None, error.reason, {"no_transcript": error.reason, "file": error.where, "found": error.found})
    except TurnwiseError as error:
        return _unheard(f"{error.what}: {error.remedy}" if error.remedy else error.what)
    return Heard(text, "", {"transcript": text, "recogniser": recogniser.name})


def _unheard(reason: str) -> Heard:
    return Heard(None, reason, {"no_transcript": reason})
