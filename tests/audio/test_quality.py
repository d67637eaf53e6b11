"""DNSMOS against the package its networks come from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.audio import signals as s
from turnwise.audio import quality as q
from turnwise.audio.quality import dnsmos
from turnwise.audio.wave import SILENT, at_rate, from_samples
from turnwise.kernel.errors import TurnwiseError

pytest.importorskip("speechmos", reason="speechmos is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

RATE = 16000


def words(count: int, noise: float = 0.0) -> s.Signal:
    """So many words of three vowels, in noise of that level."""
    said = np.concatenate([s.word(110 + 7 * (i % 4), RATE, 1 + 0.1 * (i % 3)) for i in range(count)])
    return said + s.noise(noise, 60, RATE)[: len(said)] if noise else said


SIGNALS = {
    "words": words(5),
    "words in noise": words(5, 0.02),
    "half a minute": words(34, 0.005),
    "chirp": s.chirp(100, 7000, 9.5, RATE),
    "noise": s.noise(0.1, 10, RATE),
}

# What `speechmos.dnsmos.run(samples, 16000)` of speechmos 0.0.1.1 says of these samples (double precision), with
# librosa 0.11.0, numpy 2.4.6 and onnxruntime 1.31.1 with its default threads: overall, signal, background, P.808.
# Here one thread is used, the filters are of double precision (librosa rounds them to single) and no file is read:
# that makes the last digit differ. The first two last 4.2 s and are doubled twice.
SPEECHMOS = {
    "words": (2.269771, 3.137263, 2.592360, 2.733626),
    "words in noise": (2.186852, 3.397421, 2.114810, 2.366244),
    "half a minute": (2.293117, 3.175847, 2.498035, 2.470222),
    "chirp": (1.072677, 1.157176, 1.091365, 2.220108),
    "noise": (1.111563, 1.170974, 1.098414, 2.091436),
}


@pytest.mark.parametrize("name", SPEECHMOS)
def test_same_numbers_as_speechmos(name: str) -> None:
    found = dnsmos(from_samples(SIGNALS[name], RATE))
    scores = (found.overall, found.signal, found.background, found.p808)
    assert scores == pytest.approx(SPEECHMOS[name], abs=1e-4)


def test_same_wave_same_numbers() -> None:
    wave = from_samples(SIGNALS["noise"], RATE)
    assert dnsmos(wave) == dnsmos(wave)


def test_noise_costs_background() -> None:
    clean, noisy = (dnsmos(from_samples(SIGNALS[name], RATE)) for name in ("words", "words in noise"))
    assert noisy.background < clean.background
    assert noisy.overall < clean.overall


def test_another_rate_is_resampled() -> None:
    pytest.importorskip("soxr", reason="soxr is not installed")
    wave = from_samples(SIGNALS["chirp"], RATE)
    assert dnsmos(at_rate(wave, 48000)).overall == pytest.approx(SPEECHMOS["chirp"][0], abs=0.02)


def test_digital_silence_has_a_score() -> None:
    silent = dnsmos(from_samples(s.silence(9.5, RATE), RATE, tolerate=[SILENT]))
    assert np.isfinite([silent.overall, silent.signal, silent.background, silent.p808]).all()


# 9.01 s are 144160 samples. A window begins each second while (whole seconds - 9.01) reaches that far: at 16 s
# int(16 - 9.01) + 1 = 7 windows. From 25 s on there would be more than 16, but the windows that begin after 7 to
# 23 s end one sample early by rounding: int((7 + 9.01) * 16000) = 256159, not 256160. Window 24 is the next whole one,
# first reached at 34 s: int(34 - 9.01) + 1 = 25.
@pytest.mark.parametrize(
    ("samples", "starts"),
    [
        (144160, [0]),
        (11 * RATE - 1, [0]),
        (11 * RATE, [0, 1]),
        (16 * RATE, list(range(7))),
        (33 * RATE, list(range(7))),
        (34 * RATE, [*range(7), 24]),
    ],
)
def test_windows(samples: int, starts: list[int]) -> None:
    ramp = np.arange(samples, dtype=np.float64)
    windows = list(q._windows(ramp))
    assert [window[0] / RATE for window in windows] == starts
    assert {len(window) for window in windows} == {144160}


@pytest.mark.parametrize(("seconds", "repeats"), [(5, 2), (3, 4), (0.25, 64)])
def test_short_audio_is_doubled(seconds: float, repeats: int) -> None:
    ramp = np.arange(int(seconds * RATE), dtype=np.float64)
    first = next(q._windows(ramp))
    assert (first == np.tile(ramp, repeats)[:144160]).all()


def test_log_mel_of_a_tone() -> None:
    """900 frames; the loudest band is the one around the tone, at (0 + 40) / 40 = 1, the floor (-80 + 40) / 40 = -1."""
    bands = q.log_mel(s.tone(1000, 9, RATE))
    assert bands.shape == (900, 120)
    assert bands.max() == 1
    assert bands.min() == -1
    # 1000 Hz are 15 mel of 15 + 27 ln 8 / ln 6.4 = 45.25; 122 corners are 45.25 / 121 = 0.374 mel apart, so the
    # centre of band n (from 0) lies at 0.374 (n + 1) mel: 15 mel fall between the bands 39 and 40.
    assert set(bands[100:800].argmax(axis=1)) <= {39, 40}


def test_signature_names_package_and_networks() -> None:
    assert q.dnsmos_name() == "speechmos-0.0.1.1/sig_bak_ovr+model_v8"
    assert q.why_not() is None


# Without the packages


@pytest.mark.parametrize("package", ["speechmos", "onnxruntime"])
def test_missing_package_names_the_remedy(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    q._networks.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TurnwiseError, match=f"DNSMOS needs {package}") as caught:
        dnsmos(from_samples(SIGNALS["words"], RATE))
    assert caught.value.remedy == 'pip install "turnwise[mos]"'


def test_why_not_without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(q, "find_spec", lambda name: None if name == "onnxruntime" else object())
    assert q.why_not() == 'DNSMOS not installed: pip install "turnwise[mos]"'


def test_package_without_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    q._networks.cache_clear()
    monkeypatch.setitem(sys.modules, "speechmos", SimpleNamespace(__file__=str(tmp_path / "__init__.py")))
    with pytest.raises(TurnwiseError, match="came without its networks") as caught:
        dnsmos(from_samples(SIGNALS["words"], RATE))
    assert "sig_bak_ovr.onnx" in (caught.value.where or "")
