"""Student t quantiles against scipy, which the package itself does not need."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from turnwise.stats.student import t_quantile

DF = np.concatenate([np.linspace(1.0, 5.0, 81), np.geomspace(5.0, 1e6, 60)])


@pytest.mark.parametrize("probability", [0.75, 0.9, 0.95, 0.975, 0.99, 0.995])
def test_agrees_with_scipy_for_fractional_df(probability: float) -> None:
    assert np.abs(t_quantile(probability, DF) - stats.t.ppf(probability, DF)).max() < 1e-6


@pytest.mark.parametrize("probability", [0.999, 0.9995])
def test_far_tails_agree_in_relation_to_their_size(probability: float) -> None:
    np.testing.assert_allclose(t_quantile(probability, DF), stats.t.ppf(probability, DF), rtol=1e-5)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    # P(T <= tan(pi (p - 1/2))) = p, so the 0.75 quantile is tan(pi / 4) = 1.
    assert t_quantile(0.75, 1.0) == pytest.approx(1.0, abs=1e-12)


def test_infinite_df_is_the_normal_distribution() -> None:
    assert t_quantile(0.975, np.inf) == pytest.approx(1.959963985, abs=1e-6)


def test_lower_tail_mirrors_the_upper_and_the_median_is_zero() -> None:
    np.testing.assert_array_equal(t_quantile(0.025, [2.5, 30.0]), -t_quantile(0.975, [2.5, 30.0]))
    assert t_quantile(0.5, 3.0) == 0.0


def test_keeps_the_shape_of_df() -> None:
    assert t_quantile(0.9, np.full((2, 3), 4.0)).shape == (2, 3)
    assert t_quantile(0.9, np.empty(0)).shape == (0,)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, float("nan")])
def test_refuses_what_is_no_probability(probability: float) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        t_quantile(probability, 3.0)


@pytest.mark.parametrize("df", [0.5, 0.0, float("nan")])
def test_refuses_less_than_one_degree_of_freedom(df: float) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        t_quantile(0.9, df)


def test_intervals_do_not_load_scipy() -> None:
    code = "import sys, turnwise.stats.intervals; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
