"""Speech at known places: synthetic voices, trimmed, scaled and laid on channels with noise.

SVOX Pico (`ttspico`) and eSpeak NG (`espeakng-loader`, under the GPL: for tests only) speak. A test that asks for a
voice whose package is missing is skipped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from turnwise.audio.wave import CLIPPED, at_rate, from_samples

Signal = NDArray[np.float64]

TEXTS = {
    "en": (
        "Hello there, how can I help you today?",
        "No, stop, that is not what I asked for.",
        "The train leaves at nine fifteen and arrives at ten o'clock.",
        "Yes.",
        "Thanks, that is all I need, goodbye!",
    ),
    "es": ("Buenos días, ¿en qué puedo ayudarle?", "Gracias, eso es todo.", "Sí, claro."),
    "fr": ("Je voudrais réserver une table pour ce soir.", "Non, ce n'est pas ça.", "Oui, merci."),
    "de": ("Guten Tag, wie kann ich Ihnen helfen?", "Nein, das habe ich nicht gefragt.", "Ja, bitte."),
    "it": ("Vorrei prenotare un tavolo per quattro persone.", "Grazie, è tutto.", "Va bene."),
    "cmn": ("你好，请问有什么可以帮您？", "不，我问的不是这个。", "好的，谢谢。"),
    "sw": ("Habari, naweza kukusaidia vipi?", "Asante sana, kwaheri."),
}
PICO = {"pico-en-GB": "en", "pico-en-US": "en", "pico-es-ES": "es", "pico-fr-FR": "fr", "pico-de-DE": "de"} | {
    "pico-it-IT": "it"
}
ESPEAK = {"en+m3": "en", "en-us+f3": "en", "de+f2": "de", "es+m7": "es", "cmn+f4": "cmn", "cmn": "cmn", "sw+m1": "sw"}
"""Voices and the languages they speak; `f` in a variant of eSpeak NG is a woman, `m` a man."""


class Utterance(NamedTuple):
    """What was said on a channel, from when to when in seconds."""

    start_s: float
    end_s: float
    voice: str


# Voices


@cache
def said(voice: str, text: str, rate: int) -> Signal:
    """A sentence at a rate, with the silence that the synthesiser puts around it."""
    samples, own = _pico(voice.removeprefix("pico-"), text) if voice.startswith("pico-") else _espeak(voice, text)
    return np.asarray(at_rate(from_samples(samples, own, tolerate=(CLIPPED,)), rate).samples)


def sentences(voices: dict[str, str], each: int) -> list[tuple[str, str]]:
    """So many sentences of each voice, the voices taking turns; every voice begins with another one."""
    return [
        (voice, TEXTS[language][(place + turn) % len(TEXTS[language])])
        for turn in range(each)
        for place, (voice, language) in enumerate(voices.items())
    ]


def _pico(language: str, text: str) -> tuple[Signal, int]:
    engine = pytest.importorskip("ttspico", reason="ttspico is not installed").TtsEngine(language)
    return np.frombuffer(engine.speak(text), dtype="<i2") / 32768, 16000


def _espeak(voice: str, text: str) -> tuple[Signal, int]:
    loader = pytest.importorskip("espeakng_loader", reason="espeakng-loader is not installed")
    library = ctypes.CDLL(loader.get_library_path())
    synchronous, utf8 = 2, 1  # from speak_lib.h
    rate = library.espeak_Initialize(synchronous, 0, loader.get_data_path().encode(), 0)
    library.espeak_ng_SetRandSeed(ctypes.c_long(1))
    spoken: list[bytes] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    def collect(samples: int | None, count: int, _events: int | None) -> int:
        if samples and count > 0:
            spoken.append(ctypes.string_at(samples, 2 * count))
        return 0

    library.espeak_SetSynthCallback(collect)
    assert library.espeak_SetVoiceByName(voice.encode()) == 0, f"eSpeak NG has no voice {voice}"
    content = text.encode() + b"\0"
    assert library.espeak_Synth(content, ctypes.c_size_t(len(content)), 0, 1, 0, utf8, None, None) == 0
    library.espeak_Terminate()
    return np.frombuffer(b"".join(spoken), dtype="<i2") / 32768, int(rate)


# Where a sentence begins and ends. Nobody has the last word on that, so tests hold for all of these.


def _loud_samples(sound: Signal, rate: int) -> NDArray[np.intp]:
    return np.flatnonzero(np.abs(sound) > 0.01 * np.abs(sound).max())


def _above_50_dbfs(sound: Signal, rate: int) -> NDArray[np.intp]:
    return np.flatnonzero(np.abs(sound) > 10 ** (-50 / 20))


def _loud_frames(sound: Signal, rate: int) -> NDArray[np.intp]:
    width = rate // 200
    power = np.mean(sound[: len(sound) // width * width].reshape(-1, width) ** 2, axis=1)
    frames = np.flatnonzero(power > power.max() * 10 ** (-40 / 10))
    return np.array([frames[0] * width, (frames[-1] + 1) * width - 1])


TRIMS: dict[str, Callable[[Signal, int], NDArray[np.intp]]] = {
    "samples within 40 dB of the peak": _loud_samples,
    "samples above -50 dBFS": _above_50_dbfs,
    "5 ms within 40 dB of the loudest": _loud_frames,
}


def trimmed(sound: Signal, rate: int, how: str = "5 ms within 40 dB of the loudest") -> Signal:
    """From the first to the last sample that counts."""
    places = TRIMS[how](sound, rate)
    return sound[places[0] : places[-1] + 1]


# Channels


def decibels(level: float) -> float:
    """The amplitude of a level in dB."""
    return float(10 ** (level / 20))


def pink(count: int, rng: np.random.Generator, rate: int) -> Signal:
    """Noise from 20 Hz on whose power falls with frequency, of effective value 1."""
    hertz = np.fft.rfftfreq(count, 1 / rate)
    spectrum = np.fft.rfft(rng.standard_normal(count))
    spectrum = np.where(hertz < 20, 0, spectrum / np.sqrt(np.maximum(hertz, 1)))
    noise = np.fft.irfft(spectrum, count)
    return np.asarray(noise / noise.std())


def white(count: int, rng: np.random.Generator) -> Signal:
    """White noise of effective value 1."""
    return rng.standard_normal(count)


def conversation(
    speakers: Sequence[Sequence[tuple[str, str]]],
    rate: int,
    rng: np.random.Generator,
    *,
    trim: str = "5 ms within 40 dB of the loudest",
    peaks_dbfs: tuple[float, float] = (-20.0, -6.0),
    pauses_s: tuple[float, float] = (0.8, 1.6),
) -> tuple[list[Signal], list[list[Utterance]]]:
    """A channel without noise per speaker, and who said what when.

    Each speaker goes through their sentences with pauses of their own, so that the channels overlap anyhow.
    """
    tracks: list[Signal] = []
    truths: list[list[Utterance]] = []
    for sentences_of_one in speakers:
        parts: list[Any] = []
        truth: list[Utterance] = []
        place = 0
        for voice, text in sentences_of_one:
            pause = np.zeros(int(rng.uniform(*pauses_s) * rate))
            sound = trimmed(said(voice, text, rate), rate, trim)
            sound = sound * decibels(rng.uniform(*peaks_dbfs)) / np.abs(sound).max()
            start = place + len(pause)
            place = start + len(sound)
            truth.append(Utterance(start / rate, place / rate, voice))
            parts += [pause, sound]
        tracks.append(np.concatenate([*parts, np.zeros(rate)]))
        truths.append(truth)
    longest = max(len(track) for track in tracks)
    return [np.pad(track, (0, longest - len(track))) for track in tracks], truths


def speech_rms(track: Signal, truth: Sequence[Utterance], rate: int) -> float:
    """Effective value of the speech alone."""
    spoken = np.concatenate([track[round(u.start_s * rate) : round(u.end_s * rate)] for u in truth])
    return float(np.sqrt(np.mean(spoken**2)))
