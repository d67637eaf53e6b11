"""Mel cepstra, by named conventions that leave nothing open.

A convention holds every choice that changes a number, so that its fields can stand in a signature. Alignment is in
`dtw`, the distance itself in `mcd`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from turnwise.kernel.errors import UsageError, near_misses

Matrix = NDArray[np.float64]

_FRAMES = 8192  # transformed at once: memory stays bounded for recordings of an hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """Every choice from samples to a mel-cepstral distance."""

    name: str
    rate: int | None
    """Hz; None: the lower of the two rates."""
    resampler: Literal["soxr_hq", "fft"]
    accepts_upsampled: bool
    """Whether audio of a lower rate is measured: its upper bands hold nothing but the floor."""
    normalise_peak: bool
    """Divide by the largest absolute sample first."""
    window_ms: float
    hop_ms: float
    fft_ms: float
    window: Literal["hann_periodic", "hann_symmetric"]
    window_spans: Literal["frame", "fft"]
    """What the window is as long as. Over the FFT, a shorter frame gets only the window's beginning."""
    last_frame: bool
    """Whether a frame that ends with the last sample counts."""
    power: Literal[1, 2]
    """Exponent of the magnitude spectrum before the filters."""
    bands: int
    low_hz: float
    high_hz: float | None
    """None: half the rate, rounded down to whole Hz."""
    filters: Literal["continuous", "whole_bins"]
    """Triangles with corners at their frequencies, or with corners rounded down to bins of the FFT."""
    log: Literal["ln", "log10"]
    floor: float
    floor_by: Literal["max", "add"]
    """Band values below the floor become the floor, or the floor is added to all."""
    dct: Literal["two_over_bands", "plain"]
    """Scale of the cosine transform: 2 / bands, or 1."""
    first: int
    """The first coefficient; c0 is the mean level."""
    last: int
    align_on: Literal["cepstra", "log_mel"]
    ties: Literal["shortest", "first"]
    """Between paths of equal cost: the one of fewer steps, or the first of (a, b, both) that advances."""
    factor: float
    unit: Literal["dB", ""]

    def parts(self) -> dict[str, object]:
        """All fields, for a signature."""
        return asdict(self)


LITERATURE = Convention(
    name="literature",
    rate=16000,
    resampler="soxr_hq",
    accepts_upsampled=False,
    normalise_peak=False,
    window_ms=25,
    hop_ms=10,
    fft_ms=32,
    window="hann_periodic",
    window_spans="frame",
    last_frame=True,
    power=1,
    bands=40,
    low_hz=0,
    high_hz=8000,
    filters="continuous",
    log="ln",
    floor=1e-5,
    floor_by="max",
    dct="two_over_bands",
    first=1,
    last=13,
    align_on="cepstra",
    ties="shortest",
    factor=10 * math.sqrt(2) / math.log(10),
    unit="dB",
)
"""The distance of Kubichek (1993) in dB, on cepstra of a log mel spectrum.

With ln M(x) = c0 + sum_m c_m cos(m x) over the mel axis x, the root mean square difference of two such spectra is
20/ln 10 * sqrt(sum (dc_m)^2 / 2) = 10 sqrt(2)/ln 10 * sqrt(sum (dc_m)^2) dB: the factor is in decibel only for
magnitudes and for c_m = 2/bands * sum_n ln M_n cos(m (n - 1/2) pi/bands).
"""

_PACKAGE_FLOOR = float(np.finfo(np.float64).eps)

PACKAGE = Convention(
    name="package",
    rate=None,
    resampler="fft",
    accepts_upsampled=False,
    normalise_peak=True,
    window_ms=32,
    hop_ms=8,
    fft_ms=32,
    window="hann_symmetric",
    window_spans="fft",
    last_frame=False,
    power=2,
    bands=20,
    low_hz=0,
    high_hz=None,
    filters="whole_bins",
    log="log10",
    floor=_PACKAGE_FLOOR,
    floor_by="add",
    dct="plain",
    first=2,
    last=16,
    align_on="log_mel",
    ties="first",
    factor=1.0,
    unit="",
)
"""mel-cepstral-distance 0.0.4 at its defaults but with exact alignment (dtw_radius=None).

Its cepstra begin with c1, so that its s=1, D=16 are c2 to c16. Not taken over: it resamples files of single precision
in single precision, reads 8-bit files with an offset, and leaves a sample of -32768 out of the peak.
"""

GUIDE = replace(
    PACKAGE,
    name="guide",
    rate=16000,
    window_ms=25,
    hop_ms=10,
    first=1,
    last=13,
    align_on="cepstra",
)
"""The document's text: 13 coefficients, frames of 25 ms, plain Euclidean distance.

The same as mel-cepstral-distance 0.0.4 with sample_rate=16000, n_fft=32, win_len=25, hop_len=10, s=0, D=13,
align_target="mfcc", dtw_radius=None.
"""

CONVENTIONS = {convention.name: convention for convention in (LITERATURE, GUIDE, PACKAGE)}


