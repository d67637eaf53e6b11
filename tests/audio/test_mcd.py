"""Mel-cepstral distance against the package, against a slow reference and against paths counted one by one."""

from __future__ import annotations

import importlib.util
import logging
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import wavfile

from tests.audio import signals as s
from turnwise.audio import dtw
from turnwise.audio.cepstra import CONVENTIONS, GUIDE, LITERATURE, PACKAGE, Cepstra, convention_named, mel_cepstra
from turnwise.audio.dtw import warp
from turnwise.audio.mcd import NARROW, SHORT, Prepared, compare, mel_cepstral_distance, mismatched_partners, prepare
from turnwise.audio.wave import UnusableAudio, Wave, fourier_resample, from_samples, read_wave
from turnwise.kernel.errors import UsageError

FACTOR = 10 * math.sqrt(2) / math.log(10)


def wave(samples: Any, rate: int = 16000) -> Wave:
    return from_samples(samples, rate)


# The package

needs_package = pytest.mark.skipif(
    importlib.util.find_spec("mel_cepstral_distance") is None, reason="mel-cepstral-distance is not installed"
)
needs_soundfile = pytest.mark.skipif(importlib.util.find_spec("soundfile") is None, reason="soundfile is missing")
AS_GUIDE = {
    "sample_rate": 16000,
    "n_fft": 32,
    "win_len": 25,
    "hop_len": 10,
    "s": 0,
    "D": 13,
    "align_target": "mfcc",
}
PAIRS = {
    "tones": lambda r: (s.tone(440, 0.5, r), s.tone(250, 0.6, r)),
    "tone and chirp": lambda r: (s.tone(440, 0.5, r), s.chirp(200, 3000, 0.7, r)),
    "noise": lambda r: (s.noise(0.1, 0.6, r), s.noise(0.02, 0.5, r, seed=4)),
    "tone in noise": lambda r: (s.tone(300, 0.5, r) + s.noise(0.001, 0.5, r), s.noise(0.05, 0.4, r)),
    "vowels": lambda r: (s.vowel(120, s.AH, 0.4, r), s.vowel(190, s.EE, 0.5, r)),
    "words": lambda r: (s.word(120, r), s.word(190, r, 0.7)),
    "word with itself": lambda r: (s.word(120, r), s.word(120, r)),
    "silence in one": lambda r: (s.word(120, r), s.vowel(120, s.AH, 0.5, r)),
}


@pytest.fixture
def _quiet_package() -> Iterator[None]:
    logger = logging.getLogger("mel_cepstral_distance")
    before = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(before)


def written(folder: Path, name: str, samples: Any, rate: int, kind: str) -> Path:
    path = folder / f"{name}.wav"
    wavfile.write(path, rate, (samples * 32767).astype(np.int16) if kind == "int16" else samples.astype(kind))
    return path


@needs_package
@needs_soundfile
@pytest.mark.usefixtures("_quiet_package")
@pytest.mark.parametrize("kind", ["int16", "float32", "float64"])
@pytest.mark.parametrize("pair", PAIRS)
def test_equals_the_package(tmp_path: Path, pair: str, kind: str) -> None:
    from mel_cepstral_distance import compare_audio_files

    files = [written(tmp_path, n, x, 16000, kind) for n, x in zip("ab", PAIRS[pair](16000), strict=True)]
    waves = [read_wave(file, rate=None) for file in files]
    for convention, options in ((PACKAGE, {}), (GUIDE, AS_GUIDE)):
        value, penalty = compare_audio_files(*files, dtw_radius=None, **options)
        found = mel_cepstral_distance(*waves, convention)
        assert found.value == pytest.approx(value, abs=1e-6)
        assert found.alignment_penalty == pytest.approx(penalty, abs=1e-9)


