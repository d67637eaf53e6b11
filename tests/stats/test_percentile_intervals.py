"""Percentile intervals: ranks worked out by hand, edge cases and properties."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from turnwise.stats.intervals import Interval, Resampler
from turnwise.stats.woodruff import percentile_intervals

FloatArray = npt.NDArray[np.float64]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_median_of_single_items_by_hand() -> None:
    # 40 clusters of one item, values 1..40: F(20.5) = 1/2, error^2 = 0.25 / 39, so n = 39 trials; every
    # contribution is equal, so t has 39 df, 2.022691, a = t^2 / 39 = 0.104905. Wilson around 0.5: half-width
    # sqrt(a/4 + a^2/4) / (1 + a) = 0.154066, limits 0.345934 and 0.654066: ranks floor(13.84) = 13 and
    # ceil(26.16) + 1 = 28.
    values = np.random.default_rng(12).permutation(np.arange(1.0, 41.0))
    found = percentile_intervals(values, np.arange(40), [0.5], Resampler(40))
    assert found == [Interval(13.0, 28.0, "Woodruff, 40 clusters")]


def test_percentiles_mirror() -> None:
    rng = np.random.default_rng(13)
    x, index = rng.normal(size=300), np.arange(300) % 30
    (a,) = percentile_intervals(x, index, [0.9], Resampler(30))
    # Ranked from the other side one value more or less counts as below, hence a tolerance of two ranks.
    (b,) = percentile_intervals(-x, index, [0.1], Resampler(30))
    assert a.low is not None
    assert b.high is not None
    assert abs(np.searchsorted(np.sort(x), a.low) - np.searchsorted(np.sort(x), -b.high)) <= 2


def test_ranks_outside_the_sample_are_the_bounds() -> None:
    x, index = np.linspace(1.0, 2.0, 8), np.arange(8) % 4
    (cut,) = percentile_intervals(x, index, [0.95], Resampler(4), bounds=(0.0, None))
    assert (cut.high, cut.method) == (2.0, "Woodruff, 4 clusters, cut at the extreme value")
    (whole,) = percentile_intervals(x, index, [0.95], Resampler(4), bounds=(0.0, 9.0))
    assert (whole.high, whole.method) == (9.0, "Woodruff, 4 clusters")


def test_percentiles_of_equal_values_and_of_too_few_clusters() -> None:
    five = np.full(12, 5.0)
    assert ends(percentile_intervals(five, np.arange(12) % 3, [0.5], Resampler(3))[0]) == (5.0, 5.0)
    alone = percentile_intervals(five, np.zeros(12, dtype=np.int64), [0.5, 0.9], Resampler(3))
    assert alone == [Interval(None, None, "none: a single cluster")] * 2
    nobody = percentile_intervals(np.empty(0), np.empty(0, dtype=np.int64), [0.5], Resampler(0))
    assert nobody == [Interval(None, None, "none: no cluster")]
    assert percentile_intervals(five, np.arange(12) % 3, [], Resampler(3)) == []


@settings(deadline=None, max_examples=40)
@given(
    arrays(np.float64, st.integers(2, 60), elements=st.floats(0, 100, allow_subnormal=False)),
    st.floats(0, 1),
    st.integers(2, 9),
)
def test_percentile_intervals_contain_the_percentile(x: FloatArray, quantile: float, clusters: int) -> None:
    index = np.arange(len(x)) % clusters
    (found,) = percentile_intervals(x, index, [quantile], Resampler(clusters), bounds=(0.0, 100.0))
    low, high = ends(found)
    assert 0.0 <= low <= np.quantile(x, quantile) <= high <= 100.0


def test_percentiles_refuse_bad_input() -> None:
    x, index = np.arange(4.0), np.arange(4)
    with pytest.raises(ValueError, match="4 values, 3 clusters"):
        percentile_intervals(x, index[:3], [0.5], Resampler(4))
    with pytest.raises(ValueError, match="finite"):
        percentile_intervals(np.array([1.0, np.nan]), index[:2], [0.5], Resampler(4))
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile_intervals(x, index, [50], Resampler(4))
    with pytest.raises(ValueError, match="cluster index 3, but weights for 3"):
        percentile_intervals(x, index, [0.5], Resampler(3))
