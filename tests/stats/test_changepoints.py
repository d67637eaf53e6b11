"""Change points of synthetic series: found where they were put, rare where there is none."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from turnwise.stats.changepoints import change_points


def test_two_versions_are_a_z_test() -> None:
    # 0.05 apart with errors 0.02: z = 0.05 / (0.02 sqrt(2)) = 1.7678, p = 0.0771; at 0.06 z = 2.1213, p = 0.0339.
    assert change_points([0.80, 0.85], [0.02, 0.02]).points == ()
    (point,) = change_points([0.80, 0.86], [0.02, 0.02]).points
    expected = 2 * NormalDist().cdf(-0.06 / (0.02 * sqrt(2)))
    # 10,000 draws: an error of sqrt(0.034 * 0.966 / 10,000) = 0.0018.
    assert point.p == pytest.approx(expected, abs=4 * 0.0018)
    assert point.index == 1
    assert (point.before, point.after) == (pytest.approx(0.80), pytest.approx(0.86))
    assert point.change == pytest.approx(0.06)
    assert point.error == pytest.approx(0.02 * sqrt(2))


def test_a_drop_is_found_where_it_happened() -> None:
    values = [0.80, 0.81, 0.79, 0.80, 0.70, 0.71, 0.69]
    (point,) = change_points(values, [0.02] * 7).points
    assert point.index == 4
    # Equal errors, so plain means: 3.20 / 4 and 2.10 / 3; error 0.02 sqrt(1/4 + 1/3).
    assert point.before == pytest.approx(0.80)
    assert point.after == pytest.approx(0.70)
    assert point.error == pytest.approx(0.02 * sqrt(1 / 4 + 1 / 3))


def test_up_and_down_again_are_two() -> None:
    values = [0.5] * 4 + [0.9] * 3 + [0.5] * 4
    found = change_points(values, [0.05] * 11).points
    assert [point.index for point in found] == [4, 7]
    assert [point.change for point in found] == [pytest.approx(0.4), pytest.approx(-0.4)]


def test_a_precise_version_weighs_more() -> None:
    # Weights 1/0.01^2 = 10,000 and 1/0.02^2 = 2,500: (10,000 * 0.5 + 2,500 * 0.6) / 12,500 = 0.52.
    (point,) = change_points([0.5, 0.6, 0.9], [0.01, 0.02, 0.01], alpha=1e-3).points[-1:]
    both = change_points([0.55, 0.56, 0.9], [0.01, 0.02, 0.01])
    assert [p.index for p in both.points] == [2]
    assert both.points[0].before == pytest.approx((10_000 * 0.55 + 2_500 * 0.56) / 12_500)
    assert point.index == 2


def test_series_without_a_change_are_rarely_split() -> None:
    rng = np.random.default_rng(1)
    errors = [0.01, 0.03, 0.02, 0.05, 0.01, 0.02, 0.04]
    alarms = [
        bool(change_points((0.7 + rng.normal(scale=errors)).tolist(), errors, draws=400, seed=i).points)
        for i in range(400)
    ]
    # 5 % of 400 with a standard error of 1.1 points.
    assert 0.01 <= np.mean(alarms) <= 0.09


def test_scatter_beyond_the_errors_is_not_a_change() -> None:
    rng = np.random.default_rng(2)
    # Ten times as much scatter as the errors admit: without widening nearly every series would be split.
    alarms = [
        change_points(rng.normal(scale=0.1, size=20).tolist(), [0.01] * 20, draws=300, seed=i) for i in range(100)
    ]
    assert np.mean([bool(found.points) for found in alarms]) < 0.2
    assert np.median([found.scatter for found in alarms]) == pytest.approx(10, rel=0.2)
    # One step does not count as scatter: the median is that of the steps of 0.01, 0.01^2 / 0.0002 / 0.454936.
    stepped = change_points([0.5, 0.51, 0.5, 0.49, 0.5, 0.7, 0.71, 0.7, 0.69, 0.7], [0.01] * 10)
    assert [point.index for point in stepped.points] == [5]
    assert stepped.scatter == pytest.approx(sqrt(0.5 / 0.454936))


def test_versions_without_a_number_are_left_out_and_counted() -> None:
    found = change_points([0.8, None, 0.8, float("nan"), 0.5, 0.5], [0.02, 0.02, 0.02, 0.02, None, 0.02])
    assert found.left_out == (1, 3, 4)
    assert [point.index for point in found.points] == [5]


def test_a_version_without_variation_borrows_the_largest_error() -> None:
    # z = 0.05 / sqrt(0.02^2 + 0.02^2) = 1.77 as above, not infinite.
    assert change_points([1.0, 0.95], [0.0, 0.02]).points == ()


def test_nothing_to_test() -> None:
    assert change_points([], []).reason == "0 versions with a value and an error: at least 2 are needed"
    assert change_points([0.5], [0.1]).reason == "1 versions with a value and an error: at least 2 are needed"
    assert "all standard errors are 0" in (change_points([0.5, 0.6], [0.0, 0.0]).reason or "")
    assert change_points([0.5, 0.5, 0.5], [0.1, 0.1, 0.1]).points == ()


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="got 1 for 2"):
        change_points([1.0, 2.0], [0.1])
    with pytest.raises(ValueError, match=r"negative, got \[-0.1\]"):
        change_points([1.0, 2.0], [0.1, -0.1])


def test_the_same_seed_gives_the_same_answer() -> None:
    values, errors = [0.80, 0.82, 0.86], [0.02] * 3
    assert change_points(values, errors, seed=1) == change_points(values, errors, seed=1)
