"""Mel-cepstral distance of two recordings: how far their spectra are apart after exact alignment in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turnwise.audio.cepstra import LITERATURE, Cepstra, Convention, mel_cepstra
from turnwise.audio.dtw import warp
from turnwise.audio.wave import UnusableAudio, Wave, at_rate

NARROW = "audio of a lower rate than the convention's"
SHORT = "audio shorter than one window"


@dataclass(frozen=True, slots=True)
class Distance:
    """A mel-cepstral distance and what it was computed from."""

    value: float
    unit: str
    """`dB` where the convention yields decibel, else empty."""
    convention: str
    rate: int
    """Hz at which both were compared."""
    frames: tuple[int, int]
    path_length: int
    """Pairs of frames the mean was taken over."""
    alignment_penalty: float
    """2 - (frames of both) / path length: 0 where nothing was stretched, towards 1 where everything was."""
    steps: tuple[tuple[str, ...], tuple[str, ...]]
    """What was done to each recording: mixed down, resampled."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A recording at the rate of a convention, with its cepstra: computed once, compared with many."""

    wave: Wave
    cepstra: Cepstra
    convention: Convention


def mel_cepstral_distance(a: Wave, b: Wave, convention: Convention = LITERATURE) -> Distance:
    """Factor * mean over the path of sqrt(sum_m (c_m(a) - c_m(b))^2), by a convention.

    The path is the cheapest one by exact dynamic time warping. Waves at another rate than the convention's are
    resampled as it says; for `guide` and `package` read them at their own rate: `read_wave(path, rate=None)`.

    Raises:
        UnusableAudio: shorter than one window, or of a lower rate than the comparison needs.
    """
    rate = convention.rate or min(a.rate, b.rate)
    return compare(prepare(a, convention, rate), prepare(b, convention, rate))


def prepare(wave: Wave, convention: Convention = LITERATURE, rate: int | None = None) -> Prepared:
    """The cepstra of a recording; `rate` is for conventions that take the lower rate of a pair."""
    wanted = rate or convention.rate or wave.rate
    if wave.original_rate < wanted and not convention.accepts_upsampled:
        raise UnusableAudio(
            NARROW,
            where=wave.source,
            found=f"{wave.original_rate} Hz",
            expected=f"at least {wanted} Hz: above half its own rate the recording holds nothing to compare",
        )
    at = at_rate(wave, wanted, convention.resampler)
    cepstra = mel_cepstra(at.samples, wanted, convention)
    if not len(cepstra.coefficients):
        found, expected = f"{1000 * wave.seconds:.1f} ms", f"more than {convention.window_ms:g} ms"
        raise UnusableAudio(SHORT, where=wave.source, found=found, expected=expected)
    return Prepared(at, cepstra, convention)


def compare(a: Prepared, b: Prepared) -> Distance:
    """The distance of two prepared recordings."""
    convention = a.convention
    if b.convention != convention or a.wave.rate != b.wave.rate:
        raise ValueError("both recordings are to be prepared by the same convention at the same rate")
    shortest = convention.ties == "shortest"
    pair = a.cepstra.coefficients, b.cepstra.coefficients
    if convention.align_on == "cepstra":
        path = warp(*pair, shortest=shortest)
    else:
        path = warp(a.cepstra.log_mel, b.cepstra.log_mel, measure=pair, shortest=shortest)
    frames = len(pair[0]), len(pair[1])
    return Distance(
        value=convention.factor * path.mean,
        unit=convention.unit,
        convention=convention.name,
        rate=a.wave.rate,
        frames=frames,
        path_length=path.length,
        alignment_penalty=2 - sum(frames) / path.length,
        steps=(a.wave.steps, b.wave.steps),
    )


def mismatched_partners(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each of `count` recordings another one, each used once: what the distance of unrelated pairs is.

    A random cycle through all, so that nobody meets itself. One recording alone has no partner.
    """
    if count < 2:
        raise ValueError(f"{count} recordings make no mismatched pair")
    order = rng.permutation(count)
    partners = np.empty(count, dtype=np.int64)
    partners[order] = np.roll(order, 1)
    return partners
