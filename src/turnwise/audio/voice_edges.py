"""Where speech begins and ends, by short-time energy in bands above the noise around it.

A detector says roughly where speech is; its edges are late, and by how much depends on the voice. Here each edge moves
to where the sound itself appears or disappears. Where noise hides the edge, the detector's is kept within limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from turnwise.audio.voice_settings import VoiceSettings
from turnwise.audio.wave import Samples

STEP_S, WINDOW_S = 0.005, 0.01
BAND_EDGES_HZ = (100, 300, 600, 1000, 1600, 2400, 3400, 5000, 7500)
"""Each band is compared with its own noise, so that a faint fricative counts even in noise that is loud below it."""
LEAST_DBFS = -80.0
"""Noise below this counts as this."""
SMOOTH = 5
"""Steps over which energy is averaged to find faint sound; where sound is strong, single steps place the edge."""

_GUARD_S = 0.3  # how far from speech a step has to be to count as noise
_BLOCK = 400  # steps of noise that are described together
_FEW = 40  # steps of noise below which there is nothing to describe
_LEAST_DB, _SPREADS, _FINE_DB = 1.0, 2.6, 2.0
_DEPTHS_DB = (15.0, 40.0)
_LATE_S = 0.09
_CHUNK = 1 << 10  # steps transformed at once: few enough for the cache

Matrix = NDArray[np.float32]
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Span(NamedTuple):
    """A stretch of time in seconds."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Energies:
    """Mean power of a channel per step and band."""

    power: Matrix
    step_s: float

    def index(self, seconds: float) -> int:
        """The step at a time, within the recording."""
        return min(max(round(seconds / self.step_s), 0), len(self.power))

    def apart(self, spans: Sequence[Span], guard_s: float = _GUARD_S) -> Mask:
        """Steps farther than so much from all spans."""
        far = np.ones(len(self.power), dtype=np.bool_)
        for span in spans:
            far[self.index(span.start_s - guard_s) : self.index(span.end_s + guard_s)] = False
        return far


