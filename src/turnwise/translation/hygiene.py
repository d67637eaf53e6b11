"""Checks of the input before anything is scored: what a person would notice on reading and listening to the data.

They change no score. What they find is printed and stored with the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from turnwise.audio.wave import UnusableAudio
from turnwise.engine.plan import Finding
from turnwise.translation.listening import Heard
from turnwise.translation.records import AUDIO, Sample

LANGUAGE_TAG = re.compile(
    r"\s*(?:>>\s*\w+\s*<<|__\w+__|<2\w+>|<\|?[a-z]{2,3}(?:[_-]\w+)?\|?>|\[[a-z]{2,3}(?:[_-]\w+)?\]|[a-z]{3}_[A-Z][a-z]{3}\b)"
)
"""What translation models put in front of a text to say its language, and sometimes leave there."""
SHORTEST, LONGEST = 0.5, 2.0
"""Hypothesis over reference, in characters: outside, the lengths do not fit."""
LONG_ENOUGH = 20
"""Characters that the longer of the two must have: one word may well be three times as long as another."""
SOURCE_WORDS = 3
"""Words a source must have before finding it inside a hypothesis means something."""
RATE = 16000
NAMES_KEPT = 3

_OTHER_LENGTH = f"less than {SHORTEST:g} or more than {LONGEST:g} times as long as the reference"
_WHAT = {
    "language_tag": "hypotheses that begin with a language tag",
    "source_copied": "hypotheses that are the source",
    "source_left": "hypotheses that hold the whole source text",
    "empty_hypothesis": "empty hypotheses, scored as they are",
    "empty_reference": "empty references, skipped by every metric that needs one",
    "empty_source": "empty sources, skipped by every metric that needs one",
    "length_ratio": f"hypotheses {_OTHER_LENGTH}",
    "duration_ratio": f"spoken translations {_OTHER_LENGTH}",
    "excluded": "samples that no metric can score",
}


class Hygiene:
    """Looks at one sample after the other and remembers what is odd."""

    def __init__(self, listens: bool = True) -> None:
        self._listens = listens
        self._found: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def look_at(self, sample: Sample, heard: Mapping[Path, Heard]) -> None:
        """One more sample; `heard` has its recordings."""
        if sample.excluded:
            self._note("excluded", f"{sample.id}: {sample.excluded}")
            return
        if not sample.is_reference:
            for check, applies in _TEXT_CHECKS.items():
                if applies(sample):
                    self._note(check, sample.id)
        given = [text for text in sample.references if text is not None]
        if given and not any(text.strip() for text in given):
            self._note("empty_reference", sample.id)
        if sample.source is not None and not sample.source.strip():
            self._note("empty_source", sample.id)
        self._listen_to(sample, heard)

    def _listen_to(self, sample: Sample, heard: Mapping[Path, Heard]) -> None:
        seconds: dict[str, float] = {}
        noted: set[Path] = set()
        for name in AUDIO if self._listens else ():
            path = getattr(sample, name)
            if path is not None and path not in heard:
                self._note("text_without_audio", sample.id, f"samples without {name.replace('_', ' ')}")
            elif path is not None:
                found = heard[path]
                if path not in noted:  # ground truth has one recording as translation and as reference
                    noted.add(path)
                    self._note_recording(path, found)
                seconds |= {} if found.seconds is None else {name: found.seconds}
        if "hypothesis_audio" in seconds and "reference_audio" in seconds:
            ratio = seconds["hypothesis_audio"] / seconds["reference_audio"]
            if not SHORTEST <= ratio <= LONGEST:
                self._note("duration_ratio", sample.id)

    def findings(self) -> list[Finding]:
        """All that was found, counted, with the first few places."""
        found = []
        for key, count in self._counts.items():
            check, what = key
            names = ", ".join(self._found[key]) + (" ..." if count > NAMES_KEPT else "")
            found.append(Finding(check, f"{what or _WHAT[check]}: {names}", count))
        return found

    def _note_recording(self, path: Path, heard: Heard) -> None:
        if isinstance(heard.trouble, UnusableAudio):
            self._note("audio", path.name, heard.trouble.reason)
        elif heard.trouble is not None:  # the extra is not installed: metrics on audio will say so
            self._listens = False
            self._note("audio", heard.trouble.remedy or "", f"audio is not looked into: {heard.trouble.what}")
        if heard.seconds is None:
            return
        if heard.channels > 1:
            self._note("audio", path.name, f"audio with {heard.channels} channels, mixed down")
        if heard.rate > RATE:
            self._note("audio", path.name, f"audio at {heard.rate} Hz, resampled in memory where {RATE} Hz are needed")
        elif heard.rate < RATE:
            self._note("audio", path.name, f"audio at {heard.rate} Hz, too low for metrics that compare at {RATE} Hz")

    def _note(self, check: str, name: str, what: str = "") -> None:
        key = check, what
        self._counts[key] = self._counts.get(key, 0) + 1
        names = self._found.setdefault(key, [])
        if len(names) < NAMES_KEPT:
            names.append(name)


def _tagged(sample: Sample) -> bool:
    found = LANGUAGE_TAG.match(sample.hypothesis or "")
    return found is not None and not any((text or "").startswith(found[0]) for text in sample.references)


def _folded(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _copied(sample: Sample) -> bool:
    source = _folded(sample.source)
    same = bool(source) and _folded(sample.hypothesis) == source
    return same and all(_folded(text) != source for text in sample.references)  # names and numbers stay what they are


def _left(sample: Sample) -> bool:
    source, hypothesis = _folded(sample.source), _folded(sample.hypothesis)
    inside = len(source.split()) >= SOURCE_WORDS and source in hypothesis and source != hypothesis
    return inside and all(source not in _folded(text) for text in sample.references)


def _silent(sample: Sample) -> bool:
    return sample.hypothesis is not None and not sample.hypothesis.strip()


def _other_length(sample: Sample) -> bool:
    lengths = [len(text.strip()) for text in sample.references if text and text.strip()]
    own = len((sample.hypothesis or "").strip())
    fits = [max(own, other) < LONG_ENOUGH or SHORTEST <= own / other <= LONGEST for other in lengths]
    return own > 0 and bool(lengths) and not any(fits)


_TEXT_CHECKS: dict[str, Callable[[Sample], bool]] = {
    "language_tag": _tagged,
    "source_copied": _copied,
    "source_left": _left,
    "empty_hypothesis": _silent,
    "length_ratio": _other_length,
}
