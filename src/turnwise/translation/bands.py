"""What the document calls excellent, good, fair and poor, with every border in one band (003-6)."""

from __future__ import annotations

from turnwise.kernel.bands import Band, Bands

EXCELLENT, GOOD, FAIR, POOR = "excellent", "good", "fair", "poor"
HIGH = frozenset({EXCELLENT, GOOD})
"""In the diagnostic patterns *high* is good or excellent, *low* is fair or poor."""


def _rising(fair: float, good: float, excellent: float) -> Bands:
    """Higher is better: the better band takes the border, excellent excepted."""
    return Bands((Band(POOR), Band(FAIR, f">={fair}"), Band(GOOD, f">={good}"), Band(EXCELLENT, f">{excellent}")))


BLEU = _rising(15, 30, 50)
CHRF = _rising(30, 50, 70)
COMET = _rising(0.3, 0.5, 0.7)
BLASER = _rising(2, 3, 4)
MCD = Bands((Band(POOR), Band(FAIR, "<=8"), Band(GOOD, "<=6"), Band(EXCELLENT, "<4.5")))
"""In dB, by the convention `literature` only."""
