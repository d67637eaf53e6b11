"""Paired comparisons of stored runs against scipy, and against all patterns gone through by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.comparison.keeping import Toy, all_signs, compared, keep, one, toys
from turnwise.comparison.compare import Comparison
from turnwise.store.store import Store


def alone(metric: str, values: list[float]) -> list[Toy]:
    """One item per cluster."""
    return toys(metric, *([value] for value in values))


def of_both(kept: Store, a: list[Toy], b: list[Toy], **options: Any) -> Comparison:
    return compared(kept, keep(kept, a), keep(kept, b), **options)


def test_few_items_give_the_p_of_scipy_and_the_interval_of_the_paired_t_test(kept: Store) -> None:
    """All 2^10 patterns of signs are gone through by both; below 50 clusters of one item the interval is Student's."""
    random = np.random.default_rng(1)
    a, b = random.normal(0.5, 0.2, 10), random.normal(0.6, 0.2, 10)
    row = one(
        compared(kept, keep(kept, alone("quality", a.tolist())), keep(kept, alone("quality", b.tolist()))), "quality"
    )
    exact = stats.permutation_test((b - a,), np.mean, permutation_type="samples", n_resamples=np.inf)
    limits = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (row["a"], row["b"], row["difference"]) == pytest.approx((a.mean(), b.mean(), b.mean() - a.mean()))
    assert row["p"] == pytest.approx(exact.pvalue)
    assert row["test"] == "sign flips by cluster, all 1024 patterns"
    assert (row["low"], row["high"]) == pytest.approx((limits.low, limits.high), rel=1e-6)
    assert (row["n_paired"], row["clusters_a"], row["paired"]) == (10, 10, True)


def test_many_items_agree_with_scipy_within_the_error_of_drawing(kept: Store) -> None:
    random = np.random.default_rng(2)
    a = random.normal(0.5, 0.2, 80)
    b = a + random.normal(0.03, 0.15, 80)
    row = one(
        compared(kept, keep(kept, alone("quality", a.tolist())), keep(kept, alone("quality", b.tolist()))), "quality"
    )
    drawn = stats.permutation_test(
        (b - a,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=9999,
        rng=3,
        vectorized=True,
    )
    # Two estimates of p, each of 10,000 draws: four standard errors.
    assert row["p"] == pytest.approx(drawn.pvalue, abs=4 * np.sqrt(2 * drawn.pvalue * (1 - drawn.pvalue) / 10_000))
    limits = stats.bootstrap((b - a,), np.mean, method="BCa", n_resamples=9999, rng=4).confidence_interval
    width = limits.high - limits.low
    assert (row["low"], row["high"]) == pytest.approx((limits.low, limits.high), abs=0.08 * width)


def test_whole_clusters_are_flipped(kept: Store) -> None:
    """Six dialogues of one to four items: 2^6 patterns of the sums of their differences, gone through here."""
    a = [[0.1, 0.4], [0.9], [0.3, 0.3, 0.6], [0.2, 0.8, 0.5, 0.1], [0.7], [0.6, 0.2]]
    b = [[0.5, 0.6], [0.7], [0.8, 0.4, 0.9], [0.3, 0.9, 0.9, 0.6], [0.8], [0.5, 0.9]]
    row = one(compared(kept, keep(kept, toys("quality", *a)), keep(kept, toys("quality", *b))), "quality")
    sums = np.array([sum(y) - sum(x) for x, y in zip(a, b, strict=True)])
    patterns = np.abs(all_signs(6) @ sums)
    assert row["difference"] == pytest.approx(sums.sum() / 13)
    assert row["p"] == pytest.approx(np.mean(patterns >= abs(sums.sum()) - 1e-12))
    assert (row["n_paired"], row["clusters_a"]) == (13, 6)


def test_a_macro_mean_flips_the_means_of_clusters(kept: Store) -> None:
    a, b = [[0.0, 1.0], [0.4], [0.2, 0.6]], [[1.0, 1.0], [0.5], [0.9, 0.7]]
    row = one(
        compared(kept, keep(kept, toys("quality", *a)), keep(kept, toys("quality", *b)), rollup="macro"),
        "quality",
        "macro",
    )
    gaps = np.array([1.0 - 0.5, 0.1, 0.8 - 0.4])
    assert (row["a"], row["b"]) == pytest.approx(((0.5 + 0.4 + 0.4) / 3, (1.0 + 0.5 + 0.8) / 3))
    assert row["p"] == pytest.approx(np.mean(np.abs(all_signs(3) @ gaps) >= gaps.sum() - 1e-12)) == 0.25


def test_ones_and_zeros_of_single_items_are_tested_as_mcnemar_did(kept: Store) -> None:
    """12 better, 3 worse: twice the chance of at most 3 heads in 15 throws."""
    a = [1.0] * 3 + [0.0] * 12 + [1.0] * 20
    b = [0.0] * 3 + [1.0] * 12 + [1.0] * 20
    row = one(compared(kept, keep(kept, alone("recall", a)), keep(kept, alone("recall", b))), "recall")
    assert row["test"] == "McNemar, exact, 15 of 35 items differ"
    assert row["p"] == pytest.approx(stats.binomtest(3, 15).pvalue)
    assert (row["wins"], row["ties"], row["losses"]) == (12, 20, 3)
    assert (row["verdict"], row["sentence"]) == ("better", "B is better")


def test_ones_and_zeros_of_several_items_in_a_cluster_are_not(kept: Store) -> None:
    a, b = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    row = one(compared(kept, keep(kept, toys("recall", *a)), keep(kept, toys("recall", *b))), "recall")
    gaps = np.array([2.0, 1.0, -1.0])
    assert row["test"].startswith("sign flips by cluster")
    assert row["p"] == pytest.approx(np.mean(np.abs(all_signs(3) @ gaps) >= 2.0))


def test_a_ratio_of_sums_flips_numerators_and_denominators_together(kept: Store) -> None:
    """Equal denominators, so that the ratio is a mean over shots: 4 of 10 and 7 of 10."""
    a = toys("hits", [(1.0, 2.0)], [(1.0, 4.0)], [(2.0, 4.0)])
    b = toys("hits", [(2.0, 2.0)], [(3.0, 4.0)], [(2.0, 4.0)])
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "hits")
    assert (row["a"], row["b"]) == pytest.approx((0.4, 0.7))
    assert row["p"] == pytest.approx(0.5)  # +1 +2, -1 +2, +1 -2, -1 -2: two of four are as far from 0


