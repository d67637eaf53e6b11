"""Differences of percentiles: counts by hand, the median test, and what happens where nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from turnwise.stats.intervals import Interval, Resampler
from turnwise.stats.percentiles import percentile_difference
from turnwise.stats.woodruff import percentile_intervals


def alone(n: int) -> np.ndarray:
    """Every item its own cluster."""
    return np.arange(n)


def test_the_paired_test_counts_values_up_to_the_common_median() -> None:
    # A: 1 2 3 4 5, B: 11 12 13 4.5 15. The median of all ten is (4.5 + 5) / 2 = 4.75: up to it A has 1, 1, 1, 1, 0
    # and B 0, 0, 0, 1, 0. Differences -1, -1, -1, 0, 0: p = 2/8.
    a, b = np.array([1.0, 2, 3, 4, 5]), np.array([11.0, 12, 13, 4.5, 15])
    found = percentile_difference(a, alone(5), b, alone(5), 0.5, paired=True)
    assert (found.a, found.b, found.difference) == (3.0, 12.0, 9.0)
    assert found.test.p == 0.25
    assert found.paired


@pytest.mark.parametrize("seed", range(3))
def test_unpaired_items_give_fishers_test_of_the_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=7), rng.normal(loc=1.0, size=7)
    found = percentile_difference(a, alone(7), b, alone(7), 0.5, paired=False)
    limit = np.median(np.concatenate([a, b]))
    counts = [[int((side <= limit).sum()), int((side > limit).sum())] for side in (a, b)]
    assert found.test.p == pytest.approx(stats.fisher_exact(counts).pvalue)


def test_the_unpaired_interval_joins_two_woodruff_intervals() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.gamma(2.0, size=80), rng.gamma(3.0, size=90)
    found = percentile_difference(a, alone(80), b, alone(90), 0.9, paired=False, bounds=(0.0, None))
    one = percentile_intervals(a, alone(80), [0.9], Resampler(80), bounds=(0.0, None))[0]
    two = percentile_intervals(b, alone(90), [0.9], Resampler(90), bounds=(0.0, None))[0]
    at_a, at_b = np.quantile(a, 0.9), np.quantile(b, 0.9)
    assert one.high is not None
    assert two.low is not None
    assert found.difference == pytest.approx(at_b - at_a)
    low = at_b - at_a - np.hypot(at_b - two.low, one.high - at_a)
    assert found.interval.low == pytest.approx(low)
    assert found.error is not None
    assert found.df == 168.0


def test_pairs_that_go_together_have_a_narrower_interval() -> None:
    rng = np.random.default_rng(3)
    a = rng.gamma(2.0, size=200)
    b = a * 1.1 + 0.05 * rng.normal(size=200)
    together, apart = (
        percentile_difference(a, alone(200), b, alone(200), 0.5, paired=paired).interval for paired in (True, False)
    )
    assert together.low is not None
    assert together.high is not None
    assert apart.low is not None
    assert apart.high is not None
    assert together.high - together.low < 0.5 * (apart.high - apart.low)


def test_a_thing_compared_with_itself() -> None:
    a = np.random.default_rng(4).gamma(2.0, size=40)
    found = percentile_difference(a, alone(40) // 4, a.copy(), alone(40) // 4, 0.9, paired=True)
    assert (found.difference, found.test.p) == (0.0, 1.0)
    assert found.interval == Interval(0.0, 0.0, "A and B are the same in all of 10 clusters")


def test_one_cluster_and_none() -> None:
    one = percentile_difference(
        np.array([1.0, 2]), np.zeros(2, int), np.array([5.0, 6]), np.zeros(2, int), 0.5, paired=True
    )
    assert (one.difference, one.test.p, one.interval.low) == (4.0, None, None)
    assert one.test.method == "none: a single cluster"
    empty, none = np.zeros(0), np.zeros(0, int)
    missing = percentile_difference(empty, none, np.array([1.0]), np.zeros(1, int), 0.5, paired=False)
    assert (missing.a, missing.b, missing.difference) == (None, 1.0, None)
    assert missing.test.method == "none: no cluster"


def test_values_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(ValueError, match="same order"):
        percentile_difference(np.ones(2), np.array([0, 1]), np.ones(2), np.array([1, 0]), 0.5, paired=True)
    with pytest.raises(ValueError, match="B: needs finite values"):
        percentile_difference(np.ones(2), alone(2), np.array([1, np.nan]), alone(2), 0.5, paired=False)