def convention_named(name: str) -> Convention:
    """A convention by its name."""
    if name not in CONVENTIONS:
        remedy = near_misses(name, CONVENTIONS) or None
        raise UsageError(f"unknown convention {name!r}", expected=", ".join(CONVENTIONS), remedy=remedy)
    return CONVENTIONS[name]


class Cepstra(NamedTuple):
    """One row per frame."""

    log_mel: Matrix
    coefficients: Matrix
    """From the convention's first to its last."""


class _Tables(NamedTuple):
    window: Matrix
    filters: Matrix
    cosines: Matrix


def mel_cepstra(samples: NDArray[np.floating[Any]], rate: int, convention: Convention) -> Cepstra:
    """Log mel spectrum and mel cepstra of each frame; no rows if the signal is shorter than one frame.

    c_m = scale * sum_n L_n cos(m (n - 1/2) pi / bands) with the log band values L_n, n = 1 ... bands.
    """
    tables = _tables(convention, rate)
    durations = convention.window_ms, convention.hop_ms, convention.fft_ms
    length, hop, fft = (sample_count(milliseconds, rate) for milliseconds in durations)
    used = min(length, fft)
    starts = range(0, len(samples) - length + (1 if convention.last_frame else 0), hop)
    if not starts:
        return Cepstra(np.empty((0, convention.bands)), np.empty((0, len(tables.cosines))))
    if convention.normalise_peak:
        samples = samples / np.abs(samples).max()
    frames = sliding_window_view(samples, used)[: starts.stop : hop]
    blocks = [
        _log_mel(np.fft.rfft(frames[i : i + _FRAMES] * tables.window[:used], fft), tables.filters, convention)
        for i in range(0, len(starts), _FRAMES)
    ]
    log_mel = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    return Cepstra(log_mel, log_mel @ tables.cosines.T)


def sample_count(milliseconds: float, rate: int) -> int:
    """Whole samples in a duration."""
    return int(milliseconds / 1000 * rate)


def _log_mel(spectrum: NDArray[np.complex128], filters: Matrix, convention: Convention) -> Matrix:
    magnitude = np.abs(spectrum)
    energy = (magnitude if convention.power == 1 else magnitude**2) @ filters.T
    energy = energy + convention.floor if convention.floor_by == "add" else np.maximum(energy, convention.floor)
    logarithm: Matrix = np.log(energy) if convention.log == "ln" else np.log10(energy)
    return logarithm


@lru_cache(maxsize=32)
def _tables(convention: Convention, rate: int) -> _Tables:
    fft = sample_count(convention.fft_ms, rate)
    length = fft if convention.window_spans == "fft" else sample_count(convention.window_ms, rate)
    window = np.hanning(length) if convention.window == "hann_symmetric" else np.hanning(length + 1)[:-1]
    high = float(rate // 2) if convention.high_hz is None else convention.high_hz
    if not 0 <= convention.low_hz < high <= rate / 2:
        raise UsageError(
            f"the bands of convention {convention.name} do not fit the rate",
            found=f"{convention.low_hz:g} to {high:g} Hz at {rate} Hz",
            expected=f"at most {rate / 2:g} Hz",
        )
    bands = np.arange(1, convention.bands + 1)
    numbers = np.arange(convention.first, convention.last + 1)[:, None]
    cosines = np.cos(numbers * (bands - 0.5) * np.pi / convention.bands)
    if convention.dct == "two_over_bands":
        cosines = cosines * (2 / convention.bands)
    corners = _corners(convention.low_hz, high, convention.bands)
    build = _continuous_filters if convention.filters == "continuous" else _whole_bin_filters
    return _Tables(window, build(corners, rate, fft), cosines)


def _corners(low: float, high: float, bands: int) -> Matrix:
    """Frequencies at equal distances in mel = 2595 log10(1 + f/700): each band rises from one to the next and falls."""
    ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
    corners: Matrix = 700 * (10 ** (np.linspace(ends[0], ends[1], bands + 2) / 2595) - 1)
    return corners


def _continuous_filters(corners: Matrix, rate: int, fft: int) -> Matrix:
    """Triangles of height 1 over Hz, read off at the frequency of each bin."""
    bins = np.arange(fft // 2 + 1) * (rate / fft)
    left, centre, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    triangles: Matrix = np.maximum(0, np.minimum(rising, falling))
    return triangles


def _whole_bin_filters(corners: Matrix, rate: int, fft: int) -> Matrix:
    """Triangles of height 1 over bins, their corners rounded down: bin = floor((fft + 1) f / rate)."""
    at = np.floor((fft + 1) * corners / rate).astype(np.int64)
    filters = np.zeros((len(corners) - 2, fft // 2 + 1))
    for row, left, centre, right in zip(filters, at[:-2], at[1:-1], at[2:], strict=True):
        if centre > left:
            row[left:centre] = np.arange(centre - left) / (centre - left)
        if right > centre:
            row[centre:right] = np.arange(right - centre, 0, -1) / (right - centre)
    return filters
