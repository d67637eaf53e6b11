"""Detectable effects against textbook formulas and scipy's t; components of variance against arithmetic in sight."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from turnwise.stats.power import (
    Components,
    Needed,
    difference_components,
    minimum_detectable_effect,
    needed,
    variance_components,
)


def reach(clusters: int, error: float, df: float, at: int, power: float = 0.8) -> float:
    """The effect that this many clusters detect, with scipy's t."""
    nu = max(1.0, df * at / clusters)
    return float((stats.t.ppf(0.975, nu) + stats.t.ppf(power, nu)) * error * sqrt(clusters / at))


@pytest.mark.parametrize("df", [1.0, 9.0, 37.5, 1e6])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
def test_detectable_effect(df: float, power: float) -> None:
    expected = (stats.t.ppf(0.975, df) + stats.t.ppf(power, df)) * 0.03
    assert minimum_detectable_effect(0.03, df, power=power) == pytest.approx(expected, rel=1e-5)


def test_the_rule_of_thumb() -> None:
    # 1.96 + 0.84 = 2.80 standard errors.
    assert minimum_detectable_effect(1.0, 1e7) == pytest.approx(2.80, abs=0.002)


def test_the_effect_is_detected_as_often_as_promised() -> None:
    # Noncentral t, 20 pairs with a spread of 1: power of the t test at the MDE is 0.80 within a point.
    error = 1 / sqrt(20)
    effect = minimum_detectable_effect(error, 19.0)
    assert effect is not None
    limit = stats.t.ppf(0.975, 19)
    power = stats.nct.sf(limit, 19, effect / error) + stats.nct.cdf(-limit, 19, effect / error)
    assert power == pytest.approx(0.8, abs=0.01)


def test_no_error_no_effect() -> None:
    assert minimum_detectable_effect(None, None) is None
    assert minimum_detectable_effect(0.0, 5.0) is None


@pytest.mark.parametrize(("power", "alpha"), [(0.0, 0.05), (1.0, 0.05), (0.8, 0.0), (0.8, 1.5)])
def test_impossible_levels_are_refused(power: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=f"{power} and {alpha}"):
        minimum_detectable_effect(0.1, 5.0, power=power, alpha=alpha)


@settings(max_examples=40, deadline=None)
@given(
    difference=st.floats(0.01, 0.5),
    error=st.floats(0.005, 0.1),
    clusters=st.integers(2, 300),
)
def test_needed_is_the_first_number_that_is_enough(difference: float, error: float, clusters: int) -> None:
    df = float(clusters - 1)
    found = needed(-difference, error, df, clusters, 7 * clusters)
    assert found.clusters is not None
    assert reach(clusters, error, df, found.clusters) <= difference * (1 + 1e-4)
    if found.clusters > 2:
        assert reach(clusters, error, df, found.clusters - 1) >= difference * (1 - 1e-4)
    assert found.more_clusters == max(0, found.clusters - clusters)
    assert found.more_items == 7 * found.more_clusters


def test_eight_points_need_about_a_hundred_sessions_each() -> None:
    # Spread 0.20 a side: n = 2 (1.96 + 0.84)^2 (0.20 / 0.08)^2 = 98 a side, 196 in all with large samples.
    error = 0.20 * sqrt(1 / 45 + 1 / 38)
    found = needed(0.08, error, 81.0, 83, 83)
    assert found.clusters == pytest.approx(198, abs=3)
    assert found.more_items == found.more_clusters


def test_nothing_to_show() -> None:
    assert needed(0.0, 0.1, 9.0, 10, 50).reason == "no difference was seen, so no number of items would show it"
    assert needed(None, None, None, 10, 50).reason == "no difference with a standard error"
    assert needed(0.1, None, None, 1, 5).clusters is None
    assert needed(0.1, 0.0, 9.0, 10, 50) == Needed(10, 0, 0)
    assert "as good as none" in (needed(1e-9, 0.1, 9.0, 10, 50).reason or "")


# --- repeats ------------------------------------------------------------------------------------------------