def test_medians_are_compared_on_the_same_items(kept: Store) -> None:
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [2.0, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]
    row = one(compared(kept, keep(kept, alone("delay", a)), keep(kept, alone("delay", b))), "delay")
    assert (row["a"], row["b"], row["difference"]) == (4.0, 5.5, 1.5)
    # The median of all 14 is 4.5: 4 of A's seven are up to it and 3 of B's; only item 4 (4 and 5.5) differs.
    assert row["p"] == 1.0
    assert row["low"] <= 1.5 <= row["high"]


def test_levels_are_the_same_on_both_sides(kept: Store) -> None:
    """Every town counts the same: (0.2 + 0.9) / 2 against (0.6 + 0.8) / 2; swapping a cluster swaps it in its town."""

    def town(values: dict[str, list[float]]) -> list[Toy]:
        rows = [(name, i, v) for name, own in values.items() for i, v in enumerate(own)]
        return [Toy(f"{name}{i}", f"{name}{i}", {"by_town": v}, {"town": name}) for name, i, v in rows]

    a, b = town({"york": [0.1, 0.3], "leeds": [0.9]}), town({"leeds": [0.8], "york": [0.5, 0.7]})
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "by_town")
    assert (row["a"], row["b"]) == pytest.approx((0.55, 0.7))
    gaps = np.array([0.4 / 2 / 2, 0.4 / 2 / 2, -0.1 / 2])  # two clusters in york, one in leeds, two towns
    assert row["difference"] == pytest.approx(gaps.sum())
    assert row["p"] == pytest.approx(np.mean(np.abs(all_signs(3) @ gaps) >= gaps.sum() - 1e-12))


def test_a_run_with_itself(kept: Store) -> None:
    """Every metric: difference 0, p = 1, never an error."""
    numbers = {"quality": 0.5, "recall": 1.0, "precision": 0.5, "hits": (1.0, 3.0), "delay": 2.0, "outcome": "yes"}
    run = keep(kept, [Toy(f"t{i}", f"c{i % 3}", numbers, {"town": "york"}) for i in range(9)])
    found = compared(kept, run, run, by=[("town",)])
    rows = [row for row in found if (row["metric"], row["output"]) != ("hits", "mood")]  # nobody recorded the mood
    assert {row["metric"] for row in rows} == {*numbers, "f1", "product"}
    for row in rows:
        assert (row["difference"], row["low"], row["high"], row["p"], row["p_holm"]) == (0.0, 0.0, 0.0, 1.0, 1.0)
    assert {row["verdict"] for row in rows} == {"same"}
    assert found.verdict == "Of 9: the same in 8; 1 cannot be judged."
    assert "A and B are the same run" in found.notes


def test_one_item_shows_no_difference_and_says_why(kept: Store) -> None:
    row = one(compared(kept, keep(kept, alone("quality", [0.2])), keep(kept, alone("quality", [0.9]))), "quality")
    assert (row["difference"], row["low"], row["p"]) == (pytest.approx(0.7), None, None)
    assert row["sentence"] == "cannot be judged: a single cluster"


def test_lower_is_better_where_the_metric_says_so(kept: Store) -> None:
    """Ten items that all take half as long: 2 of 2^10 patterns are as far from 0."""
    a = [float(i + 2) for i in range(10)]
    row = one(compared(kept, keep(kept, alone("wait", a)), keep(kept, alone("wait", [x / 2 for x in a]))), "wait")
    assert (row["wins"], row["losses"]) == (10, 0)
    assert row["p"] == pytest.approx(2 / 2**10)
    assert row["verdict"] == "better"
    assert [flip["item"] for flip in row["won"][:2]] == ["c9/0", "c8/0"]


def test_labels_are_compared_by_their_share(kept: Store) -> None:
    """Of eight, A says yes to 2 and B to 6: four change, all one way, which a coin does 2 of 16 times."""
    a = toys("outcome", *(["yes"] if i < 2 else ["no"] for i in range(8)))
    b = toys("outcome", *(["yes"] if i < 6 else ["no"] for i in range(8)))
    found = compared(kept, keep(kept, a), keep(kept, b))
    row = one(found, "outcome")
    assert (row["rollup"], row["a"], row["b"]) == ("share of yes", 0.25, 0.75)
    assert row["p"] == pytest.approx(stats.binomtest(0, 4).pvalue) == 0.125
    assert row["won"][0] == {"item": "c2/0", "kind": "toy", "a": "no", "b": "yes"}
    assert "too few clusters differ" in row["sentence"] or "too few toys differ" in row["sentence"]