@needs_package
@needs_soundfile
@pytest.mark.usefixtures("_quiet_package")
@pytest.mark.parametrize("rates", [(22050, 22050), (22050, 16000), (44100, 24000), (8000, 8000)])
def test_equals_the_package_at_other_rates(tmp_path: Path, rates: tuple[int, int]) -> None:
    from mel_cepstral_distance import compare_audio_files

    words = s.word(120, rates[0]), s.word(190, rates[1], 0.7)
    files = [written(tmp_path, n, x, r, "int16") for n, x, r in zip("ab", words, rates, strict=True)]
    waves = [read_wave(file, rate=None) for file in files]
    for convention, options in ((PACKAGE, {}), (replace(GUIDE, accepts_upsampled=True), AS_GUIDE)):
        value, penalty = compare_audio_files(*files, dtw_radius=None, **options)
        found = mel_cepstral_distance(*waves, convention)
        assert found.value == pytest.approx(value, abs=1e-6)
        assert found.alignment_penalty == pytest.approx(penalty, abs=1e-9)
        assert found.rate == (convention.rate or min(rates))


# The literature's convention


def slow_cepstra(samples: Any) -> list[list[float]]:
    """c1 to c13 of each frame, by the definitions: no FFT, no matrix of filters, no tables."""
    mel = lambda hz: 2595 * math.log10(1 + hz / 700)  # noqa: E731
    corners = [700 * (10 ** (mel(8000) * k / 41 / 2595) - 1) for k in range(42)]
    rows = []
    for start in range(0, len(samples) - 400 + 1, 160):
        n = np.arange(400)
        frame = samples[start : start + 400] * (0.5 - 0.5 * np.cos(2 * np.pi * n / 400))
        size = [abs(np.sum(frame * np.exp(-2j * np.pi * k * n / 512))) for k in range(257)]
        logs = []
        for left, centre, right in zip(corners, corners[1:], corners[2:], strict=False):
            total = 0.0
            for k in range(257):
                hz = k * 16000 / 512
                if left < hz <= centre:
                    total += size[k] * (hz - left) / (centre - left)
                elif centre < hz < right:
                    total += size[k] * (right - hz) / (right - centre)
            logs.append(math.log(max(total, 1e-5)))
        row = [2 / 40 * sum(v * math.cos(m * (i + 0.5) * math.pi / 40) for i, v in enumerate(logs)) for m in range(14)]
        rows.append(row[1:])
    return rows


def slow_distance(a: list[list[float]], b: list[list[float]]) -> tuple[float, int]:
    @cache
    def best(i: int, j: int) -> tuple[float, int]:
        if i < 0 or j < 0:
            return (math.inf, 0) if (i, j) != (-1, -1) else (0.0, 0)
        here = math.dist(a[i], b[j])
        return min((cost + here, steps + 1) for cost, steps in (best(i - 1, j), best(i, j - 1), best(i - 1, j - 1)))

    return best(len(a) - 1, len(b) - 1)


@pytest.mark.parametrize("pair", PAIRS)
def test_literature_equals_a_slow_reference(pair: str) -> None:
    a, b = (x[: 400 + 160 * 24] for x in PAIRS[pair](16000))
    cost, steps = slow_distance(slow_cepstra(a), slow_cepstra(b))
    found = mel_cepstral_distance(wave(a), wave(b))
    assert found.frames == (25, 25)
    assert found.path_length == steps
    assert found.value == pytest.approx(FACTOR * cost / steps, abs=1e-9)


def test_cepstra_equal_a_slow_reference() -> None:
    samples = s.word(140, 16000)[1000:4000]
    assert mel_cepstra(samples, 16000, LITERATURE).coefficients == pytest.approx(np.array(slow_cepstra(samples)))


def test_the_factor_makes_decibel() -> None:
    """Spectra e^(cos x) apart: 20 log10 e^(cos x) has the root mean square 20/ln 10 / sqrt 2 = 6.1419 dB."""
    one = np.zeros((4, 13))
    one[:, 0] = 1.0
    other = np.zeros((4, 13))
    some = wave(s.tone(440, 0.1, 16000))
    pair = [Prepared(some, Cepstra(np.empty((4, 0)), c), LITERATURE) for c in (one, other)]
    found = compare(*pair)
    x = (np.arange(1000) + 0.5) * np.pi / 1000
    assert found.value == pytest.approx(math.sqrt(np.mean((20 * np.cos(x) / math.log(10)) ** 2)))
    assert (found.value, found.unit) == (pytest.approx(6.1419, abs=1e-4), "dB")
    assert (found.path_length, found.alignment_penalty) == (4, 0)


