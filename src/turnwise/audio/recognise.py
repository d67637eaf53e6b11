"""Speech to text, behind an interface that says which languages a recogniser understands.

Moonshine for English comes with the extra `asr`. A package adds another recogniser through the entry-point group
`turnwise.recognisers` (`whisper = "package.module:factory"`); it goes before the built-in one. Texts are returned as
the recogniser wrote them: what counts as the same word is the business of the metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version
from importlib.util import find_spec
from threading import RLock
from typing import Any, Protocol

import numpy as np

from turnwise.audio.wave import SILENT_PEAK, Samples, Wave, at_rate
from turnwise.kernel.errors import TurnwiseError, UsageError, near_misses
from turnwise.kernel.extras import import_extra, remedy

ENTRY_POINT_GROUP = "turnwise.recognisers"
AUTO = "auto"
MOONSHINE = "moonshine"

NO_LANGUAGE = "no language given"
NOT_INSTALLED = f"recogniser not installed: {remedy('asr')}"

LONGEST_S = 16.0
"""Longer recordings are cut for Moonshine. Shorter pieces cost words (13.9 % wrong with at most 6 s, 9.9 % with 10,
9.6 % with 12, 9.4 % with 16, on twelve synthetic recordings of about a minute); longer ones cost memory."""
PAUSE_S = 0.2
"""The stretch that is to be quiet where a recording is cut."""

_RATE = 16000
EXTRA = "asr"
_LOADING = RLock()  # two threads that ask at once get the same model


class Recogniser(Protocol):
    """Turns speech into text: the same wave always into the same text."""

    @property
    def name(self) -> str:
        """Package, version and model, for the signature of a metric: `moonshine-voice-0.1.0/tiny-en`."""

    @property
    def languages(self) -> frozenset[str]:
        """Codes and names of the languages it understands, in lower case: `en`, `eng`, `english`."""

    def transcribe(self, wave: Wave) -> str:
        """What is said, with the spelling and punctuation of the recogniser; empty where nothing is."""


class BrokenRecogniser(TurnwiseError):
    """A recogniser of an installed package cannot be made, or is none."""


def recogniser_for(language: str | None, name: str = AUTO) -> Recogniser | None:
    """The recogniser for a language, or None where there is none; loaded once per process.

    Args:
        language: code or name, of any case; `en-GB` is understood where `en` is.
        name: `moonshine`, the name of an entry point, or `auto`: the first that understands the language, plug-ins
            in the order of their names before the built-in one.

    Raises:
        TurnwiseError: there is one for the language, but its package is not installed.
        UsageError: nothing is called `name`.
        BrokenRecogniser: a plug-in cannot be used.
    """
    with _LOADING:
        for plugin in _plugins(name):
            if understands(plugin.languages, language):
                return plugin
        if name in (AUTO, MOONSHINE) and understands(Moonshine.languages, language):
            return _moonshine()
    return None


def why_not(language: str | None, name: str = AUTO) -> str | None:
    """Why a language cannot be recognised here, the same few words for the same trouble, or None where it can.

    Loads no model of ours. A plug-in is made, to be asked for its languages: it had better load its weights late.
    """
    if language is None or not language.strip():
        return NO_LANGUAGE
    with _LOADING:
        if any(understands(plugin.languages, language) for plugin in _plugins(name)):
            return None
    if name not in (AUTO, MOONSHINE) or not understands(Moonshine.languages, language):
        return f"no recogniser for {language.strip().lower()}"
    return NOT_INSTALLED if find_spec("moonshine_voice") is None else None


def recogniser_name(language: str | None, name: str = AUTO) -> str | None:
    """The name of the recogniser for a language, or None where none can be used; loads no model of ours."""
    with _LOADING:
        for plugin in _plugins(name):
            if understands(plugin.languages, language):
                return plugin.name
    return None if why_not(language, name) else _moonshine_name()


def understands(languages: Collection[str], language: str | None) -> bool:
    """Whether a language, with its region or without, is among some."""
    wanted = (language or "").strip().lower().replace("_", "-")
    return wanted in languages or wanted.partition("-")[0] in languages


# Moonshine


class Moonshine:
    """Moonshine tiny for English; its weights are in the wheel of `moonshine-voice`.

    The package's own voice detector is switched off: what it finds depends on what it heard before, so that the same
    recording can come out differently the second time. Recordings above 16 s are cut where they are quietest
    instead, and the texts are joined. A piece below -60 dBFS is not handed over, for the model hears words in silence
    (`You`); it does so in noise without speech, too.
    """

    languages = frozenset({"en", "eng", "english"})

    def __init__(self) -> None:
        package = import_extra("moonshine_voice", EXTRA, "recognising speech")
        folder = package.get_model_path("tiny-en")
        if not folder.is_dir():
            raise TurnwiseError(
                "this version of moonshine-voice has no weights in it",
                where=str(folder),
                found=_moonshine_name(),
                remedy=remedy(EXTRA),
            )
        self.name = _moonshine_name()
        self._error: type[Exception] = package.MoonshineError
        self._lock = RLock()
        self._model = package.Transcriber(folder, package.ModelArch.TINY, options={"vad_threshold": 0.0})

    def transcribe(self, wave: Wave) -> str:
        """What is said, in one line."""
        samples = at_rate(wave, _RATE).samples
        texts = (self._text(piece) for piece in cut(samples, _RATE) if np.ptp(piece) / 2 >= SILENT_PEAK)
        return " ".join(" ".join(texts).split())

    def _text(self, piece: Samples) -> str:
        try:
            with self._lock:
                transcript = self._model.transcribe_without_streaming(piece.tolist(), _RATE)
        except self._error as error:
            found = f"{error}, on {len(piece) / _RATE:.1f} s of audio"
            raise TurnwiseError(f"{self.name} failed", found=found) from error
        return " ".join(line.text for line in transcript.lines)


def cut(samples: Samples, rate: int, longest_s: float = LONGEST_S, pause_s: float = PAUSE_S) -> Iterator[Samples]:
    """Pieces that follow each other and are at most so long.

    Each but the last ends in the middle of the quietest stretch of `pause_s` in the second half of what a piece may
    last; of equally quiet ones, in the last.
    """
    longest, pause, step = int(longest_s * rate), int(pause_s * rate), max(1, rate // 100)
    while len(samples) > longest:
        half = longest // 2
        energy = np.concatenate([[0.0], np.cumsum(samples[half:longest].astype(np.float64) ** 2)])
        starts = np.arange(0, longest - half - pause + 1, step)
        loudness = np.diff(energy[[starts, starts + pause]], axis=0)[0]
        end = half + int(starts[np.flatnonzero(loudness <= loudness.min())[-1]]) + pause // 2
        yield samples[:end]
        samples = samples[end:]
    yield samples


@cache
def _moonshine() -> Recogniser:
    return Moonshine()


@cache
def _moonshine_name() -> str:
    return f"moonshine-voice-{version('moonshine-voice')}/tiny-en"


# Plug-ins


def _plugins(name: str) -> Iterator[Recogniser]:
    """Those that a name stands for, each made when its turn comes."""
    entries = _entries()
    if name not in (AUTO, MOONSHINE) and name not in entries:
        known = [AUTO, MOONSHINE, *entries]
        raise UsageError(
            f"there is no recogniser {name!r}", expected=", ".join(known), remedy=near_misses(name, known) or None
        )
    for entry in entries.values() if name == AUTO else [entries[name]] if name in entries else []:
        yield _made(entry)


@cache
def _entries() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.name in (AUTO, MOONSHINE):
            raise BrokenRecogniser(
                f"{_origin(entry)} calls a recogniser {entry.name!r}, which is a name of turnwise",
                remedy=f"rename it, or uninstall the package: pip uninstall {_origin(entry)}",
            )
        if entry.name in found and found[entry.name].value != entry.value:
            raise BrokenRecogniser(
                f"two recognisers are called {entry.name!r}",
                found=f"{found[entry.name].value} and {entry.value}",
                remedy="rename one of them, or uninstall the package that brings it",
            )
        found[entry.name] = entry
    return found


@cache
def _made(entry: EntryPoint) -> Recogniser:
    where = f"package {_origin(entry)}"
    try:
        recogniser: Recogniser = entry.load()()
        fault = _fault(recogniser)
    except Exception as error:  # a plug-in may raise anything; its name is what the user needs
        raise BrokenRecogniser(
            f"the recogniser {entry.name!r} cannot be made by {entry.value}",
            where=where,
            found=f"{type(error).__name__}: {error}",
            remedy=f"reinstall or uninstall {_origin(entry)}",
        ) from error
    if fault:
        raise BrokenRecogniser(
            f"what {entry.value} makes is not a recogniser",
            where=where,
            found=fault,
            expected="name, languages (a frozenset of codes in lower case) and transcribe(wave)",
        )
    return recogniser


def _fault(recogniser: Any) -> str | None:
    """What keeps an object from being a recogniser."""
    name, languages = getattr(recogniser, "name", None), getattr(recogniser, "languages", None)
    if not isinstance(name, str) or not name:
        return f"name is {name!r}"
    if not isinstance(languages, frozenset | set) or not all(isinstance(x, str) and x == x.lower() for x in languages):
        return f"languages is {languages!r}"
    return None if callable(getattr(recogniser, "transcribe", None)) else "no method transcribe"


def _origin(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an installed package"
