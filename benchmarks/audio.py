"""Mel-cepstral distance against the package mel-cepstral-distance at its default: `name  ratio  goal` per line.

Both read the same two WAV files of 10 s and 16 kHz. The package aligns approximately (dtw_radius=10), turnwise exactly;
compiling is not timed, reading is.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np

from turnwise.audio.cepstra import CONVENTIONS
from turnwise.audio.mcd import mel_cepstral_distance
from turnwise.audio.wave import read_wave

REPEATS = 5
RATE = 16000
SECONDS = 10


def main() -> None:
    # numba looks for a package called coverage and would find the benchmark of that name beside this file.
    sys.path = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]
    try:
        from mel_cepstral_distance import compare_audio_files
    except ImportError:
        print("mel-cepstral-distance is not installed: pip install mel-cepstral-distance==0.0.4")
        return
    logging.getLogger("mel_cepstral_distance").setLevel(logging.ERROR)
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("a.wav", "b.wav")]
        for file, pitch in zip(files, (110.0, 180.0), strict=True):
            write(file, babble(rng, pitch))
        ours = {name: own(files, name) for name in CONVENTIONS}
        times = interleaved({"peer": lambda: compare_audio_files(*files), **ours})
    for name in CONVENTIONS:
        ratio = times["peer"] / times[name]
        print(f"{f'audio: MCD, 10 s pair, {name}, times as fast':45} {ratio:6.1f}  >= 15", flush=True)


def own(files: list[Path], name: str) -> Callable[[], object]:
    convention = CONVENTIONS[name]

    def measure() -> object:
        return mel_cepstral_distance(*(read_wave(file, rate=convention.rate) for file in files), convention)

    measure()  # compiles, or loads what was compiled before
    return measure


def interleaved(jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best of several turns each, taken alternately so that all meet the same machine."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(REPEATS):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def babble(rng: np.random.Generator, pitch: float) -> np.ndarray:
    """Harmonics of a wandering pitch under formants that move every 100 to 300 ms, with a little noise."""
    count = RATE * SECONDS
    marks = np.cumsum(rng.uniform(0.1, 0.3, size=200))
    times = np.arange(count) / RATE
    phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * times))) / RATE
    formants = [np.interp(times, marks, rng.uniform(low, high, 200)) for low, high in ((300, 800), (900, 2400))]
    signal = np.zeros(count)
    for harmonic in range(1, int(4000 / pitch)):
        gain = sum(1 / (1 + ((harmonic * pitch - formant) / 90) ** 2) for formant in formants)
        signal += gain * np.sin(harmonic * phase)
    signal += 0.01 * rng.standard_normal(count)
    return np.asarray(0.5 * signal / np.abs(signal).max())


def write(file: Path, signal: np.ndarray) -> None:
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((signal * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