# What holds for all conventions


@pytest.mark.parametrize("name", CONVENTIONS)
def test_zero_for_itself(name: str) -> None:
    word = wave(s.word(120, 16000))
    found = mel_cepstral_distance(word, word, CONVENTIONS[name])
    assert found.value == 0
    # Equal frames of silence may be paired in any order; only the shortest path leaves none of them twice.
    assert found.alignment_penalty == 0 or name != "literature"


@pytest.mark.parametrize("name", CONVENTIONS)
def test_symmetric(name: str) -> None:
    one, other = wave(s.word(120, 16000)), wave(s.word(190, 16000, 0.8) + s.noise(1e-3, 0.644, 16000))
    there, back = (mel_cepstral_distance(*pair, CONVENTIONS[name]) for pair in ((one, other), (other, one)))
    assert there.value == pytest.approx(back.value, abs=1e-9)
    assert there.frames == back.frames[::-1]


def test_exactly_symmetric_where_paths_tie() -> None:
    one, other = wave(s.word(120, 16000)), wave(s.word(190, 16000, 0.8))
    there, back = mel_cepstral_distance(one, other), mel_cepstral_distance(other, one)
    assert (there.value, there.path_length) == (back.value, back.path_length)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_gain_does_not_matter(name: str) -> None:
    one, other = s.vowel(120, s.AH, 0.4, 16000), s.vowel(190, s.EE, 0.3, 16000)
    one, other = one + s.noise(0.01, 0.4, 16000), other + s.noise(0.01, 0.3, 16000)
    plain = mel_cepstral_distance(wave(one), wave(other), CONVENTIONS[name])
    softer = mel_cepstral_distance(wave(0.3 * one), wave(other), CONVENTIONS[name])
    assert softer.value == pytest.approx(plain.value, abs=1e-9)


def test_related_pairs_are_nearer_than_unrelated_ones() -> None:
    voices = [[prepare(wave(s.vowel(pitch, f, 0.4, 16000))) for f in (s.AH, s.EE, s.OO)] for pitch in (120, 150)]
    partners = mismatched_partners(3, np.random.default_rng(0))
    matched = np.mean([compare(a, b).value for a, b in zip(*voices, strict=True)])
    unrelated = np.mean([compare(a, voices[1][partner]).value for a, partner in zip(voices[0], partners, strict=True)])
    assert 2 * matched < unrelated


@pytest.mark.parametrize("count", [2, 3, 10, 101])
def test_mismatched_partners(count: int) -> None:
    partners = mismatched_partners(count, np.random.default_rng(count))
    assert sorted(partners) == list(range(count))
    assert not np.any(partners == np.arange(count))


def test_no_partner_for_one() -> None:
    with pytest.raises(ValueError, match="1 recordings"):
        mismatched_partners(1, np.random.default_rng(0))


def test_resampling_is_recorded() -> None:
    pytest.importorskip("soxr", reason="soxr is not installed")
    voice = s.vowel(120, s.AH, 0.5, 16000) + s.noise(0.01, 0.5, 16000)
    again = wave(fourier_resample(voice, 22050), 44100)
    found = mel_cepstral_distance(again, wave(voice))
    assert found.steps == (("resampled from 44100 to 16000 Hz (soxr_hq)",), ())
    assert found.rate == 16000
    assert found.value < 0.5  # what the filter takes away below 8 kHz


def test_a_lower_rate_is_refused() -> None:
    with pytest.raises(UnusableAudio) as caught:
        mel_cepstral_distance(wave(s.word(120, 8000), 8000), wave(s.word(120, 16000)))
    assert caught.value.reason == NARROW
    assert caught.value.found == "8000 Hz"


