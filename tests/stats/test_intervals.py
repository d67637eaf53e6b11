"""Intervals: arithmetic in sight, matrix formulas written out a second time, scipy's BCa, and properties."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from turnwise.stats.intervals import BLOCK, Bounds, Interval, Resampler, pooled_intervals
from turnwise.stats.leave_one_out import spread

FloatArray = npt.NDArray[np.float64]
UNIT = (0.0, 1.0)
OPEN = (None, None)


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def one(pairs: npt.ArrayLike, bounds: Bounds = OPEN, level: float = 0.95, resamples: int = 1000) -> Interval:
    """Return the interval of a single group given as (numerator, denominator) per cluster."""
    totals = np.asarray(pairs, dtype=np.float64)[:, None, :]
    present = np.ones(totals.shape[:2], dtype=np.bool_)
    resampler = Resampler(len(totals), resamples)
    return pooled_intervals(totals, present, ratio, resampler, bounds=bounds, level=level)[0]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


# --- weights ------------------------------------------------------------------------------------------------


def test_weights_are_the_same_at_every_call_and_count_clusters() -> None:
    resampler = Resampler(7, resamples=50, seed=3)
    first, second = (np.concatenate(list(resampler.blocks())) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (50, 7)
    assert first.dtype == np.float64
    np.testing.assert_array_equal(first.sum(axis=1), 7)
    assert not np.array_equal(first, np.concatenate(list(Resampler(7, 50, seed=4).blocks())))


def test_weights_have_the_variance_of_the_multinomial() -> None:
    weights = np.concatenate(list(Resampler(20, resamples=20_000).blocks()))
    # Mean 1, variance K * (1/K) * (1 - 1/K) = 0.95; the tolerances are above 4 standard errors.
    np.testing.assert_allclose(weights.mean(axis=0), 1.0, atol=0.03)
    np.testing.assert_allclose(weights.var(axis=0), 0.95, atol=0.06)


@pytest.mark.parametrize(("clusters", "resamples"), [(1, 1000), (30_000, 40), (1_000_000, 2)])
def test_blocks_stay_small(clusters: int, resamples: int) -> None:
    shapes = [block.shape for block in Resampler(clusters, resamples).blocks()]
    assert sum(rows for rows, _ in shapes) == resamples
    assert all(rows == 1 or rows * columns <= BLOCK for rows, columns in shapes)


def test_resampler_refuses_impossible_numbers() -> None:
    with pytest.raises(ValueError, match="got -1 and 1000"):
        Resampler(-1)
    with pytest.raises(ValueError, match="got 5 and 0"):
        Resampler(5, 0)
    assert list(Resampler(0).blocks()) == []


# --- below 50 clusters --------------------------------------------------------------------------------------


def test_equal_clusters_give_the_textbook_t_interval() -> None:
    # Cluster means 1, 2, 3, 4 of 10 items each: mean 2.5, variance 5/3, error sqrt(5/3 / 4) = 0.645497,
    # t(0.975, 3 df) = 3.182446, half-width 2.054260.
    found = one([(10, 10), (20, 10), (30, 10), (40, 10)])
    assert ends(found) == pytest.approx((2.5 - 2.054260, 2.5 + 2.054260), abs=1e-6)
    assert found.method == "cluster t, 4 clusters"


def test_a_rate_gets_wilsons_form() -> None:
    # Clusters with 6, 7, 8, 9 right of 10: p = 0.75, error^2 = (0.05 / 3) / 4 = 1/240, n = 0.1875 * 240 = 45
    # trials. With t = 3.182446 and a = t^2 / 45 = 0.225066 the centre is (0.75 + a/2) / (1 + a) = 0.704071
    # and the half-width sqrt(a * 0.1875 + a^2/4) / (1 + a) = 0.234230 / 1.225066 = 0.191198.
    found = one([(6, 10), (7, 10), (8, 10), (9, 10)], UNIT)
    assert ends(found) == pytest.approx((0.704071 - 0.191198, 0.704071 + 0.191198), abs=2e-6)
    assert found.method == "cluster t, Wilson, 4 clusters"


@pytest.mark.parametrize("clusters", [2, 10, 49, 50, 400])
def test_all_right_or_all_wrong_is_not_certainty(clusters: int) -> None:
    # If a share q of all clusters is flawless, K of K flawless ones have probability q^K >= 0.025.
    limit = 0.025 ** (1 / clusters)
    sizes = 1 + np.arange(clusters) % 7
    right = one(np.stack([sizes, sizes], axis=1), UNIT)
    wrong = one(np.stack([0 * sizes, sizes], axis=1), UNIT)
    assert ends(right) == pytest.approx((limit, 1.0), abs=1e-12)
    assert ends(wrong) == pytest.approx((0.0, 1 - limit), abs=1e-12)
    assert right.method == f"exact, no variation between {clusters} clusters"


def test_equal_values_inside_the_range_are_not_certainty_either() -> None:
    # e = 1 - 0.025^(1/2) = 0.841886; from 0.5 that share of the way to each bound.
    assert ends(one([(1, 2), (2, 4)], UNIT)) == pytest.approx((0.5 - 0.420943, 0.5 + 0.420943), abs=1e-6)


def test_equal_values_without_a_range_say_so() -> None:
    assert one([(3, 1), (6, 2), (0.3, 0.1)]) == Interval(3.0, 3.0, "no variation between 3 clusters")


def test_one_failure_among_many_leaves_two_degrees_of_freedom() -> None:
    pairs = np.full((60, 2), 10.0)
    pairs[17, 0] = 2.0
    found = spread(pairs[:, None], np.ones((60, 1), dtype=np.bool_), ratio, UNIT)
    # Deviations from the mean are 59 : -1, their squares 3481 : 1, v = 3481 + 59 = 3540 with mean 59;
    # scatter 60/59 * (3422^2 + 59 * 58^2) = 12,110,400, df = 2 * 3540^2 / 12,110,400 = 2.06956.
    assert found.df[0] == pytest.approx(2.06956, abs=1e-5)
    # So few that the bootstrap, which can only repeat that one failure, is not asked.
    assert one(pairs, UNIT).method == "cluster t, Wilson, 60 clusters"


# --- no interval --------------------------------------------------------------------------------------------


def test_reasons_for_no_interval() -> None:
    # Groups: nobody; one cluster; two clusters of which one has a denominator; two clusters without any.
    totals = np.zeros((2, 4, 2))
    totals[0, 1] = totals[0, 2] = 1.0
    present = np.array([[False, True, True, True], [False, False, True, True]])
    found = pooled_intervals(totals, present, ratio, Resampler(2))
    assert [interval.method for interval in found] == [
        "none: no cluster",
        "none: a single cluster",
        "none: the value rests on a single cluster",
        "none: the value is undefined",
    ]
    assert all(interval.low is None and interval.high is None for interval in found)


def test_what_rounding_leaves_is_no_denominator() -> None:
    # (0.3 + 0.1 + 0.2) - 0.3 is not exactly 0.1 + 0.2; with 0 in the others the rest must count as nothing.
    found = one([(0.3, 0.1), (1e-17, 1e-17), (0.0, 0.0)])
    assert found.method == "none: the value rests on a single cluster"


def test_no_groups_and_no_clusters() -> None:
    assert pooled_intervals(np.empty((3, 0, 2)), np.empty((3, 0), dtype=np.bool_), ratio, Resampler(3)) == []
    empty = pooled_intervals(np.empty((0, 1, 2)), np.empty((0, 1), dtype=np.bool_), ratio, Resampler(0))
    assert empty == [Interval(None, None, "none: no cluster")]


def test_mismatched_input_is_refused_with_both_numbers() -> None:
    totals, present = np.ones((4, 1, 2)), np.ones((4, 1), dtype=np.bool_)
    with pytest.raises(ValueError, match=r"4 clusters and 1 groups.*for 5 clusters"):
        pooled_intervals(totals, present, ratio, Resampler(5))
    with pytest.raises(ValueError, match=r"shape \(3, 1\)"):
        pooled_intervals(totals, present[:3], ratio, Resampler(4))
    with pytest.raises(ValueError, match="got 95"):
        pooled_intervals(totals, present, ratio, Resampler(4), level=95)


# --- from 50 clusters ---------------------------------------------------------------------------------------


def test_bootstrap_agrees_with_scipys_bca() -> None:
    rng = np.random.default_rng(1)
    x = rng.gamma(2.0, size=80)
    pairs = np.stack([x, np.ones(80)], axis=1)
    found = one(pairs, resamples=20_000)
    assert found.method == "cluster bootstrap, 20000 resamples"
    # scipy at the level whose z is our sqrt(K / (K - 1)) t(df).
    df = spread(pairs[:, None], np.ones((80, 1), dtype=np.bool_), ratio, OPEN).df[0]
    wide = math.sqrt(80 / 79) * stats.t.ppf(0.975, df)
    level = 2 * stats.norm.cdf(wide) - 1
    expected = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, confidence_level=level, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    # Monte Carlo error of either is about 1 % of the width (0.6).
    assert ends(found) == pytest.approx((expected.low, expected.high), abs=0.02)


def test_bootstrap_begins_at_fifty_clusters() -> None:
    x = np.random.default_rng(5).normal(size=(50, 1))
    pairs = np.concatenate([x, np.ones((50, 1))], axis=1)
    assert one(pairs).method == "cluster bootstrap, 1000 resamples"
    assert one(pairs[:49]).method == "cluster t, 49 clusters"
    # The two methods meet: widths at the border differ by less than a tenth.
    (a, b), (c, d) = ends(one(pairs)), ends(one(pairs[:49]))
    assert (b - a) / (d - c) == pytest.approx(1.0, abs=0.1)


def test_groups_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(6)
    totals = np.stack([rng.normal(size=(120, 3)), np.ones((120, 3))], axis=-1)
    present = np.ones((120, 3), dtype=np.bool_)
    present[:, 1] = np.arange(120) < 20
    totals[~present] = 0.0
    found = pooled_intervals(totals, present, ratio, Resampler(120))
    assert found[1].method == "cluster t, 20 clusters"
    assert ends(found[1]) == pytest.approx(ends(one(totals[:20, 1])), rel=1e-12)
    for group in (0, 2):
        assert ends(found[group]) == pytest.approx(ends(one(totals[:, group])), rel=1e-9)


def test_resampled_values_that_are_undefined_are_left_out() -> None:
    pairs = np.stack([np.random.default_rng(7).normal(1.0, 0.1, size=60), np.ones(60)], axis=1)[:, None]

    def sometimes(s: FloatArray) -> FloatArray:
        mean = ratio(s)
        return np.where(mean > 1.02, np.inf, mean)

    present = np.ones((60, 1), dtype=np.bool_)
    low, high = ends(pooled_intervals(pairs, present, sometimes, Resampler(60))[0])
    assert 0.9 < low < high <= 1.02


def test_large_input_takes_blocks_of_groups() -> None:
    rng = np.random.default_rng(8)
    totals = np.stack([rng.normal(size=(9000, 40)), np.ones((9000, 40))], axis=-1)  # 720,000 floats: two lots
    found = pooled_intervals(totals, np.ones((9000, 40), dtype=np.bool_), ratio, Resampler(9000, 200))
    # Each mean has standard error 1/sqrt(9000); 1.96 of them either way.
    widths = [high - low for low, high in map(ends, found)]
    np.testing.assert_allclose(widths, 2 * 1.96 / math.sqrt(9000), rtol=0.25)


# --- properties ---------------------------------------------------------------------------------------------

shares = arrays(np.float64, st.integers(2, 70), elements=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
values = arrays(np.float64, st.integers(2, 70), elements=st.floats(-1e6, 1e6, allow_subnormal=False))


@settings(deadline=None, max_examples=60)
@given(shares, st.integers(0, 2**32 - 1))
def test_a_rate_and_its_interval_stay_in_range(means: FloatArray, seed: int) -> None:
    n = np.random.default_rng(seed).integers(1, 21, size=len(means)).astype(np.float64)
    low, high = ends(one(np.stack([means * n, n], axis=1), UNIT, resamples=100))
    point = (means * n).sum() / n.sum()
    assert 0.0 <= low <= point <= high <= 1.0
    assert low < high


@settings(deadline=None, max_examples=60)
@given(values, st.integers(0, 2**32 - 1))
def test_an_interval_is_finite_and_contains_the_estimate(means: FloatArray, seed: int) -> None:
    n = np.random.default_rng(seed).integers(1, 21, size=len(means)).astype(np.float64)
    pairs = np.stack([means * n, n], axis=1)
    low, high = ends(one(pairs, resamples=100))
    # Added up in the same order: equal values leave an interval no wider than one rounding error.
    point, _ = pairs[:, None].sum(axis=0)[0] / n.sum()
    assert -math.inf < low <= point <= high < math.inf


@settings(deadline=None, max_examples=40)
@given(shares.filter(lambda x: len(x) < 50), st.integers(0, 2**32 - 1))
def test_the_order_of_clusters_does_not_matter(means: FloatArray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(means))
    pairs = np.stack([means * 3, np.full(len(means), 3.0)], axis=1)
    assert ends(one(pairs, UNIT)) == pytest.approx(ends(one(pairs[order], UNIT)), abs=1e-9)


@pytest.mark.parametrize("clusters", [12, 80])
@pytest.mark.parametrize("bounded", [False, True])
def test_shift_and_scale_carry_over(clusters: int, bounded: bool) -> None:
    rng = np.random.default_rng(9)
    n = rng.integers(1, 21, size=clusters).astype(np.float64)
    x = rng.beta(2.0, 1.0, size=clusters)
    low, high = ends(one(np.stack([x * n, n], axis=1), UNIT if bounded else OPEN))
    moved = one(np.stack([(100 * x - 30) * n, n], axis=1), (-30.0, 70.0) if bounded else OPEN)
    assert ends(moved) == pytest.approx((100 * low - 30, 100 * high - 30), rel=1e-9)


def test_more_confidence_is_wider() -> None:
    pairs = np.stack([np.random.default_rng(10).normal(size=20), np.ones(20)], axis=1)
    widths = [high - low for low, high in (ends(one(pairs, level=level)) for level in (0.8, 0.9, 0.95, 0.99))]
    assert widths == sorted(widths)


@pytest.mark.parametrize("clusters", [10, 60])
def test_coverage_is_near_what_is_promised(clusters: int) -> None:
    # Beta-binomial, rate 0.8, correlation 0.3; 600 replicates have a standard error of 0.9 points.
    rng = np.random.default_rng(11)
    n = rng.integers(1, 21, size=(clusters, 600))
    right = rng.binomial(n, rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, size=n.shape))
    totals = np.stack([right, n], axis=-1).astype(np.float64)
    found = pooled_intervals(totals, n > 0, ratio, Resampler(clusters, 500), bounds=UNIT)
    covered = np.mean([low <= 0.8 <= high for low, high in map(ends, found)])
    assert 0.92 <= covered <= 0.98