def energies(samples: Samples, rate: int, original_rate: int | None = None) -> Energies:
    """Power in bands from 100 Hz to 7.5 kHz, or to what the original rate can hold, every 5 ms over 10 ms (Hann).

    Each frame is freed of its mean first, or what lies below 100 Hz would leak into the lowest band.
    """
    step, width = max(1, round(STEP_S * rate)), max(2, round(WINDOW_S * rate))
    count = -(-len(samples) // step)
    window = np.hanning(width + 2)[1:-1].astype(np.float32)
    hertz = np.fft.rfftfreq(width, 1 / rate)
    highest = 0.48 * min(rate, original_rate or rate)
    edges = [edge for edge in BAND_EDGES_HZ if edge < highest]
    starts = np.unique(np.searchsorted(hertz, edges))
    stop = min(int(np.searchsorted(hertz, min(highest, BAND_EDGES_HZ[-1]))), len(hertz))
    starts = starts[starts < stop]
    scale = np.float32(2 / (width * np.sum(window**2)))
    power = np.empty((count, len(starts)), dtype=np.float32)
    before = (width - step) // 2
    for first in range(0, count, _CHUNK):
        last = min(first + _CHUNK, count)
        begin, end = first * step - before, (last - 1) * step - before + width
        piece = np.asarray(samples[max(begin, 0) : end], dtype=np.float32)
        piece = np.pad(piece, (max(-begin, 0), end - max(begin, 0) - len(piece)))
        frames = sliding_window_view(piece, width)[::step]
        frames = frames - frames.mean(axis=1, keepdims=True)
        spectrum = np.fft.rfft(frames * window)[:, :stop]
        squares = (spectrum.real**2 + spectrum.imag**2) * scale
        power[first:last] = np.add.reduceat(squares, starts, axis=1)
    return Energies(power, step / rate)


def decibel(power: ArrayLike) -> Vector:
    """10 log10, with nothing at -200."""
    return np.asarray(10 * np.log10(np.maximum(power, 1e-20)), dtype=np.float64)


def smooth(values: NDArray[np.floating], width: int) -> Vector:
    """Mean over so many steps around each, over fewer at the ends."""
    total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0, dtype=np.float64)])
    middle = np.arange(len(values))
    low, high = np.maximum(middle - width // 2, 0), np.minimum(middle - width // 2 + width, len(values))
    shape = (-1,) + (1,) * (values.ndim - 1)
    return np.asarray((total[high] - total[low]) / (high - low).reshape(shape))


def runs(mask: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each run of true begins and where it has ended."""
    change = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    return np.flatnonzero(change > 0), np.flatnonzero(change < 0)


# Noise


@dataclass(frozen=True, slots=True, eq=False)
class Prominence:
    """How far each step rises above the noise around it, and how far it has to in order not to be noise."""

    fine_db: Vector
    smooth_db: Vector
    limit_db: Vector
    level_db: Vector


def prominence(sound: Energies, spans: Sequence[Span]) -> Prominence:
    """Power over the noise of its band, averaged over the bands.

    The noise is what lies apart from all spans, described every 2 s of it (median per band, spread of the average) and
    interpolated in time. Where nothing lies apart, each band's lowest tenth is the noise.
    """
    power = np.maximum(sound.power, 10 ** (LEAST_DBFS / 10) / sound.power.shape[1])
    far = np.flatnonzero(sound.apart(spans))
    times = np.arange(len(power))
    if len(far) < _FEW:
        ratio = np.mean(power / np.percentile(power, 10, axis=0), axis=1)
        fine, smoothed = decibel(ratio), decibel(smooth(ratio, SMOOTH))
        return Prominence(fine, smoothed, np.full(len(power), 6.0), decibel(power.sum(axis=1)))
    blocks = np.array_split(far, max(1, len(far) // _BLOCK))
    places = [float(block.mean()) for block in blocks]
    floors = np.log(np.array([np.median(power[block], axis=0) for block in blocks]))
    ratio = np.zeros(len(power))
    for band in range(power.shape[1]):
        ratio += power[:, band] / np.exp(np.interp(times, places, floors[:, band]))
    ratio /= power.shape[1]
    fine, smoothed = decibel(ratio), decibel(smooth(ratio, SMOOTH))
    middles = np.array([np.median(smoothed[block]) for block in blocks])
    spreads = np.array([1.4826 * np.median(np.abs(smoothed[block] - np.median(smoothed[block]))) for block in blocks])
    limits = np.maximum(_LEAST_DB, _SPREADS * spreads + 0.3)
    middle, limit = np.interp(times, places, middles), np.interp(times, places, limits)
    return Prominence(fine - middle, smoothed - middle, limit, decibel(power.sum(axis=1)))


# Edges


def place_edges(sound: Energies, above: Prominence, spans: Sequence[Span], settings: VoiceSettings) -> list[list[Span]]:
    """For each span the segments in it, with the edges where the sound has them.

    A step is sound where its average over 25 ms rises above the noise and is at most `depth_db` below the loudest step
    of the span. Sound outside the span is followed over gaps up to `edge_gap_s`, inside it gaps from `min_silence_s`
    on separate segments, and the outermost edges stay within `edge_window_s` of the span's.

    The less of the speech rises above the noise, the less of its faint end can be seen: what moves an edge inwards is
    then limited, down to the usual lateness of Silero (90 ms) where only the loudest 15 dB are seen. Where other sound
    goes on for twice the window, the energy has no edge to offer, and the span's stays.
    """
    loud = decibel(smooth(sound.power.sum(axis=1), SMOOTH))
    return [_place(sound, above, loud, span, settings) for span in spans]


def _place(sound: Energies, above: Prominence, loud: Vector, span: Span, settings: VoiceSettings) -> list[Span]:
    window = settings.edge_window_s
    low, high = sound.index(span.start_s - window), sound.index(span.end_s + window)
    start, end = sound.index(span.start_s), sound.index(span.end_s)
    if end <= start:
        return [span]
    faintest = above.level_db[start:end].max() - settings.depth_db

    def heard(near: slice) -> Mask:
        return np.asarray((above.smooth_db[near] > above.limit_db[near]) & (loud[near] > faintest))

    near = slice(low, high)
    sharp = (above.fine_db[near] > above.limit_db[near] + _FINE_DB - _LEAST_DB) & (above.level_db[near] > faintest)
    firsts, lasts = _pieces(heard(near), sharp, start - low, end - low, sound.step_s, settings)
    if not len(firsts):
        return [span]
    depth = float((above.smooth_db[start:end] - above.limit_db[start:end]).max())
    if depth < _DEPTHS_DB[1]:
        firsts, lasts = _joined(firsts, lasts, depth, sound.step_s, settings)
    inwards = min(window, float(np.interp(depth, _DEPTHS_DB, (_LATE_S, max(window, _LATE_S)))))
    starts, ends = (low + firsts) * sound.step_s, (low + lasts) * sound.step_s
    starts[0] = np.clip(starts[0], span.start_s - window, span.start_s + inwards)
    ends[-1] = np.clip(ends[-1], span.end_s - inwards, span.end_s + window)
    width = round(window / sound.step_s)
    if low >= width and heard(slice(low - width, start)).all():
        starts[0] = span.start_s
    if high + width <= len(loud) and heard(slice(end, high + width)).all():
        ends[-1] = span.end_s
    return [Span(float(a), float(b)) for a, b in zip(starts, ends, strict=True) if b > a]


def _pieces(
    heard: Mask, sharp: Mask, start: int, end: int, step_s: float, settings: VoiceSettings
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Runs of sound that belong to a span, joined over short gaps, each trimmed to its sharp steps."""
    firsts, lasts = runs(heard)
    long = lasts - firsts > 1
    firsts, lasts = firsts[long], lasts[long]
    inside = np.flatnonzero((lasts > start) & (firsts < end))
    if not len(inside):
        return firsts[:0], lasts[:0]
    gaps = (firsts[1:] - lasts[:-1]) * step_s
    left, right = int(inside[0]), int(inside[-1])
    far_left, far_right = (
        np.flatnonzero(gaps[part] > settings.edge_gap_s) for part in (slice(left), slice(right, None))
    )
    left = int(far_left[-1]) + 1 if len(far_left) else 0
    right = right + int(far_right[0]) if len(far_right) else len(firsts) - 1
    parted = np.flatnonzero(gaps[left:right] >= settings.min_silence_s) + left
    firsts, lasts = firsts[np.append(left, parted + 1)], lasts[np.append(parted, right)]
    return _trimmed(sharp, firsts, lasts)


def _trimmed(
    sharp: Mask, firsts: NDArray[np.intp], lasts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Edges moved to the first and last sharp step where those are so near that the averaging alone blurred them."""
    places, reach = np.flatnonzero(sharp), SMOOTH // 2 + 1
    if not len(places):
        return firsts, lasts
    after = places[np.minimum(np.searchsorted(places, firsts), len(places) - 1)]
    before = places[np.maximum(np.searchsorted(places, lasts) - 1, 0)] + 1
    firsts = np.where((after >= firsts) & (after - firsts <= reach), after, firsts)
    lasts = np.where((before <= lasts) & (lasts - before <= reach), before, lasts)
    return firsts, lasts


def _joined(
    firsts: NDArray[np.intp], lasts: NDArray[np.intp], depth: float, step_s: float, settings: VoiceSettings
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """In noise a gap may be faint speech: the less is seen, the longer a gap has to be to be one."""
    least = float(np.interp(depth, _DEPTHS_DB, (settings.bridge_s + 2 * _LATE_S, settings.min_silence_s)))
    parted = np.flatnonzero((firsts[1:] - lasts[:-1]) * step_s >= least)
    return firsts[np.append(0, parted + 1)], lasts[np.append(parted, len(firsts) - 1)]
