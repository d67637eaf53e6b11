"""Signals that sound a little like something: tones, chirps, noise, vowels by formant synthesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.float64]


def seconds(duration: float, rate: int) -> Signal:
    return np.arange(int(duration * rate)) / rate


def silence(duration: float, rate: int) -> Signal:
    return np.zeros(int(duration * rate))


def tone(hz: float, duration: float, rate: int) -> Signal:
    return 0.5 * np.sin(2 * np.pi * hz * seconds(duration, rate))


def chirp(low: float, high: float, duration: float, rate: int) -> Signal:
    t = seconds(duration, rate)
    return 0.5 * np.sin(2 * np.pi * (low * t + (high - low) * t**2 / (2 * duration)))


def noise(level: float, duration: float, rate: int, seed: int = 3) -> Signal:
    return level * np.random.default_rng(seed).standard_normal(int(duration * rate))


def vowel(pitch: float, formants: Sequence[float], duration: float, rate: int) -> Signal:
    """Harmonics of a pitch that trembles, each as loud as the formants near it."""
    t = seconds(duration, rate)
    phase = 2 * np.pi * pitch * t + 0.3 * np.sin(2 * np.pi * 5 * t)
    signal = np.zeros(len(t))
    for harmonic in range(1, int(0.9 * rate / 2 / pitch)):
        gain = sum(1 / (1 + ((harmonic * pitch - formant) / 80) ** 2) for formant in formants)
        signal += gain * np.sin(harmonic * phase)
    return np.asarray(0.5 * signal / np.abs(signal).max())


AH, EE, OO = (700, 1200, 2600), (300, 2300, 3000), (320, 800, 2250)


def word(pitch: float, rate: int, stretch: float = 1.0) -> Signal:
    """Three vowels between digital silences, as a synthesiser makes them."""
    parts: list[Any] = [silence(0.1, rate)]
    parts += [vowel(pitch * p, f, 0.2 * stretch, rate) for p, f in ((1.0, AH), (1.1, EE), (0.9, OO))]
    return np.concatenate([*parts, silence(0.08 * stretch, rate)])
