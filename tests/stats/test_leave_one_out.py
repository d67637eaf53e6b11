"""Error, degrees of freedom and shares: matrix formulas written out a second time, and by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.leave_one_out import size_df, size_shares, spread

FloatArray = npt.NDArray[np.float64]
UNIT = (0.0, 1.0)
OPEN = (None, None)


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def test_matches_the_matrix_form_of_cr2_and_its_degrees_of_freedom() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(1, 21, size=12).astype(np.float64)
    y = rng.normal(size=12)
    found = spread(np.stack([y * n, n], axis=1)[:, None], np.ones((12, 1), dtype=np.bool_), ratio, OPEN)
    # A second way to the same numbers: the mean is h'y; residuals (I - 1h')y, each divided by sqrt(1 - h_k).
    h = n / n.sum()
    residual = np.eye(12) - np.outer(np.ones(12), h)
    root = np.diag(h / np.sqrt(1 - h)) @ residual
    assert found.error[0] ** 2 == pytest.approx(np.sum((root @ y) ** 2), rel=1e-12)
    q = root @ np.diag(0.5 + 0.5 / (12 * h)) @ root.T
    expected = np.trace(q) ** 2 / np.trace(q @ q)
    assert size_df(h[:, None], np.ones((12, 1), dtype=np.bool_))[0] == pytest.approx(expected, rel=1e-10)
    assert found.df[0] <= expected + 1e-9


@given(st.integers(2, 200))
def test_equal_shares_have_one_degree_of_freedom_less_than_clusters(clusters: int) -> None:
    share = np.full((clusters, 1), 1 / clusters)
    assert size_df(share, np.ones((clusters, 1), dtype=np.bool_))[0] == pytest.approx(clusters - 1)


def test_a_plain_sum_has_the_variance_of_a_sum() -> None:
    # Totals 1, 2, 6: mean 3, sum of squared deviations 14, variance of the sum 3 / 2 * 14 = 21.
    totals = np.array([1.0, 2.0, 6.0])[:, None, None]
    found = spread(totals, np.ones((3, 1), dtype=np.bool_), lambda s: s[..., 0], OPEN)
    assert found.error[0] ** 2 == pytest.approx(21.0)


def test_a_value_of_many_statistics_gets_the_jackknife() -> None:
    rng = np.random.default_rng(4)
    totals = np.full((15, 5), 10.0)
    totals[:, :4] = rng.integers(1, 9, size=(15, 4))

    def geometric(s: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.log(s[..., :4] / s[..., 4:]).mean(axis=-1)), dtype=np.float64)

    found = spread(totals[:, None], np.ones((15, 1), dtype=np.bool_), geometric, UNIT)
    whole = geometric(totals.sum(axis=0))
    without = np.array([geometric(np.delete(totals, k, axis=0).sum(axis=0)) for k in range(15)])
    assert found.error[0] ** 2 == pytest.approx(14 / 15 * np.sum((without - whole) ** 2), rel=1e-10)


def test_shares_come_from_the_most_even_statistic_of_many() -> None:
    totals = np.array([[[-1.0, 5.0, 1.0]], [[3.0, 1.0, 1.0]]])
    present = np.ones((2, 1), dtype=np.bool_)
    np.testing.assert_allclose(size_shares(totals, present), [[0.5], [0.5]])
    np.testing.assert_allclose(size_shares(totals[..., :2], present), [[5 / 6], [1 / 6]])
