"""Samples for the contract of the translation room: random ones, exemplary ones, and tiny recordings that speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import strategies as st

from tests.audio import signals
from turnwise.audio.wave import Wave
from turnwise.translation import transcripts
from turnwise.translation.metrics import dnsmos
from turnwise.translation.records import Sample

# --- recordings ---------------------------------------------------------------------------------------------

HEARD = "parrot"
"""The language that the stand-in for a recogniser understands."""
RATE = 16000
RECORDINGS: dict[str, tuple[int, Callable[[int], signals.Signal]]] = {
    "vowels": (RATE, lambda rate: signals.word(140, rate, stretch=0.4)),
    "other_voice": (RATE, lambda rate: signals.word(210, rate, stretch=0.5)),
    "chirp": (RATE, lambda rate: signals.chirp(200, 3000, 0.4, rate)),
    "noise": (RATE, lambda rate: signals.noise(0.1, 0.3, rate)),
    "vowels_at_22050": (22050, lambda rate: signals.word(140, rate, stretch=0.4)),
    "vowels_at_8000": (8000, lambda rate: signals.word(140, rate, stretch=0.4)),
    "silence": (RATE, lambda rate: signals.silence(0.3, rate)),
    "shorter_than_a_window": (RATE, lambda rate: signals.tone(440, 0.01, rate)),
}
MISSING = "missing"

_spoken: list[str] = []
"""What the recordings say, by number."""


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="turnwise-contract-")


@cache
def _recording(name: str) -> Path:
    rate, signal = RECORDINGS[name]
    path = Path(_folder().name) / f"{name}.wav"
    soundfile.write(path, signal(rate), rate, subtype="PCM_16")
    return path


@cache
def saying(text: str, recording: str) -> Path:
    """A recording that the stand-in hears as a text, whatever it sounds like."""
    _spoken.append(text)
    path = Path(_folder().name) / f"{recording}--{len(_spoken) - 1}.wav"
    if recording != MISSING:
        path.symlink_to(_recording(recording))
    return path


class Parrot:
    """Stands in for a recogniser: it knows what each of these recordings says."""

    name = "parrot"

    def transcribe(self, wave: Wave) -> str:
        return _spoken[int(Path(wave.source).stem.rpartition("--")[2])]


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """A recogniser for a made-up language; and DNSMOS, for real, but once for each recording."""
    patch.setattr(transcripts, "recogniser_for", lambda language: Parrot() if language == HEARD else None)
    patch.setattr(transcripts, "recogniser_name", lambda language: Parrot.name if language == HEARD else None)
    patch.setattr(transcripts, "why_not", lambda language: None if language == HEARD else f"nobody hears {language}")
    patch.setattr(dnsmos, "dnsmos", _once(dnsmos.dnsmos))


_opinions: dict[bytes, Any] = {}


def _once(opinion: Callable[[Wave], Any]) -> Callable[[Wave], Any]:
    def known(wave: Wave) -> Any:
        key = np.asarray(wave.samples, dtype=np.float64).tobytes()
        if key not in _opinions:
            _opinions[key] = opinion(wave)
        return _opinions[key]

    return known


# --- random samples -----------------------------------------------------------------------------------------

BLANK = ["", " ", "\t", "\u00a0"]
TEXTS = [
    *("x", "hello", "Hello!", "hello hello hello", "the the the the the the", "it's 5 o'clock -- 'now'"),
    *("the cat sat on the mat", "The cat sat on the mat.", "on the mat the cat sat", "a cat, a mat & a hat"),
    *("Ndabona amagama amabini, athunyelwa kum.", "Ndabona amagama amabini, athunyelwe kum.", ">>xho<< Ewe"),
    *("猫がマットに座った。", "我喜欢你们的房子", "naïve café", "nai\u0308ve cafe\u0301", "İSTANBUL ẞ"),
    *("🙂 ok", "&quot;a&quot; <b>", "3,000.50 kg", "word-\nbreak", "a\u2028b"),
]
WORDLESS = ["¿?!", "— …", "\u200b"]
"""There is something to read, and nothing to be heard."""
ANCHOR = "this one is long enough for every n-gram"
"""A perfect corpus whose sentences all have less than four words has a BLEU of 0: one of them is longer."""

_texts = st.one_of(*map(st.sampled_from, (TEXTS, TEXTS, BLANK, WORDLESS)), st.text(max_size=12))
_recordings = st.sampled_from([*RECORDINGS, MISSING])
_operations = st.dictionaries(
    st.sampled_from(["latency_ms", "tokens", "cost"]), st.integers(0, 3000) | st.floats(0, 3000), max_size=3
)


def first_text(references: tuple[str | None, ...]) -> str | None:
    """The first reference that says something."""
    return next((text for text in references if text and text.strip()), None)


@st.composite
def _samples(draw: st.DrawFn, number: int) -> Sample:
    """Any field missing or empty; the reference recording, where there is one, says the first reference."""
    language = draw(st.sampled_from([HEARD, HEARD, HEARD, "xhosa", None]))
    segment = str(draw(st.integers(0, 3)))
    references = tuple(draw(st.lists(st.none() | _texts, max_size=3)))
    said = first_text(references) or draw(_texts)
    hypothesis = draw(st.none() | _texts | st.just(first_text(references)))
    recorded = draw(st.none() | _recordings)
    reference_audio = None if recorded is None else saying(said, recorded)
    spoken = draw(st.none() | st.just(hypothesis or said) | _texts)
    hypothesis_audio = None if spoken is None else saying(spoken, draw(_recordings))
    is_reference = draw(st.integers(0, 5)) == 0
    return Sample(
        id=f"{segment}/{number}",
        segment=segment,
        user=str(number),
        cluster=draw(st.just("") | st.just(f"{language}/{segment}")),
        language=language,
        pair="en-xho",
        source=draw(st.none() | _texts),
        hypothesis=first_text(references) if is_reference else hypothesis,
        references=references,
        source_audio=draw(st.none() | st.builds(saying, _texts, _recordings)),
        hypothesis_audio=reference_audio if is_reference else hypothesis_audio,
        reference_audio=reference_audio,
        is_reference=is_reference,
        excluded="no reference (spec: skipped for all metrics)" if draw(st.integers(0, 7)) == 0 else None,
        metadata=draw(st.just({}) | st.just({"domain": "bus"})),
        operations=draw(_operations),
    )


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Sample]:
    """A few samples in any order; where one can be scored, a long one is among them."""
    found = [draw(_samples(number)) for number in range(draw(st.integers(min_size, 4)))]
    if len(found) > 1 and draw(st.booleans()):  # one recording for two rows, perhaps of two languages
        found[0] = replace(found[0], hypothesis_audio=found[1].hypothesis_audio, is_reference=False)
    if any(first_text(sample.references) for sample in found):
        found.insert(draw(st.integers(0, len(found))), _exemplary("anchor", ANCHOR, "chirp"))
    return found


# --- exemplary samples --------------------------------------------------------------------------------------

FREE = {"latency_ms": 0.0, "tokens": 0.0, "cost": 0.0}


@cache
def exemplary() -> tuple[Sample, ...]:
    """Three sentences, translated and spoken like their references."""
    texts = ("The cat sat on the mat.", "It's five o'clock, and nobody is here!", "Please bring your card next time.")
    return tuple(
        _exemplary(f"exemplary-{number}", text, recording)
        for number, (text, recording) in enumerate(zip(texts, ("vowels", "other_voice", "chirp"), strict=True))
    )


def _exemplary(name: str, text: str, recording: str) -> Sample:
    source = "Ndiyabulela kakhulu bhuti wam"
    return Sample(
        id=name,
        segment=name,
        language=HEARD,
        source=source,
        hypothesis=text,
        references=(text,),
        source_audio=saying(source, "noise"),
        hypothesis_audio=saying(text, recording),
        reference_audio=saying(text, recording),
        operations=FREE,
    )
