"""DNSMOS: how good a recording sounds, estimated by Microsoft's networks without a reference.

The networks are the ONNX files in the package `speechmos`; here they are run with onnxruntime and numpy alone, and give
the numbers of that package. They were trained on speech in noise: they rank noise and distortion, and say little about
how natural a voice is.

Sources: Reddy, Gopal, Cutler, DNSMOS P.835, ICASSP 2022; DNSMOS, ICASSP 2021 (P.808).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from turnwise.audio.wave import Samples, Wave, at_rate
from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.extras import import_extra, remedy
from turnwise.kernel.once import once

RATE = 16000
WINDOW_S = 9.01
"""What the networks hear at once. A window begins every second."""
NOT_INSTALLED = 'DNSMOS not installed: pip install "turnwise[mos]"'

# From the output of the P.835 network to a mean opinion score: a parabola, highest power first.
_SIGNAL = (-0.08397278, 1.22083953, 0.0052439)
_BACKGROUND = (-0.13166888, 1.60915514, -0.39604546)
_OVERALL = (-0.06766283, 1.11546468, 0.04602535)

_WINDOW = int(WINDOW_S * RATE)
_HOP, _FFT, _BANDS = 160, 321, 120
_FLOOR, _RANGE_DB = 1e-10, 80.0
EXTRA, PURPOSE = "mos", "DNSMOS"

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Dnsmos:
    """Estimated mean opinion scores, from 1 (bad) to 5 (excellent), each the mean over the windows."""

    overall: float
    """P.835: the whole impression."""
    signal: float
    """P.835: how little the speech itself is distorted."""
    background: float
    """P.835: how little the background disturbs."""
    p808: float
    """P.808: the whole impression, by a network of its own."""


class _Networks(NamedTuple):
    p835: Any
    p808: Any


def dnsmos(wave: Wave) -> Dnsmos:
    """The four scores of a recording; at another rate than 16 kHz it is resampled first.

    A recording shorter than 9.01 s is doubled until it is long enough, as speechmos does. Each window is scored, and
    the scores are averaged. Audio that was recorded at less than 16 kHz holds nothing in the upper bands and is scored
    as if someone had filtered it: `wave.upsampled` tells.

    Raises:
        TurnwiseError: speechmos or onnxruntime is not installed.
    """
    networks = _networks()
    scores = np.array([_scores(networks, window) for window in _windows(at_rate(wave, RATE).samples)])
    overall, signal, background, p808 = scores.mean(axis=0)
    return Dnsmos(float(overall), float(signal), float(background), float(p808))


def dnsmos_name() -> str:
    """The networks and where they come from, for the signature of a metric."""
    import_extra("speechmos", EXTRA, PURPOSE)
    return f"speechmos-{version('speechmos')}/sig_bak_ovr+model_v8"


def why_not() -> str | None:
    """Why nothing can be scored here, in a few words, or None; loads nothing."""
    missing = any(find_spec(package) is None for package in ("speechmos", "onnxruntime"))
    return NOT_INSTALLED if missing else None


# Windows


def _windows(samples: Samples) -> Iterator[Samples]:
    """A window each second of whole seconds, in the arithmetic of speechmos.

    It computes the end of a window as int((i + 9.01) * 16000). Where that rounds down, the window is one sample short
    and is left out: those that begin after 7 to 23 seconds, and rarely later ones. They are left out here, too, so
    that scores can be compared with published ones.
    """
    while len(samples) < _WINDOW:
        samples = np.concatenate([samples, samples])
    for i in range(int(len(samples) // RATE - WINDOW_S) + 1):
        window = samples[i * RATE : int((i + WINDOW_S) * RATE)]
        if len(window) == _WINDOW:
            yield window


def _scores(networks: _Networks, window: Samples) -> tuple[float, float, float, float]:
    raw = networks.p835.run(None, {"input_1": window.astype(np.float32)[None]})[0][0]
    spectrum = log_mel(window[:-_HOP]).astype(np.float32)
    p808 = networks.p808.run(None, {"input_1": spectrum[None]})[0][0][0]
    signal, background, overall = (
        float(np.polyval(curve, value)) for curve, value in zip((_SIGNAL, _BACKGROUND, _OVERALL), raw, strict=True)
    )
    return overall, signal, background, float(p808)


# What the P.808 network sees


def log_mel(samples: Samples) -> Matrix:
    """Frames by 120 mel bands: (10 log10(power / highest power) + 40) / 40, at most 80 dB below the highest.

    Frames of 321 samples around every 160th, zeros beyond the ends, a periodic Hann window. Powers below 1e-10 count
    as that; so do the lowest bands that no bin of so short a transform falls into.
    """
    hann, filters = _tables()
    padded = np.pad(samples.astype(np.float64), _FFT // 2)
    frames = sliding_window_view(padded, _FFT)[::_HOP] * hann
    power = np.abs(np.fft.rfft(frames)) ** 2 @ filters.T
    decibel = 10 * np.log10(np.maximum(power, _FLOOR))
    decibel -= decibel.max()
    shown: Matrix = (np.maximum(decibel, -_RANGE_DB) + 40) / 40
    return shown


@cache
def _tables() -> tuple[Matrix, Matrix]:
    """The window and the filters: triangles on Slaney's mel scale, each of area 1 over Hz."""
    hann: Matrix = np.hanning(_FFT + 1)[:-1]
    corners = _hertz(np.linspace(0, _mel(RATE / 2), _BANDS + 2))
    left, centre, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    bins = np.arange(_FFT // 2 + 1) * (RATE / _FFT)
    triangles = np.maximum(0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))
    return hann, triangles * (2 / (right - left))


def _mel(hertz: float) -> float:
    """Slaney's scale above 1000 Hz: 15 + 27 ln(f / 1000) / ln 6.4."""
    return float(15 + 27 * np.log(hertz / 1000) / np.log(6.4))


def _hertz(mel: Matrix) -> Matrix:
    """Linear up to 1000 Hz = 15 mel, from there on a factor of 6.4 in 27 mel."""
    return np.where(mel < 15, mel * (200 / 3), 1000 * 6.4 ** ((mel - 15) / 27))


# The networks


@once
def _networks() -> _Networks:
    folder = Path(str(import_extra("speechmos", EXTRA, PURPOSE).__file__)).parent / "dnsmos_models"
    runtime = import_extra("onnxruntime", EXTRA, PURPOSE)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # one order of additions, so the same numbers
    options.use_deterministic_compute = True
    options.log_severity_level = 3
    files = [folder / "sig_bak_ovr.onnx", folder / "model_v8.onnx"]
    for file in files:
        if not file.is_file():
            raise TurnwiseError("speechmos came without its networks", where=str(file), remedy=remedy(EXTRA))
    return _Networks(*(runtime.InferenceSession(file, options, ["CPUExecutionProvider"]) for file in files))
