"""Speech as SONAR hears it: log energies in 80 mel bands, standardised over the sentence. Plain numpy.

The same numbers as the Seamless feature extractor of transformers and fairseq2's filterbanks (waveform times 2^15,
standardised), which follow Kaldi.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnwise.audio.wave import UnusableAudio, Wave, at_rate

RATE = 16000
FRAME, HOP, FFT = 400, 160, 512
"""25 ms every 10 ms."""
BINS = 80
LOWEST_HZ = 20.0
PREEMPHASIS = 0.97
FLOOR = float(np.finfo(np.float32).eps)
LONGEST_S = 30.0
TOO_LONG = "audio longer than 30 s"
TOO_SHORT = "audio too short for an embedding"

Fbank = NDArray[np.float32]


def fbank(wave: Wave) -> Fbank:
    """Filterbanks (frames, 80) of a wave of any rate; too long and too short ones are refused."""
    check_length(wave)
    samples = at_rate(wave, RATE).samples
    if len(samples) < FRAME + HOP:  # the encoder takes two frames at a time
        raise UnusableAudio(TOO_SHORT, where=wave.source, found=f"{wave.seconds:.3f} s", expected="0.035 s or more")
    return standardised(log_mel(samples))


def check_length(wave: Wave) -> None:
    """Refuse what is longer than a sentence may be: cut, it would say something else."""
    if wave.seconds > LONGEST_S:
        raise UnusableAudio(TOO_LONG, where=wave.source, found=f"{wave.seconds:.1f} s")


def log_mel(samples: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """ln(max(sum over bins of weight * |FFT|^2, eps)) of frames without offset, pre-emphasised, in Povey's window."""
    scaled = np.asarray(samples, dtype=np.float64) * 2**15
    frames = np.lib.stride_tricks.sliding_window_view(scaled, FRAME)[::HOP]
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    window, weights = _window_and_weights()
    power = np.abs(np.fft.rfft((frames - PREEMPHASIS * before) * window, FFT)) ** 2
    energies: NDArray[np.float64] = np.log(np.maximum(power @ weights, FLOOR))
    return energies


def standardised(energies: NDArray[np.float64]) -> Fbank:
    """(x - mean) / sqrt(variance + 1e-7) for each band, the variance with n - 1."""
    centred = energies - energies.mean(axis=0)
    found: Fbank = (centred / np.sqrt(energies.var(axis=0, ddof=1) + 1e-7)).astype(np.float32)
    return found


@cache
def _window_and_weights() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Povey's window, hann^0.85, and triangles that are even in mel = 1127 ln(1 + f / 700)."""
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / (FRAME - 1))) ** 0.85
    mels = _mel(np.arange(FFT // 2 + 1) * RATE / FFT)
    edges = np.linspace(_mel(np.array(LOWEST_HZ)), _mel(np.array(RATE / 2)), BINS + 2)
    rising = (mels[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels[:, None]) / (edges[2:] - edges[1:-1])
    return window, np.maximum(0.0, np.minimum(rising, falling))


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    mels: NDArray[np.float64] = 1127.0 * np.log(1.0 + hertz / 700.0)
    return mels