def test_components_by_hand() -> None:
    # Items 1: 1, 3; 2: 5, 7; 3: 3, 5. Means 2, 6, 4 (mean 4). SSW = 2 + 2 + 2 = 6 with 3 df, within = 2.
    # SSB = 2 (4 + 4 + 0) = 16 with 2 df: 8. between = (8 - 2) / 2 = 3.
    found = variance_components(np.array([1.0, 3, 5, 7, 3, 5]), np.array([1, 1, 2, 2, 3, 3]))
    assert found == Components(3, 2.0, 3.0, 2.0)
    # The mean of 3 items with 2 repeats: 3/3 + 2/6 = 4/3, of which 1/3 is noise of the repeats.
    assert found.error(3, 2) == pytest.approx(sqrt(4 / 3))
    assert found.share_of_repeats == pytest.approx(0.25)
    # Endless repeats leave 3/3; twice the items halve everything.
    assert found.error(3, 1e12) == pytest.approx(1.0)
    assert found.error(6, 2) == pytest.approx(sqrt(2 / 3))


def test_components_agree_with_scipys_analysis_of_variance() -> None:
    rng = np.random.default_rng(1)
    groups = [rng.normal(loc=rng.normal(), size=int(n)) for n in rng.integers(2, 6, size=12)]
    items = np.repeat(np.arange(12), [len(g) for g in groups])
    found = variance_components(np.concatenate(groups), items)
    assert found.within is not None
    assert found.between is not None
    n = np.array([len(g) for g in groups])
    n0 = (n.sum() - (n**2).sum() / n.sum()) / 11
    f = (found.within + n0 * found.between) / found.within
    assert f == pytest.approx(stats.f_oneway(*groups).statistic)


def test_components_find_what_was_put_in() -> None:
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(4000), 3)
    values = rng.normal(scale=2.0, size=4000)[items] + rng.normal(size=12_000)
    found = variance_components(values, items)
    # Variances 4 and 1; their errors are 4 sqrt(2 / 4000) = 0.09 (and a little) and sqrt(2 / 8000) = 0.016.
    assert found.between == pytest.approx(4.0, abs=0.4)
    assert found.within == pytest.approx(1.0, abs=0.07)


def test_items_no_more_different_than_repeats_have_no_variance_between() -> None:
    found = variance_components(np.array([0.0, 2, 0, 2]), np.array([1, 1, 2, 2]))
    assert (found.between, found.within) == (0.0, 2.0)


def test_components_that_cannot_be_told_apart() -> None:
    assert variance_components(np.array([1.0, 2]), np.array([1, 2])).reason == "no item was repeated"
    assert variance_components(np.array([1.0, 2]), np.array([1, 1])).reason == "1 items: at least 2 are needed"
    assert variance_components(np.zeros(0), np.zeros(0, int)).between is None
    assert variance_components(np.array([1.0, 2]), np.array([1, 2])).error(5, 1) is None
    assert variance_components(np.ones(4), np.array([1, 1, 2, 2])).share_of_repeats is None
    with pytest.raises(ValueError, match="2 values, 1 items"):
        variance_components(np.ones(2), np.ones(1, int))
    with pytest.raises(ValueError, match="got 0 and 1"):
        Components(1, 1.0, 1.0, 1.0).error(0, 1)


def test_differences_by_hand() -> None:
    # A: item 1: 0, 2; item 2: 4, 6; item 3: 2, 4, within 2. B: 5, 5; 4, 6; 6, 8, within (0 + 2 + 2) / 3 = 4/3.
    # Differences 5 - 1 = 4, 5 - 5 = 0, 7 - 3 = 4: variance 16/3. Noise 2/2 + 4/3/2 = 5/3. between = 16/3 - 5/3 = 11/3.
    items = np.array([1, 1, 2, 2, 3, 3])
    found = difference_components(np.array([0.0, 2, 4, 6, 2, 4]), items, np.array([5.0, 5, 4, 6, 6, 8]), items)
    assert found.between == pytest.approx(11 / 3)
    assert found.within == pytest.approx(2 + 4 / 3)
    assert (found.items, found.repeats) == (3, pytest.approx(2.0))
    # The error of the mean difference is the one seen: sqrt(16/3 / 3).
    assert found.error(3, 2) == pytest.approx(sqrt(16 / 9))


def test_differences_use_shared_items_and_say_what_is_missing() -> None:
    a, b = np.array([0.0, 2, 4, 6, 9]), np.array([5.0, 5, 4, 6])
    found = difference_components(a, np.array([1, 1, 2, 2, 7]), b, np.array([1, 1, 2, 2]))
    assert found.items == 2
    lone = difference_components(a, np.array([1, 1, 2, 2, 7]), np.array([5.0, 4]), np.array([1, 2]))
    assert lone.reason == "B: no item was repeated"
    assert lone.between is None
