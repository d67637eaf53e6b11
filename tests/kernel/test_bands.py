"""Bands: every border belongs to one band."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.kernel.bands import Band, Bands

BLEU = Bands((Band("poor"), Band("fair", ">=15"), Band("good", ">=30"), Band("excellent", ">50")))
LATENCY = Bands((Band("poor"), Band("fair", "<=2.5"), Band("good", "<1")))


@pytest.mark.parametrize(
    ("value", "band"),
    [(-1, "poor"), (14.99, "poor"), (15, "fair"), (29.99, "fair"), (30, "good"), (50, "good"), (50.01, "excellent")],
)
def test_higher_is_better(value: float, band: str) -> None:
    assert BLEU.of(value) == band


@pytest.mark.parametrize(
    ("value", "band"), [(0, "good"), (0.99, "good"), (1, "fair"), (2.5, "fair"), (2.51, "poor"), (99, "poor")]
)
def test_lower_is_better(value: float, band: str) -> None:
    assert LATENCY.of(value) == band


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_has_the_band_that_nested_ifs_give(value: float) -> None:
    if value > 50:
        expected = "excellent"
    elif value >= 30:
        expected = "good"
    elif value >= 15:
        expected = "fair"
    else:
        expected = "poor"
    assert BLEU.of(value) == expected


@given(st.floats(-100, 200), st.floats(-100, 200))
def test_a_better_value_is_never_in_a_worse_band(one: float, other: float) -> None:
    order = [band.name for band in BLEU.bands]
    low, high = sorted((one, other))
    assert order.index(BLEU.of(low)) <= order.index(BLEU.of(high))


@pytest.mark.parametrize("condition", [">=15", ">= 15", ">= 1.5e1"])
def test_a_condition_may_be_written_with_a_space_or_an_exponent(condition: str) -> None:
    band = Band("fair", condition)
    assert band.admits(15.0)
    assert not band.admits(14.9)


def test_a_negative_border() -> None:
    assert Band("early", "<-0.5").admits(-0.6)
    assert not Band("early", "<-0.5").admits(-0.5)


def test_one_band_is_enough() -> None:
    assert Bands((Band("any"),)).of(3.0) == "any"


def test_there_must_be_a_band_that_takes_what_no_other_takes() -> None:
    with pytest.raises(ValueError, match="first band is the worst"):
        Bands(())
    with pytest.raises(ValueError, match="first band is the worst"):
        Bands((Band("good", ">=30"),))
    with pytest.raises(ValueError, match="only the first band"):
        Bands((Band("poor"), Band("also poor")))


@pytest.mark.parametrize("condition", ["15", "=>15", "==15", "> fifteen"])
def test_a_condition_that_is_none_is_refused_when_it_is_declared(condition: str) -> None:
    """Not when the first value arrives: by then a run has been measured."""
    with pytest.raises(ValueError):
        Band("fair", condition)
