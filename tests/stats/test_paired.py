"""Paired comparisons: arithmetic in sight, scipy's permutation_test, bootstrap and binomtest."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from turnwise.stats.intervals import Interval
from turnwise.stats.paired import holm, mcnemar_test, paired_difference, paired_test, wins_ties_losses

FloatArray = npt.NDArray[np.float64]


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def single(s: FloatArray) -> FloatArray:
    return s[..., 0]


def means(values: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> FloatArray:
    """Totals (sum, n) of clusters that hold one item each, or as many as given."""
    sums = np.asarray(values, dtype=np.float64)
    n = np.ones_like(sums) if sizes is None else np.asarray(sizes, dtype=np.float64)
    return np.column_stack([sums, n])


def mean_gap(x: FloatArray, y: FloatArray, axis: int) -> FloatArray:
    return np.asarray(np.mean(y, axis=axis) - np.mean(x, axis=axis))


def p_of(a: FloatArray, b: FloatArray, draws: int = 10_000, seed: int = 1) -> float:
    p = paired_test(a, b, ratio, draws=draws, seed=seed).p
    assert p is not None
    return p


# --- p-values -----------------------------------------------------------------------------------------------


def test_three_clusters_by_hand() -> None:
    # Differences 1, 2, 3: of the 8 patterns of signs only +++ and --- reach 6, so p = 2/8.
    found = paired_test(means([0, 0, 0]), means([1, 2, 3]), ratio)
    assert found.p == 0.25
    assert found.smallest == 0.25
    assert found.method == "sign flips by cluster, all 8 patterns"
    # Differences 3, 1, -1: sums 3 (twice: +++ turned is +3 +1 -1 = 3 and 3 -1 +1 = 3), 5, 1 and their negatives.
    # At least 3: 3, 3, 5 of four, so p = 3/4.
    assert paired_test(means([0, 0, 0]), means([3, 1, -1]), ratio).p == 0.75


def test_whole_clusters_are_exchanged_with_their_denominators() -> None:
    # A: 1/2 and 4/8, B: 2/2 and 6/8, so A = 5/10, B = 8/10, difference 0.3. Exchanging cluster 1 gives A = 6/10,
    # B = 7/10, difference 0.1; the other two patterns are these negated: p = 2/4.
    a, b = np.array([[1.0, 2.0], [4.0, 8.0]]), np.array([[2.0, 2.0], [6.0, 8.0]])
    found = paired_difference(a, b, ratio)
    assert (found.a, found.b) == (0.5, 0.8)
    assert found.difference == pytest.approx(0.3)
    assert found.test.p == 0.5


def test_unequal_denominators_are_evened_before_they_are_exchanged() -> None:
    # A: 1/2 and 1/2, B: 6/8 and 2/8, both 0.5 in sum: a difference of 0, and every pattern is at least as large.
    a, b = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[6.0, 8.0], [2.0, 8.0]])
    assert paired_test(a, b, ratio).p == 1.0
    # Doubling all of B's counts changes neither of the two ratios, and so must not change p.
    rng = np.random.default_rng(1)
    n = rng.integers(1, 9, size=(9, 2)).astype(float)
    x, y = (np.column_stack([rng.integers(0, 9, size=9), n[:, i]]).astype(float) for i in range(2))
    assert paired_test(x, y, ratio).p == paired_test(x, 2 * y, ratio).p


@pytest.mark.parametrize("seed", range(5))
def test_all_patterns_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=9), rng.normal(loc=0.5, size=9)
    if seed > 2:  # with ties
        x, y = x.round(), y.round()
    theirs = stats.permutation_test((x, y), mean_gap, permutation_type="samples", n_resamples=np.inf, vectorized=True)
    assert p_of(means(x), means(y)) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_draws_agree_with_scipy_within_monte_carlo_error() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=150)
    y = x + rng.normal(loc=0.05, size=150)
    theirs = stats.permutation_test(
        (x, y), mean_gap, permutation_type="samples", n_resamples=9999, vectorized=True, rng=1
    )
    mine = p_of(means(x), means(y))
    # Ours counts both sides, with the variance p (1 - p) / n; scipy's doubles one side, with 4 (p/2) (1 - p/2) / n.
    assert abs(mine - theirs.pvalue) < 4 * sqrt((mine * (1 - mine) + 2 * mine * (1 - mine / 2)) / 10_000)
    assert 0.01 < mine < 0.2


def test_one_is_added_so_that_p_is_never_zero() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    found = paired_test(means(x), means(x + 5 + 0.1 * rng.normal(size=40)), ratio, draws=999)
    assert found.p == 1 / 1000
    assert found.smallest == 1 / 1000
    assert found.method == "sign flips by cluster, 999 draws"


def test_clusters_that_are_the_same_change_nothing() -> None:
    few = p_of(means([1, 1, 1, 1]), means([2, 3, 2, 4]))
    many = p_of(means([1] * 1000), means([2, 3, 2, 4] + [1] * 996))
    assert few == many == 0.125


@pytest.mark.parametrize(("wins", "losses"), [(0, 1), (3, 3), (7, 2), (0, 9), (40, 21), (700, 611), (2000, 0)])
def test_mcnemar_is_the_binomial_test(wins: int, losses: int) -> None:
    b = np.array([1.0] * wins + [0.0] * losses + [1.0] * 5 + [0.0] * 4)
    a = np.array([0.0] * wins + [1.0] * losses + [1.0] * 5 + [0.0] * 4)
    found = mcnemar_test(a, b)
    assert found.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)
    assert found.method == f"McNemar, exact, {wins + losses} of {len(a)} items differ"


def test_mcnemar_is_the_sign_flip_test_with_all_patterns() -> None:
    a, b = means([0, 0, 0, 0, 1, 1, 1]), means([1, 1, 1, 1, 0, 1, 1])
    alone = paired_test(a, b, ratio, sizes=np.ones(7))
    assert alone.method == "McNemar, exact, 5 of 7 items differ"
    # 2 (C(5,0) + C(5,1)) / 32 = 12/32.
    assert alone.p == pytest.approx(0.375)
    assert p_of(a, b) == 0.375


def test_mcnemar_only_for_single_binary_items() -> None:
    a, b = means([0, 0, 1, 0]), means([1, 1, 1, 1])
    assert "McNemar" in paired_test(a, b, ratio, sizes=np.ones(4)).method
    assert "flips" in paired_test(a, b, ratio, sizes=np.array([1.0, 1, 1, 2])).method
    assert "flips" in paired_test(a, means([1, 1, 1, 0.5]), ratio, sizes=np.ones(4)).method
    assert "flips" in paired_test(a, b, lambda s: s[..., 0] ** 2, sizes=np.ones(4)).method
    with pytest.raises(ValueError, match="values 0 or 1"):
        mcnemar_test(np.array([0.5]), np.array([1.0]))


def test_a_plain_sum_is_compared_too() -> None:
    found = paired_difference(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [4.0], [6.0]]), single)
    assert (found.a, found.b, found.difference, found.test.p) == (6.0, 12.0, 6.0, 0.25)
    # Differences 1, 2, 3 of K = 3: variance of the sum K s^2 = 3, t(2 df) = 4.302653, half-width 7.452413.
    assert found.interval.low == pytest.approx(6 - 7.452413, abs=1e-5)


def test_undefined_draws_count_against_the_difference() -> None:
    # Exchanging one cluster leaves a side without anything to divide by: 2 of the 4 patterns.
    a, b = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [3.0, 1.0]])
    found = paired_test(a, b, lambda s: np.where(s[..., 1] > 0, s[..., 0] / s[..., 1], np.nan))
    assert found.p == 1.0


# --- intervals ----------------------------------------------------------------------------------------------


def test_single_items_give_the_paired_t_interval() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    found = paired_difference(means(x), means(y), ratio, sizes=np.ones(12))
    theirs = stats.ttest_rel(y, x)
    assert found.error == pytest.approx(abs((y - x).mean() / theirs.statistic), rel=1e-9)
    assert found.df is not None
    assert 1 <= found.df <= 11
    # The degrees of freedom are the smaller of K - 1 and those of the scatter, so the interval is no narrower.
    ci = theirs.confidence_interval()
    t = stats.t.ppf(0.975, found.df)
    assert found.interval.low == pytest.approx((y - x).mean() - t * found.error, abs=1e-6)
    assert found.interval.low <= ci.low + 1e-9
    assert found.interval.method == "cluster t, 12 clusters"


def test_many_clusters_are_resampled_as_scipy_does() -> None:
    rng = np.random.default_rng(9)
    x = rng.gamma(2.0, size=400)
    y = x + rng.gamma(1.0, size=400) - 0.9
    found = paired_difference(means(x), means(y), ratio, sizes=np.ones(400))
    theirs = stats.bootstrap((y - x,), np.mean, n_resamples=9999, method="BCa", rng=1).confidence_interval
    half = (theirs.high - theirs.low) / 2
    # 1,000 resamples leave an error of some 4 % of the half-width in each limit.
    assert found.interval.low == pytest.approx(theirs.low, abs=0.2 * half)
    assert found.interval.high == pytest.approx(theirs.high, abs=0.2 * half)


def test_the_interval_stays_within_what_two_rates_can_differ() -> None:
    # All wrong against all right in 3 clusters: 1 - 0.025^(1/3) = 0.707598 of clusters may differ, each by up to 2.
    found = paired_difference(means([0, 0, 0], [4, 5, 6]), means([4, 5, 6], [4, 5, 6]), ratio, bounds=(0.0, 1.0))
    assert found.difference == 1.0
    assert found.interval.low == pytest.approx(1 - 0.707598 * 2, abs=1e-6)
    assert found.interval.high == 1.0


# --- nothing to compare -------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [1, 2, 10, 60])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (None, None)])
def test_a_thing_compared_with_itself(clusters: int, bounds: tuple[float | None, float | None]) -> None:
    rng = np.random.default_rng(clusters)
    a = means(rng.integers(0, 5, size=clusters), np.full(clusters, 5))
    found = paired_difference(a, a.copy(), ratio, bounds=bounds)
    assert (found.difference, found.test.p) == (0.0, 1.0)
    same = f"A and B are the same in all of {clusters} clusters"
    assert found.interval == Interval(0.0, 0.0, same)
    assert found.test.method == same


def test_one_cluster_has_a_difference_and_no_p() -> None:
    found = paired_difference(means([1], [4]), means([3], [4]), ratio)
    assert (found.a, found.b, found.difference) == (0.25, 0.75, 0.5)
    assert found.test.p is None
    assert found.test.method == "none: a single cluster"
    assert found.interval == Interval(None, None, "none: a single cluster")
    assert (found.error, found.df) == (None, None)


def test_no_cluster_and_nothing_to_divide_by() -> None:
    empty = np.zeros((0, 2))
    found = paired_difference(empty, empty, ratio)
    assert (found.a, found.difference, found.test.p) == (None, None, None)
    assert found.interval.method == found.test.method == "none: no cluster"
    undefined = paired_difference(np.zeros((3, 2)), means([1, 1, 1]), ratio)
    assert (undefined.a, undefined.b, undefined.difference) == (None, 1.0, None)
    assert undefined.test.method == "none: the value is undefined"


def test_wrong_shapes_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got \(3, 2\) and \(2, 2\)"):
        paired_difference(means([1, 2, 3]), means([1, 2]), ratio)
    with pytest.raises(ValueError, match=r"sizes \(4,\)"):
        paired_test(means([1, 2, 3]), means([1, 2, 3]), ratio, sizes=np.ones(4))
    with pytest.raises(ValueError, match="must be finite"):
        paired_test(means([1, np.nan]), means([1, 2]), ratio)


# --- properties ---------------------------------------------------------------------------------------------

SOME = arrays(np.float64, (7, 2), elements=st.integers(0, 9).map(float)).map(
    lambda a: np.column_stack([a[:, 0], a[:, 0] + a[:, 1] + 1])
)


@settings(max_examples=50, deadline=None)
@given(a=SOME, b=SOME)
def test_exchanging_the_sides_turns_the_sign_and_nothing_else(a: FloatArray, b: FloatArray) -> None:
    one = paired_difference(a, b, ratio, bounds=(0.0, 1.0))
    other = paired_difference(b, a, ratio, bounds=(0.0, 1.0))
    assert one.difference is not None
    assert other.difference == pytest.approx(-one.difference)
    assert one.test.p == pytest.approx(other.test.p)
    assert one.test.p is not None
    assert 0 < one.test.p <= 1
    if one.interval.low is not None:
        assert other.interval.high == pytest.approx(-one.interval.low, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(a=SOME, b=SOME, order=st.permutations(range(7)))
def test_the_order_of_clusters_does_not_matter(a: FloatArray, b: FloatArray, order: list[int]) -> None:
    assert paired_test(a, b, ratio).p == pytest.approx(paired_test(a[order], b[order], ratio).p)


def test_the_same_seed_gives_the_same_answer() -> None:
    rng = np.random.default_rng(11)
    a, b = means(rng.normal(size=80)), means(rng.normal(size=80))
    assert paired_difference(a, b, ratio, seed=3) == paired_difference(a, b, ratio, seed=3)
    assert p_of(a, b, seed=3) != p_of(a, b, seed=4)


# --- Holm, wins ---------------------------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.03, 0.04: times 3, 2, 1 gives 0.03, 0.06, 0.04, and the last may not fall below 0.06.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    # What has no p is no test, so it is not paid for.
    assert holm([None, 0.01, 0.04]) == [None, 0.02, 0.04]
    assert holm([0.5, None, 0.6]) == [1.0, None, 1.0]
    assert holm([]) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.1, 1.2])


def test_wins_ties_and_losses() -> None:
    a, b = np.array([0.1 + 0.2, 1.0, 2.0, 5.0, 4.0]), np.array([0.3, 2.0, 1.5, 9.0, 1.0])
    found = wins_ties_losses(a, b)
    assert (found.wins, found.ties, found.losses) == (2, 1, 2)
    assert found.won == (3, 1)
    assert found.lost == (4, 2)
    lower = wins_ties_losses(a, b, higher_is_better=False)
    assert (lower.wins, lower.losses, lower.won) == (2, 2, (4, 2))
    assert wins_ties_losses(a, b, margin=1.0).ties == 3
    with pytest.raises(ValueError, match="finite values of the same items"):
        wins_ties_losses(a, b[:3])
