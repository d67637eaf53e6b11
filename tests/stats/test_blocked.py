"""Leaving out one cluster at a time, block by block: the same findings as from a table, and limits that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.stats import woodruff
from turnwise.stats.blocked import blocked_spread
from turnwise.stats.intervals import MANY_CLUSTERS, Resampler, pooled_intervals, spread_intervals
from turnwise.stats.leave_one_out import Bounds, FloatArray, IntArray, Spread, Value, spread
from turnwise.stats.woodruff import percentile_intervals

FIELDS = ("estimate", "error", "df", "acceleration", "clusters", "rests_on_one", "constant")
Blocks = Callable[[], Iterator[tuple[IntArray, FloatArray]]]


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1])


def total(s: FloatArray) -> FloatArray:
    return s[..., 0]


def three(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 2] - s[..., 1] / s[..., 2])


def in_blocks(groups: IntArray, totals: FloatArray, size: int) -> Blocks:
    def blocks() -> Iterator[tuple[IntArray, FloatArray]]:
        for start in range(0, len(groups), size):
            yield groups[start : start + size], totals[start : start + size]

    return blocks


def from_a_table(groups: IntArray, totals: FloatArray, n_groups: int, value: Value, bounds: Bounds) -> Spread:
    """Every cell is a cluster of its own, present in one group."""
    table = np.zeros((len(groups), n_groups, totals.shape[1]))
    present = np.zeros((len(groups), n_groups), dtype=bool)
    index = np.arange(len(groups)), groups
    table[index], present[index] = totals, True
    return spread(table, present, value, bounds)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    clusters=st.integers(3, 40),
    n_groups=st.integers(1, 3),
    value=st.sampled_from([ratio, total, three]),
    size=st.sampled_from([1, 4, 1000]),
)
def test_blocks_find_what_a_table_finds(seed: int, clusters: int, n_groups: int, value: Value, size: int) -> None:
    rng = np.random.default_rng(seed)
    d = {ratio: 2, total: 1, three: 3}[value]
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, clusters)])
    totals = rng.integers(0, 6, (len(groups), d)).astype(np.float64)
    totals[:, -1] += 1
    if value is three and seed % 2:
        totals[:, 0] -= 3  # a statistic that cannot measure size
    bounds = (0.0, 6.0) if seed % 3 else (None, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        ours = blocked_spread(in_blocks(groups, totals, size), n_groups, value, bounds)
        table = from_a_table(groups, totals, n_groups, value, bounds)
    for name in FIELDS:
        assert getattr(ours, name) == pytest.approx(getattr(table, name), rel=1e-7, abs=1e-12, nan_ok=True), name


def test_clusters_that_are_all_alike() -> None:
    found = blocked_spread(in_blocks(np.zeros(9, dtype=np.int64), np.tile([2.0, 4.0], (9, 1)), 4), 1, ratio, (0, 1))
    assert (found.estimate[0], found.error[0], bool(found.constant[0]), found.df[0]) == (0.5, 0.0, True, 8)
    (interval,) = spread_intervals(found, (0.0, 1.0))
    assert interval.method == "exact, no variation between 9 clusters"


def test_no_cluster_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="not a single cluster"):
        blocked_spread(lambda: iter(()), 1, ratio, (None, None))


# More clusters than are resampled

MANY = MANY_CLUSTERS + 1


def test_single_items_in_many_clusters_have_the_limits_of_wilson() -> None:
    """K clusters of one item: v = p (1 - p) / (K - 1), so n = K - 1 trials, and t with so many df is z = 1.959964."""
    hits = np.zeros(MANY)
    hits[:30_000] = 1
    totals = np.column_stack([hits, np.ones(MANY)])[:, None]
    (found,) = pooled_intervals(totals, np.ones((MANY, 1), dtype=bool), ratio, Resampler(MANY), bounds=(0.0, 1.0))
    p, a = 30_000 / MANY, 1.959964**2 / (MANY - 1)
    half = np.sqrt(a * p * (1 - p) + a**2 / 4)
    assert found.method == f"cluster t, Wilson, {MANY} clusters"
    assert found.low == pytest.approx((p + a / 2 - half) / (1 + a), abs=1e-7)
    assert found.high == pytest.approx((p + a / 2 + half) / (1 + a), abs=1e-7)


def test_the_bootstrap_would_have_said_the_same() -> None:
    """At 20,000 skewed clusters its limits differ by less than a tenth of the half-width."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 20, 20_000)
    totals = np.column_stack([rng.lognormal(0, 1, 20_000) * sizes, sizes]).astype(np.float64)
    one = np.ones((20_000, 1), dtype=bool)
    (boot,) = pooled_intervals(totals[:, None], one, ratio, Resampler(20_000, 4000))
    found = blocked_spread(in_blocks(np.zeros(20_000, dtype=np.int64), totals, 4096), 1, ratio, (None, None))
    (ours,) = spread_intervals(found, (None, None))
    assert boot.method == "cluster bootstrap, 4000 resamples"
    assert boot.low is not None
    assert boot.high is not None
    half = (boot.high - boot.low) / 2
    assert ours.low == pytest.approx(boot.low, abs=half / 10)
    assert ours.high == pytest.approx(boot.high, abs=half / 10)


def test_intervals_of_many_clusters_contain_the_truth_as_often_as_they_say() -> None:
    """300 data sets of beta-binomial clusters, mean 0.8: 95 % +- 3 standard errors of 1.26 points."""
    rng = np.random.default_rng(11)
    zeros = np.zeros(MANY, dtype=np.int64)
    held = 0
    for _ in range(300):
        sizes = rng.integers(1, 9, MANY)
        hits = rng.binomial(sizes, rng.beta(1.87, 0.467, MANY))  # a / (a + b) = 0.80017; correlation 0.3
        totals = np.column_stack([hits, sizes]).astype(np.float64)
        found = blocked_spread(in_blocks(zeros, totals, 1 << 16), 1, ratio, (0.0, 1.0))
        (interval,) = spread_intervals(found, (0.0, 1.0))
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= 1.87 / (1.87 + 0.467) <= interval.high
    assert 0.95 - 3 * 0.0126 <= held / 300 <= 0.95 + 3 * 0.0126


def test_percentiles_over_many_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are ranks of values, so blocks must find the very same."""
    rng = np.random.default_rng(5)
    values, clusters = rng.gamma(2, 300, 4000), rng.integers(0, 700, 4000)
    plain = [percentile_intervals(values, clusters, [q], Resampler(700)) for q in (0.5, 0.9)]
    monkeypatch.setattr(woodruff, "MANY_CLUSTERS", 100)
    monkeypatch.setattr(woodruff, "LOT", 64)
    assert [percentile_intervals(values, clusters, [q], Resampler(700)) for q in (0.5, 0.9)] == plain
