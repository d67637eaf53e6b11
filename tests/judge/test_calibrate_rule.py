"""The rule by which a judge may stand in for a person, case by case, as docs/judge_calibration.md states it."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.judge.stand_in import Grounds, may_stand_in
from turnwise.stats.counted import Statistic, missing
from turnwise.stats.intervals import Interval


def near(value: float, low: float) -> Statistic:
    return Statistic(value, Interval(low, min(1.0, 2 * value - low), "cluster bootstrap, 1000 resamples"))


def answer(kappa: Statistic | None = None, **changes: Any) -> tuple[str, str]:
    given: dict[str, Any] = {
        "dimension": "clarity",
        "n": 120,
        "unscored": 0,
        "name": "weighted kappa",
        "bias": near(0.1, 0.0),
    }
    return may_stand_in(Grounds(**{**given, "kappa": kappa or near(0.75, 0.66), **changes}))


def test_yes() -> None:
    said, sentence = answer()
    assert said == "yes"
    assert sentence == (
        "Yes, this judge may stand in for a person on clarity: weighted kappa 0.75 [0.66, 0.84] (n = 120), bias +0.10."
    )


@pytest.mark.parametrize(("n", "said"), [(12, "not yet"), (49, "not yet"), (50, "yes")])
def test_too_few(n: int, said: str) -> None:
    found, sentence = answer(n=n)
    assert found == said
    assert (f"n = {n} is too few, 50 are needed" in sentence) == (said == "not yet")


def test_too_few_and_bad() -> None:
    said, sentence = answer(near(0.2, 0.0), n=12)
    assert said == "not yet"
    assert "weighted kappa 0.20 [0.00, 0.40] is below 0.6" in sentence


@pytest.mark.parametrize(
    ("low", "value", "said"), [(0.6, 0.7, "yes"), (0.59, 0.7, "not yet"), (0.5, 0.6, "not yet"), (0.5, 0.59, "no")]
)
def test_kappa(low: float, value: float, said: str) -> None:
    assert answer(near(value, low))[0] == said


@pytest.mark.parametrize(
    ("bias", "step", "said"), [(0.25, 1, "yes"), (0.26, 1, "no"), (-0.26, 1, "no"), (2.4, 10, "yes")]
)
def test_bias(bias: float, step: float, said: str) -> None:
    found, sentence = answer(bias=near(bias, bias - 0.1), step=step)
    assert found == said
    if said == "no":
        word = "above" if bias > 0 else "below"
        assert f"the judge scores 0.26 {word} people on average, more than 0.25" in sentence


@pytest.mark.parametrize(("unscored", "said"), [(13, "yes"), (14, "no")])
def test_failures(unscored: int, said: str) -> None:
    # 13 of 133 is 9.8 %, 14 of 134 is 10.4 %.
    found, sentence = answer(unscored=unscored)
    assert found == said
    assert ("no score to 14 of 134 items, more than 10%" in sentence) == (said == "no")


def test_as_good_as_people() -> None:
    """Where people agree at 0.5 with each other, a judge that agrees at 0.52 with each of them is one of them."""
    people = {"people": near(0.5, 0.4), "as_one": near(0.52, 0.4)}
    said, sentence = answer(near(0.55, 0.45), **people)
    assert said == "yes"
    assert "it agrees with single people as well as they do with each other" in sentence
    assert answer(near(0.55, 0.45))[0] == "no"
    assert answer(near(0.55, 0.39), **people)[0] == "not yet"
    assert answer(near(0.39, 0.3), **people)[0] == "no"
    assert answer(near(0.55, 0.45), people=near(0.5, 0.4), as_one=near(0.48, 0.4))[0] == "no"
    assert answer(near(0.55, 0.45), people=missing("?"), as_one=near(0.48, 0.4))[0] == "no"


def test_no_number_is_no_answer() -> None:
    said, sentence = answer(missing("all ratings are the same"))
    assert (said, "undefined (all ratings are the same)" in sentence) == ("not yet", True)
    alone = Statistic(0.8, Interval(None, None, "none: a single cluster"))
    said, sentence = answer(alone)
    assert (said, "0.80 has no interval (a single cluster)" in sentence) == ("not yet", True)


def test_labels_have_no_bias() -> None:
    assert answer(name="kappa", bias=None) == (
        "yes",
        "Yes, this judge may stand in for a person on clarity: kappa 0.75 [0.66, 0.84] (n = 120).",
    )
