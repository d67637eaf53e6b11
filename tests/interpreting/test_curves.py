"""The two curves at their corners and between them, with the document's own arithmetic beside every value."""

from __future__ import annotations

import pytest

from turnwise.interpreting.curves import (
    cutoff_score,
    interpretation,
    response_score,
    stretch_for,
    total_score,
)


@pytest.mark.parametrize(
    ("latency", "score"),
    [
        (0, 100.0),
        (250, 90.0 + (500 - 250) / 500 * 10),
        (450, 90.0 + (500 - 450) / 500 * 10),
        (500, 90.0 + (500 - 500) / 500 * 10),
        (750, 70.0 + (1000 - 750) / 500 * 20),
        (1000, 70.0 + (1000 - 1000) / 500 * 20),
        (1500, 40.0 + (2000 - 1500) / 1000 * 30),
        (2000, 40.0 + (2000 - 2000) / 1000 * 30),
        (2500, 10.0 + (5000 - 2500) / 3000 * 30),
        (5000, 10.0 + (5000 - 5000) / 3000 * 30),
        (7000, 10.0 - (7000 - 5000) / 1000),
        (15000, 10.0 - (15000 - 5000) / 1000),
        (60000, 0.0),
        (-300, 100.0),  # 000-8: a negative cutoff is none
    ],
)
def test_points_for_stopping(latency: float, score: float) -> None:
    assert cutoff_score(latency) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("time", "score"),
    [
        (None, 0.0),
        (0, 100.0),
        (1000, 100.0),
        (1200, 80.0 + (2000 - 1200) / 1000 * 20),
        (2000, 80.0 + (2000 - 2000) / 1000 * 20),
        (2500, 60.0 + (3000 - 2500) / 1000 * 20),
        (3000, 60.0 + (3000 - 3000) / 1000 * 20),
        (4000, 30.0 + (5000 - 4000) / 2000 * 30),
        (5000, 30.0 + (5000 - 5000) / 2000 * 30),
        (11000, 30.0 - (11000 - 5000) / 1000),
        (35000, 30.0 - (35000 - 5000) / 1000),
        (90000, 0.0),
    ],
)
def test_points_for_answering(time: float | None, score: float) -> None:
    assert response_score(time) == pytest.approx(score, abs=1e-12)


def test_the_documents_example() -> None:
    """450 ms, no mixing, 1200 ms: 0.6 x 91 + 0.3 x 100 + 0.1 x 96 = 54.6 + 30 + 9.6 = 94.2."""
    assert total_score(cutoff_score(450), 100.0, response_score(1200)) == pytest.approx(94.2, abs=1e-9)


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (100, "Excellent"),
        (90, "Excellent"),
        (89.99, "Good"),
        (70, "Good"),
        (69.99, "Acceptable"),
        (50, "Acceptable"),
        (49.99, "Poor"),
        (30, "Poor"),
        (29.99, "Very poor"),
        (0, "Very poor"),
    ],
)
def test_the_five_sentences(score: float, word: str) -> None:
    assert interpretation(score) == f"{word} barge-in handling"


@pytest.mark.parametrize(
    ("seconds", "words", "stretch"),
    [
        (10, 25, 1.0 * 1.0),  # 25 / 10 / 2.5 = 1
        (2, 5, 0.5 * 1.0),  # 0.2 is clamped at 0.5
        (60, 150, 2.0 * 1.0),  # 6 is clamped at 2
        (10, 10, 1.0 * 0.8),  # 1 word a second: 0.4 is clamped at 0.8
        (10, 60, 1.0 * 1.25),  # 6 words a second: 2.4 is clamped at 1.25
        (15, 45, 1.5 * 1.2),  # 3 / 2.5
        (15, None, 1.5),
        (None, 20, 1.0),
        (0, 20, 1.0),
    ],
)
def test_the_stretch_of_the_adaptive_curve(seconds: float | None, words: int | None, stretch: float) -> None:
    assert stretch_for(seconds, words) == pytest.approx(stretch)


def test_a_stretched_curve_forgives_that_much_more() -> None:
    assert cutoff_score(900, stretch=2.0) == pytest.approx(cutoff_score(450))
    assert cutoff_score(450, stretch=0.5) == pytest.approx(cutoff_score(900))
