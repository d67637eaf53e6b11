"""The document's curves: points for how soon the old translation stops and how soon the new one begins."""

from __future__ import annotations

from collections.abc import Sequence

CUTOFF_WEIGHT, MIXING_WEIGHT, RESPONSE_WEIGHT = 0.60, 0.30, 0.10
_CUTOFF = ((0.0, 100.0), (500.0, 90.0), (1000.0, 70.0), (2000.0, 40.0), (5000.0, 10.0), (15000.0, 0.0))
_RESPONSE = ((1000.0, 100.0), (2000.0, 80.0), (3000.0, 60.0), (5000.0, 30.0), (35000.0, 0.0))
"""Corners as (milliseconds, points), straight lines between them."""
_BANDS = (
    (90.0, "Excellent barge-in handling"),
    (70.0, "Good barge-in handling"),
    (50.0, "Acceptable barge-in handling"),
    (30.0, "Poor barge-in handling"),
)
_WORST = "Very poor barge-in handling"


def cutoff_score(latency_ms: float, stretch: float = 1.0) -> float:
    """Points for the time that the old translation is still there after a barge-in.

    >>> cutoff_score(450), cutoff_score(900, stretch=2)
    (91.0, 91.0)
    """
    return _on_curve(_CUTOFF, max(0.0, latency_ms) / stretch)


def response_score(time_ms: float | None) -> float:
    """Points for the time to the first of the new translation; none at all gets none.

    >>> response_score(1200), response_score(None)
    (96.0, 0.0)
    """
    return 0.0 if time_ms is None else _on_curve(_RESPONSE, max(0.0, time_ms))


def total_score(cutoff: float, mixing: float, response: float) -> float:
    """The weighted sum, 0 to 100.

    >>> round(total_score(91.0, 100.0, 96.0), 6)
    94.2
    """
    return cutoff * CUTOFF_WEIGHT + mixing * MIXING_WEIGHT + response * RESPONSE_WEIGHT


def interpretation(score: float) -> str:
    """The document's sentence for a score."""
    return next((sentence for least, sentence in _BANDS if score >= least), _WORST)


def stretch_for(seconds: float | None, words: int | None) -> float:
    """How much the cutoff curve is stretched for a source of some length and speed, where that is asked for.

    >>> stretch_for(20, 50), stretch_for(1, None)
    (2.0, 0.5)
    """
    if seconds is None or seconds <= 0:
        return 1.0
    speed = 1.0 if words is None else _clamp(words / seconds / 2.5, 0.8, 1.25)
    return _clamp(seconds / 10.0, 0.5, 2.0) * speed


def _clamp(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def _on_curve(corners: Sequence[tuple[float, float]], at: float) -> float:
    """The height of the line through the corners; level before the first and after the last."""
    left, height = corners[0]
    if at <= left:
        return height
    for right, next_height in corners[1:]:
        if at <= right:
            return next_height + (right - at) / (right - left) * (height - next_height)
        left, height = right, next_height
    return height
