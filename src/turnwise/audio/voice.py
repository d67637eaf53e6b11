"""Voice activity: when somebody speaks on a channel, to within milliseconds where there is little noise.

Silero says where speech is, short-time energy where it begins and ends; without Silero energy does both. Segments are
fine: pauses inside a turn separate them. What makes a turn of them is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnwise.audio import voice_where as where
from turnwise.audio.voice_edges import LEAST_DBFS, Energies, Span, decibel, energies, place_edges, prominence
from turnwise.audio.voice_settings import (
    AUTO,
    ENERGY,
    SILERO,
    ErrorBand,
    VoiceSettings,
    error_band,
    grid,
    why_not,
)
from turnwise.audio.wave import EMPTY, FULL_SCALE, NOT_FINITE, Samples, UnusableAudio, Wave, at_rate
from turnwise.kernel.cores import cores
from turnwise.kernel.errors import UsageError

__all__ = [
    "AUTO",
    "ENERGY",
    "SILERO",
    "Activity",
    "ErrorBand",
    "Span",
    "VoiceSettings",
    "detect",
    "detect_channels",
    "error_band",
    "grid",
    "why_not",
]

LEAST_S, LEAST_WORD_S = 0.03, 0.1
"""Shorter segments are clicks between words, and what lasts no longer on the whole are knocks."""
LEAST_RATE = 4000
"""Hz; below that there is too little of a voice."""


@dataclass(frozen=True, slots=True)
class Activity:
    """When somebody speaks on a channel, and how well that can be known."""

    segments: tuple[Span, ...]
    """In order, without overlap."""
    seconds: float
    """Duration of the channel."""
    detector: str
    """`silero` or `energy`."""
    noise_dbfs: float
    """Median level away from speech, between 100 Hz and 7.5 kHz; -80 at least."""
    speech_dbfs: float | None
    """Mean level within the segments; None where there are none."""
    snr_db: float | None
    """Speech without its share of noise, over the noise; None where there is no speech."""
    clipped_share: float
    """Share of samples at full scale."""

    @property
    def band(self) -> ErrorBand | None:
        """How far the edges err; None where there is no speech or no promise."""
        return error_band(self.snr_db, self.detector)


@dataclass(frozen=True, slots=True, eq=False)
class _Channel:
    samples: Samples
    rate: int
    seconds: float
    clipped_share: float
    sound: Energies
    windows: NDArray[np.float32]
    """What Silero hears: the samples, filled up to whole windows."""
    islands: Sequence[where.Island] = ()


def detect(samples: Any, rate: int, settings: VoiceSettings | None = None, *, workers: int | None = None) -> Activity:
    """Segments of speech on one channel of samples between -1 and 1; see `detect_channels`."""
    return detect_channels([samples], rate, settings, workers=workers)[0]


def detect_channels(
    channels: Sequence[Any], rate: int, settings: VoiceSettings | None = None, *, workers: int | None = None
) -> tuple[Activity, ...]:
    """Segments of speech on each of some channels, in parallel.

    Args:
        channels: samples of one rate, each between -1 and 1. Silence and clipping are let pass.
        rate: Hz; Silero hears 16 kHz.
        settings: by default Silero where it is installed, otherwise energy.
        workers: threads, by default one per processor. The result does not depend on them.

    Raises:
        UnusableAudio: no samples, or samples that are no numbers.
        TurnwiseError: Silero is asked for and not installed.
    """
    settings = settings or VoiceSettings()
    if rate < LEAST_RATE:
        raise UsageError("the sample rate is too low for speech", found=f"{rate} Hz", expected=f"{LEAST_RATE} Hz")
    detector = settings.chosen
    with ThreadPoolExecutor(max(1, workers or cores())) as pool:
        prepared = list(pool.map(lambda samples: _prepared(samples, rate, detector, settings), channels))
        if detector == SILERO:
            spans = _heard(prepared, settings, pool)
        else:
            spans = list(pool.map(lambda channel: where.energy_spans(channel.sound, settings), prepared))
        jobs = zip(prepared, spans, strict=True)
        return tuple(pool.map(lambda job: _activity(job[0], job[1], detector, settings), jobs))


def _prepared(samples: Any, rate: int, detector: str, settings: VoiceSettings) -> _Channel:
    values = np.asarray(samples)
    clipped = _clipped_share(values)
    wave = Wave(values, rate, rate, 1, "samples", clipped)
    heard = at_rate(wave, where.RATE) if detector == SILERO else wave
    count = len(heard.samples)
    windows = np.zeros(-(-count // where.WINDOW) * where.WINDOW, dtype=np.float32)
    single = windows[:count]
    # A constant offset is no sound. It is where the samples are at rest, not their mean: a voice has one of its own.
    np.subtract(heard.samples, np.median(heard.samples[::97]), out=single, casting="same_kind")
    sound = energies(single, heard.rate, rate)
    if detector != SILERO:
        return _Channel(single, rate, wave.seconds, clipped, sound, windows)
    islands = where.islands(sound, len(windows) // where.WINDOW, settings)
    return _Channel(
        single, heard.rate, wave.seconds, clipped, sound, where.amplified(windows, sound, settings), islands
    )


def _clipped_share(values: NDArray[Any]) -> float:
    """The share of samples at full scale, after what `from_samples` checks as well: this has to be fast for hours."""
    if values.ndim != 1:
        raise UsageError("samples of one channel are wanted", found=f"an array of shape {values.shape}")
    if not np.issubdtype(values.dtype, np.floating):
        raise UsageError("samples between -1 and 1 are wanted", found=f"samples of type {values.dtype}")
    if not values.size:
        raise UnusableAudio(EMPTY, found="0 samples")
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):
        first = int(np.argmin(np.isfinite(values)))
        raise UnusableAudio(NOT_FINITE, found=f"{values[first]} at sample {first}")
    if max(-low, high) < FULL_SCALE:
        return 0.0
    return np.count_nonzero(np.abs(values) >= FULL_SCALE) / len(values)


def _heard(channels: Sequence[_Channel], settings: VoiceSettings, pool: ThreadPoolExecutor) -> list[list[Span]]:
    """Silero's stretches per channel; the islands of all channels are shared out among the threads."""
    jobs = [(place, island) for place, channel in enumerate(channels) for island in channel.islands]
    # The longest first: then no thread is left alone with a long one at the end.
    jobs.sort(key=lambda job: job[1].first - job[1].last)
    likely = [np.zeros(len(channel.windows) // where.WINDOW) for channel in channels]
    found = pool.map(lambda job: where.probabilities(channels[job[0]].windows, job[1]), jobs)
    for (place, island), values in zip(jobs, found, strict=True):
        likely[place][island.first : island.last] = values
    return [where.silero_spans(values, settings) for values in likely]


def _activity(channel: _Channel, spans: Sequence[Span], detector: str, settings: VoiceSettings) -> Activity:
    above = prominence(channel.sound, spans)
    groups = place_edges(channel.sound, above, spans, settings)
    placed = [segment for group in groups if sum(b - a for a, b in group) >= LEAST_WORD_S for segment in group]
    voiced = where.without_tones(channel.samples, channel.rate, _apart(placed, channel.seconds), settings)
    segments = tuple(segment for segment in voiced if segment.end_s - segment.start_s >= LEAST_S)
    noise, speech = _levels(channel.sound, spans, segments)
    over = None if speech is None else float(decibel(10 ** (speech / 10) - 10 ** (noise / 10))) - noise
    return Activity(segments, channel.seconds, detector, noise, speech, over, channel.clipped_share)


def _apart(segments: Sequence[Span], seconds: float) -> list[Span]:
    """In order, within the recording, and joined where they touch: edges of neighbours may have met."""
    joined: list[Span] = []
    for segment in sorted(segments):
        start, end = max(0.0, segment.start_s), min(seconds, segment.end_s)
        if joined and start <= joined[-1].end_s:
            joined[-1] = Span(joined[-1].start_s, max(end, joined[-1].end_s))
        elif end > start:
            joined.append(Span(start, end))
    return joined


def _levels(sound: Energies, spans: Sequence[Span], segments: Sequence[Span]) -> tuple[float, float | None]:
    """Noise and speech in dBFS. Sounds that were taken for speech at first are neither."""
    total: NDArray[np.float32] = sound.power.sum(axis=1)
    quiet = total[sound.apart(spans)]
    noise = float(decibel(np.median(quiet) if len(quiet) else np.percentile(total, 5)))
    spoken = ~sound.apart(segments, 0.0)
    speech = float(decibel(np.mean(total[spoken], dtype=np.float64))) if spoken.any() else None
    return max(noise, LEAST_DBFS), speech