@pytest.mark.parametrize(("name", "samples"), [("literature", 399), ("guide", 400), ("package", 512)])
def test_one_sample_too_short(name: str, samples: int) -> None:
    long = wave(s.tone(440, 0.2, 16000))
    with pytest.raises(UnusableAudio) as caught:
        mel_cepstral_distance(wave(s.tone(440, 0.2, 16000)[:samples]), long, CONVENTIONS[name])
    assert caught.value.reason == SHORT
    enough = mel_cepstral_distance(wave(s.tone(440, 0.2, 16000)[: samples + 1]), long, CONVENTIONS[name])
    assert enough.frames[0] == 1


def test_frames_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = s.word(120, 16000)
    whole = mel_cepstra(samples, 16000, LITERATURE)
    monkeypatch.setattr("turnwise.audio.cepstra._FRAMES", 7)
    assert mel_cepstra(samples, 16000, LITERATURE).coefficients == pytest.approx(whole.coefficients, abs=1e-12)


def test_conventions_by_name() -> None:
    assert convention_named("guide") is GUIDE
    assert {"rate", "window_ms", "bands", "factor", "ties"} < set(LITERATURE.parts())
    with pytest.raises(UsageError, match="did you mean literature"):
        convention_named("litterature")


# Dynamic time warping


def all_paths(n: int, m: int) -> Iterator[list[tuple[int, int]]]:
    """Every path from (0, 0) to (n - 1, m - 1) by steps in one or both."""
    if (n, m) == (1, 1):
        yield [(0, 0)]
    for i, j in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        if i and j:
            yield from ([*path, (n - 1, m - 1)] for path in all_paths(i, j))


def test_paths_are_counted_right() -> None:
    assert sum(1 for _ in all_paths(4, 5)) == 129  # the Delannoy number D(3, 4)
    assert all(0 < sum(q) - sum(p) <= 2 for path in all_paths(3, 3) for p, q in pairwise(path))


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("m", [1, 3, 5])
def test_warp_against_every_path(n: int, m: int, numba: bool) -> None:
    rng = np.random.default_rng(n * 10 + m)
    for grid in (False, True):  # on a grid of few values many paths tie
        draw = (lambda k: rng.integers(0, 2, (k, 1)).astype(float)) if grid else (lambda k: rng.standard_normal((k, 3)))
        a, b = draw(n), draw(m)
        other = rng.standard_normal((n, 2)), rng.standard_normal((m, 2))
        costs = [(sum(math.dist(a[i], b[j]) for i, j in path), len(path), path) for path in all_paths(n, m)]
        cost, length, path = min(costs)
        found = warp(a, b, measure=other, numba=numba)
        assert found.cost == pytest.approx(cost)
        assert found.length == length
        if not grid:
            measured = sum(math.dist(other[0][i], other[1][j]) for i, j in path)
            assert found.measured == pytest.approx(measured)
            assert found.mean == pytest.approx(measured / length)
        assert warp(a, b, shortest=False, numba=numba).cost == pytest.approx(cost)


@pytest.mark.parametrize("shortest", [True, False])
def test_both_kernels_agree_to_the_last_bit(shortest: bool) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    rng = np.random.default_rng(5)
    for n, m in ((1, 1), (1, 9), (9, 1), (40, 33), (150, 260)):
        for frames in (rng.standard_normal((n + m, 20)), rng.integers(0, 2, (n + m, 2)).astype(float)):
            other = rng.standard_normal((n + m, 15))
            a, b, measure = frames[:n], frames[n:], (other[:n], other[n:])
            fast = warp(a, b, measure=measure, shortest=shortest)
            assert fast == warp(a, b, measure=measure, shortest=shortest, numba=False)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = wave(s.vowel(120, s.AH, 0.3, 16000)), wave(s.vowel(190, s.EE, 0.3, 16000))
    usual = mel_cepstral_distance(*pair)
    dtw._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    try:
        assert dtw._compiled() is None
        assert mel_cepstral_distance(*pair) == usual
    finally:
        dtw._compiled.cache_clear()


def test_nothing_to_warp() -> None:
    with pytest.raises(ValueError, match="0 and 3"):
        warp(np.empty((0, 2)), np.zeros((3, 2)))
