"""Roll-ups, one step kind at a time: the arithmetic in sight, numpy, and brute force."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.rows import number, roll_up, rollup, rows
from tests.shared_data import shared
from turnwise.kernel.rollup import (
    CLUSTER,
    ITEM,
    MACRO,
    MEAN,
    MICRO,
    P50,
    P90,
    P95,
    TOTAL,
    Rollup,
    mean,
    pass_k,
    percentile,
    pool,
    ratio,
    ratio_value,
    round_half_up,
    share,
    total,
)

# Three dialogues (0, 0, 0 | 1 | 2, 2), values by hand.
VALUES = [1.0, 0.0, 0.5, 1.0, 0.25, 0.75]
CLUSTERS = [0, 0, 0, 1, 2, 2]


def test_mean_over_items_and_over_clusters() -> None:
    data = rows(VALUES, cluster=CLUSTERS)
    # (1 + 0 + 0.5 + 1 + 0.25 + 0.75) / 6 = 3.5 / 6
    assert number(MICRO, data) == pytest.approx(3.5 / 6)
    assert number(MEAN, data) == pytest.approx(3.5 / 6)
    # dialogues: 1.5/3 = 0.5, 1, 1/2 = 0.5; their mean: 2/3
    assert number(MACRO, data) == pytest.approx(2 / 3)


def test_total() -> None:
    assert number(TOTAL, rows(VALUES, cluster=CLUSTERS)) == pytest.approx(3.5)


def test_mean_of_cluster_totals() -> None:
    # 1.5, 1, 1: 3.5 / 3
    assert number(rollup(total(by=(CLUSTER,)), mean()), rows(VALUES, cluster=CLUSTERS)) == pytest.approx(3.5 / 3)


def test_pool_is_the_metrics_own_value_of_the_sums() -> None:
    data = rows([0.5, 1.0, 0.0], statistics=[(1, 2), (3, 3), (0, 5)])
    # (1 + 3 + 0) / (2 + 3 + 5) = 4 / 10, where the mean of the values is 0.5
    assert number(rollup(pool()), data, value=ratio_value) == pytest.approx(0.4)
    # Another value function: the sum of all statistics, 4 + 10
    assert number(rollup(pool()), data, value=lambda s: s.sum(axis=-1)) == pytest.approx(14.0)


def test_pool_by_cluster_then_mean() -> None:
    data = rows([0.5, 1.0, 0.0], statistics=[(1, 2), (3, 3), (0, 5)], cluster=[0, 0, 1])
    # (1 + 3) / (2 + 3) = 0.8 and 0 / 5 = 0: 0.4; the second case keeps them apart: (0.5 + 0.5) / 2
    assert number(rollup(pool(by=(CLUSTER,)), mean()), data, value=ratio_value) == pytest.approx(0.4)
    apart = rows([0.5, 1.0, 0.0], statistics=[(1, 2), (3, 3), (0, 5)], cluster=[0, 1, 1])
    # 1/2 and 3/8: 0.4375
    assert number(rollup(pool(by=(CLUSTER,)), mean()), apart, value=ratio_value) == pytest.approx(0.4375)


def test_ratio_of_sums_by_position() -> None:
    data = rows([0.0, 0.0], statistics=[(1, 4, 2), (2, 4, 8)])
    assert number(rollup(ratio(0, 1)), data) == pytest.approx(3 / 8)
    assert number(rollup(ratio(2, 1)), data) == pytest.approx(10 / 8)
    assert number(rollup(ratio(0, 2)), data) == pytest.approx(3 / 10)


def test_a_ratio_over_nothing_is_missing() -> None:
    assert np.isnan(number(rollup(ratio(0, 1)), rows([0.0], statistics=[(1, 0)])))


def test_share_of_a_label() -> None:
    labels = ["C_RESPOND", "C_RESUME", "C_RESPOND", None, "C_UNCERTAIN"]
    data = rows([np.nan] * 5, labels=labels, cluster=[0, 0, 0, 1, 1])
    assert number(rollup(share("C_RESPOND")), data) == pytest.approx(2 / 5)
    assert number(rollup(share("C_RESUME")), data) == pytest.approx(1 / 5)
    assert number(rollup(share("never said")), data) == 0.0
    # by cluster: 2/3 and 0/2
    assert number(rollup(share("C_RESPOND", by=(CLUSTER,)), mean()), data) == pytest.approx(1 / 3)


def test_mean_by_a_dimension() -> None:
    data = rows([1.0, 0.0, 0.5, 0.2], domain=[0, 0, 0, 1])
    # (1 + 0 + 0.5) / 3 = 0.5 and 0.2
    assert number(rollup(mean(by=("domain",)), mean()), data) == pytest.approx(0.35)


def test_mean_by_nested_dimensions() -> None:
    # language 0: category 0: (1 + 0)/2 = 0.5, category 1: 0.9 -> 0.7; language 1: category 0: 0.1 -> 0.1
    data = rows([1.0, 0.0, 0.9, 0.1], language=[0, 0, 0, 1], category=[0, 0, 1, 0])
    nested = rollup(mean(by=("language", "category")), mean(by=("language",)), mean())
    assert number(nested, data) == pytest.approx((0.7 + 0.1) / 2)
    # without the middle step three equal cells: (0.5 + 0.9 + 0.1) / 3
    assert number(rollup(mean(by=("language", "category")), mean()), data) == pytest.approx(0.5)
    # the other way round: category 0: (0.5 + 0.1)/2 = 0.3, category 1: 0.9
    other = rollup(mean(by=("language", "category")), mean(by=("category",)), mean())
    assert number(other, data) == pytest.approx(0.6)


def test_clusters_within_a_dimension() -> None:
    # domain 0: clusters (1 + 0)/2 = 0.5 and 1.0 -> 0.75; domain 1: 0.25 -> 0.25
    data = rows([1.0, 0.0, 1.0, 0.25], cluster=[0, 0, 1, 2], domain=[0, 0, 0, 1])
    steps = rollup(mean(by=("domain", CLUSTER)), mean(by=("domain",)), mean())
    assert number(steps, data) == pytest.approx(0.5)


def test_ratio_of_sums_by_a_dimension() -> None:
    data = rows([0.0] * 3, statistics=[(1, 2), (1, 3), (4, 4)], domain=[0, 0, 1])
    # 2/5 and 4/4: 0.7
    assert number(rollup(ratio(0, 1, by=("domain",)), mean()), data) == pytest.approx(0.7)


@pytest.mark.parametrize(("named", "percent"), [(P50, 50), (P90, 90), (P95, 95)])
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_percentiles_are_numpys(named: Rollup, percent: int, values: list[float]) -> None:
    assert number(named, rows(values)) == pytest.approx(np.percentile(values, percent, method="linear"))


def test_a_percentile_by_hand_and_of_cluster_means() -> None:
    # Rank 0.9 * 4 = 3.6: 4 + 0.6 * (10 - 4) = 7.6
    assert number(P90, rows([10.0, 1.0, 4.0, 2.0, 3.0])) == pytest.approx(7.6)
    # cluster means 1, 5, 9: median 5; digits: 7.6 -> 8
    data = rows([0.0, 2.0, 5.0, 9.0], cluster=[0, 0, 1, 2])
    assert number(rollup(mean(by=(CLUSTER,)), percentile(50)), data) == pytest.approx(5.0)
    assert number(rollup(percentile(90, digits=0)), rows([10.0, 1.0, 4.0, 2.0, 3.0])) == 8.0


def test_a_percentile_of_group_means() -> None:
    # domain means 1.5, 15, 100: their median is 15, their mean 38.83
    data = rows([1.0, 2.0, 10.0, 20.0, 100.0], domain=[0, 0, 1, 1, 2])
    assert number(rollup(mean(by=("domain",)), percentile(50)), data) == pytest.approx(15.0)


# --- pass^k -------------------------------------------------------------------------------------------------


def pass_k_by_hand(trials: dict[int, list[bool]], k: int) -> float | None:
    """Mean over tasks of the share of k-subsets of its trials in which all succeed, every subset looked at."""
    chances = []
    for outcomes in trials.values():
        subsets = list(combinations(outcomes, k))
        if subsets:
            chances.append(Fraction(sum(all(subset) for subset in subsets), len(subsets)))
    return float(sum(chances) / len(chances)) if chances else None


@given(
    st.dictionaries(st.integers(0, 5), st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_pass_k_counts_subsets(trials: dict[int, list[bool]], k: int) -> None:
    flat = [(task, float(outcome)) for task, outcomes in trials.items() for outcome in outcomes]
    tasks = [task for task, _ in flat]
    found = number(rollup(pass_k(k), mean()), rows([v for _, v in flat], item=tasks, cluster=tasks))
    expected = pass_k_by_hand(trials, k)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected)


def test_pass_k_by_hand() -> None:
    # Task 0: 3 of 4 succeed: C(3,2)/C(4,2) = 3/6; task 1: all: 1; task 2 has one trial only and cannot tell.
    values, tasks = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0], [0, 0, 0, 0, 1, 1, 2]
    assert number(rollup(pass_k(2), mean()), rows(values, item=tasks, cluster=tasks)) == pytest.approx(0.75)


def test_only_a_whole_success_passes() -> None:
    data = rows([0.999, 1.0, 1.0 - 1e-9], item=[0, 1, 2], cluster=[0, 1, 2])
    assert number(rollup(pass_k(1), mean()), data) == pytest.approx(2 / 3)


def test_pass_k_by_category() -> None:
    # category 0: tasks 0 (1 of 2) and 1 (2 of 2): 0 and 1 at k = 2 -> 0.5; category 1: task 2 (2 of 2): 1
    data = rows(
        [1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        item=[0, 0, 1, 1, 2, 2],
        cluster=[0, 0, 1, 1, 2, 2],
        category=[0, 0, 0, 0, 1, 1],
    )
    assert number(rollup(pass_k(2), mean(by=("category",)), mean()), data) == pytest.approx(0.75)


def test_pass_k_of_tau_bench() -> None:
    """gpt-4o on 50 airline tasks with 4 trials each, as published with the trajectories."""
    trajectories = json.loads(shared("tau_bench", "gpt-4o-airline.json").read_text())
    tasks = [trajectory["task_id"] for trajectory in trajectories]
    assert (len(tasks), len(set(tasks))) == (200, 50)
    data = rows([trajectory["reward"] for trajectory in trajectories], item=tasks, cluster=tasks)
    found = [number(rollup(pass_k(k), mean()), data) for k in (1, 2, 3, 4)]
    assert np.round(found, 4).tolist() == [0.4200, 0.2733, 0.2200, 0.2000]


# --- rounding -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "digits", "rounded"),
    [
        (2.675, 2, 2.68),  # binary 2.67499999999999982236431605997495353221893310546875
        (0.285, 2, 0.29),  # binary 0.284999999999999975575093458246556110680103302001953125
        (1.005, 2, 1.01),
        (0.125, 2, 0.13),
        (0.135, 2, 0.14),
        (2.5, 0, 3.0),
        (-2.675, 2, -2.68),
        (2.6749, 2, 2.67),
        (1e-9, 3, 0.0),
        (3.0, 3, 3.0),
        (1e300, 2, 1e300),
    ],
)
def test_half_is_rounded_up_on_the_decimal_that_is_printed(raw: float, digits: int, rounded: float) -> None:
    assert round_half_up(raw, digits) == rounded


@given(st.integers(-(10**9), 10**9), st.integers(0, 4))
def test_rounding_is_integer_arithmetic(hundred_thousandths: int, digits: int) -> None:
    unit = 10 ** (5 - digits)
    size = (2 * abs(hundred_thousandths) + unit) // (2 * unit) * unit
    expected = Fraction(size if hundred_thousandths >= 0 else -size, 10**5)
    assert round_half_up(float(Fraction(hundred_thousandths, 10**5)), digits) == float(expected)


def test_every_step_rounds_before_the_next_one() -> None:
    # domains: 2.675 -> 2.68 and 0.285 -> 0.29; mean 1.485 -> 1.49. Unrounded means: (2.675 + 0.285)/2 = 1.48
    data = rows([2.675, 0.285], domain=[0, 1])
    stepwise = rollup(mean(by=("domain",), digits=2), mean(digits=2))
    assert number(stepwise, data) == 1.49
    assert number(rollup(mean(by=("domain",)), mean(digits=2)), data) == 1.48


def test_clusters_are_rounded_before_the_mean() -> None:
    data = rows([2.675, 0.285], cluster=[0, 1])
    assert number(rollup(mean(by=(CLUSTER,), digits=2), mean(digits=2)), data) == 1.49


def test_each_kind_of_step_rounds() -> None:
    data = rows([1.0, 0.0, 0.0], statistics=[(1, 3), (0, 3), (0, 2)], labels=["a", "b", "b"])
    # 1/8 = 0.125 -> 0.13; 1/3 -> 0.33; total 1 / 3 of a label -> 0.33
    assert number(rollup(pool(digits=2)), data, value=ratio_value) == 0.13
    assert number(rollup(ratio(0, 1, digits=2)), data) == 0.13
    assert number(rollup(mean(digits=2)), data) == 0.33
    assert number(rollup(share("a", digits=2)), data) == 0.33
    assert number(rollup(total(digits=0)), rows([0.25, 0.25])) == 1.0


@given(st.lists(st.integers(0, 999), min_size=1, max_size=8))
def test_a_mean_of_decimals_is_rounded_as_on_paper(hundredths: list[int]) -> None:
    """Numbers with two decimals, their mean to three: exact arithmetic, not that of binary sums."""
    n, size = len(hundredths), sum(hundredths)
    expected = Fraction((2 * size * 10 + n) // (2 * n), 1000)
    found = number(rollup(mean(digits=3)), rows([h / 100 for h in hundredths]))
    assert found == float(expected)


# --- groups, and what cannot be declared --------------------------------------------------------------------


def test_groups_are_rolled_up_on_their_own() -> None:
    data = rows(VALUES, cluster=CLUSTERS)
    found = roll_up(MICRO, data, groups=[0, 1, 0, 1, 0, 2], n_groups=4)
    # group 0: (1 + 0.5 + 0.25)/3, group 1: (0 + 1)/2, group 2: 0.75, group 3: nothing
    np.testing.assert_allclose(found, [1.75 / 3, 0.5, 0.75, np.nan])


def test_a_rollup_must_end_in_one_number() -> None:
    for steps in ((), (mean(by=("domain",)),), (pass_k(2),)):
        with pytest.raises(ValueError, match="must leave one number"):
            Rollup("r", steps)
    with pytest.raises(ValueError, match="percentile can only be the last"):
        Rollup("r", (percentile(50), mean()))
    for later in (pool(), total(), ratio(0, 1), share("a")):
        with pytest.raises(ValueError, match="takes the mean or a percentile"):
            Rollup("r", (mean(by=("domain",)), later))


def test_a_later_step_can_only_group_by_what_the_step_before_kept() -> None:
    with pytest.raises(ValueError):
        Rollup("r", (mean(by=("domain",)), mean(by=("language",)), mean()))


def test_which_rollups_can_be_merged() -> None:
    assert all(named.additive for named in (MICRO, MACRO, TOTAL, rollup(pass_k(2), mean())))
    assert not any(named.additive for named in (P50, rollup(mean(by=(ITEM,)), percentile(50))))
