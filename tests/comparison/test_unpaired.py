"""Where nothing pairs up: versions over different sessions, as a team's own SQL compares them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.comparison.keeping import Toy, compared, keep, one, toys
from turnwise.store.store import Store

NOTE = "unpaired: A and B have no item in common"


def sessions(prefix: str, values: np.ndarray, version: str = "") -> list[Toy]:
    about = {"version": version} if version else {}
    return [Toy(f"{prefix}{i}", f"{prefix}{i}", {"quality": float(v)}, about) for i, v in enumerate(values)]


def exactly(n: int, mean: float, sd: float, seed: int) -> np.ndarray:
    """n numbers with this mean and standard deviation."""
    z = np.random.default_rng(seed).normal(size=n)
    return mean + sd * (z - z.mean()) / z.std(ddof=1)


def test_eight_points_at_45_and_38_sessions_are_not_significant(kept: Store) -> None:
    """The document's numbers: means 0.78 and 0.86; a spread of 0.20 gives t = 0.08 / 0.0441 = 1.82, p about 0.07."""
    a, b = exactly(45, 0.78, 0.20, 1), exactly(38, 0.86, 0.20, 2)
    keep(kept, [*sessions("x", a, "fc26922"), *sessions("y", b, "ee59fe5")])
    found = compared(kept, "version:fc26922", "version:ee59fe5")
    row = one(found, "quality")
    welch = stats.ttest_ind(b, a, equal_var=False)
    assert (row["a"], row["b"], row["difference"]) == pytest.approx((0.78, 0.86, 0.08))
    assert (row["n_a"], row["n_b"], row["n_paired"]) == (45, 38, 0)
    # Dealing clusters anew, studentised, is Welch's test without its assumption of normality.
    assert row["p"] == pytest.approx(welch.pvalue, abs=0.015)
    assert row["p"] > 0.05
    assert row["low"] < 0 < row["high"]
    limits = welch.confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((limits.low, limits.high), abs=0.006)
    assert row["verdict"] == "no difference shown"
    assert "more" in row["sentence"]
    assert found.pairing == "unpaired"
    assert NOTE in found.warnings


def test_all_deals_of_few_clusters_agree_with_scipy(kept: Store) -> None:
    """Four and five sessions: all 126 deals, studentised as Welch does it."""
    a, b = np.array([0.2, 0.5, 0.4, 0.6]), np.array([0.7, 0.9, 0.5, 0.8, 1.0])
    keep(kept, sessions("x", a), version="1")
    keep(kept, sessions("y", b), version="2")
    row = one(compared(kept, "version:1", "version:2"), "quality")

    def welch(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.abs(stats.ttest_ind(x, y, equal_var=False, axis=axis).statistic)

    exact = stats.permutation_test((a, b), welch, n_resamples=np.inf, alternative="greater", vectorized=True)
    assert row["p"] == pytest.approx(exact.pvalue)
    assert row["test"] == "clusters dealt anew, all 126 deals"


def test_clusters_not_items_are_dealt(kept: Store) -> None:
    """Two sessions of ten alike turns each cannot show anything, however many turns there are."""
    a = toys("quality", [0.2] * 10, [0.3] * 10)
    b = [Toy(f"z{t.id}", f"z{t.cluster}", {"quality": t.numbers["quality"] + 0.5}) for t in a]
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "quality")
    assert (row["clusters_a"], row["clusters_b"], row["n_a"]) == (2, 2, 20)
    assert row["p"] >= 1 / 3  # of 6 deals, this one and its mirror are the most extreme


def test_items_of_the_same_name_can_be_taken_for_others(kept: Store) -> None:
    a, b = toys("quality", *([v] for v in (0.1, 0.2, 0.3))), toys("quality", *([v] for v in (0.2, 0.3, 0.4)))
    found = compared(kept, keep(kept, a), keep(kept, b), unpaired=True)
    assert found.pairing == "unpaired"
    assert one(found, "quality")["wins"] is None
    assert found.warnings == ("unpaired: items of the same name were taken for different ones",)


def test_a_sum_over_other_items_is_no_comparison(kept: Store) -> None:
    a, b = toys("wait", [1.0], [2.0]), [Toy("x", "x", {"wait": 5.0}), Toy("y", "y", {"wait": 6.0})]
    row = one(compared(kept, keep(kept, a), keep(kept, b), rollup="total"), "wait", "total")
    assert (row["a"], row["b"], row["p"]) == (3.0, 11.0, None)
    assert "a sum over different items" in row["sentence"]


def test_percentiles_and_labels_and_made_numbers_without_pairs(kept: Store) -> None:
    def side(prefix: str, shift: float) -> list[Toy]:
        def numbers(i: int) -> dict[str, Any]:
            said = "yes" if i + shift > 4 else "no"
            return {"delay": i + shift, "outcome": said, "precision": 0.5, "recall": 0.25 + shift / 16}

        return [Toy(f"{prefix}{i}", f"{prefix}{i}", numbers(i)) for i in range(8)]

    found = compared(kept, keep(kept, side("x", 0.0)), keep(kept, side("y", 4.0)))
    delay, outcome, f1 = (one(found, name) for name in ("delay", "outcome", "f1"))
    assert (delay["a"], delay["b"]) == (3.5, 7.5)  # medians of 0..7 and 4..11
    assert (outcome["a"], outcome["b"]) == (3 / 8, 7 / 8)  # 5, 6, 7 of A; all but 4 of B
    assert (f1["a"], f1["b"]) == pytest.approx((2 * 0.5 * 0.25 / 0.75, 0.5))
    assert not any(row["paired"] for row in (delay, outcome, f1))
    assert all(row["p"] is not None for row in (delay, outcome, f1))


def test_ratings_of_other_items_are_unpaired_beside_what_is_paired(kept: Store) -> None:
    def side(rated: range) -> list[Toy]:
        return [Toy(f"t{i}", f"t{i}", {"recall": 1.0} | ({"quality": 0.1 * i} if i in rated else {})) for i in range(8)]

    found = compared(kept, keep(kept, side(range(4))), keep(kept, side(range(4, 8))))
    assert one(found, "recall")["paired"]
    assert (one(found, "quality")["paired"], one(found, "quality")["n_a"], one(found, "quality")["n_b"]) == (
        False,
        4,
        4,
    )
    assert found.pairing == "partly paired"
    assert found.warnings == ("unpaired: no item has a score on both sides in quality",)


def test_nothing_in_common_and_nothing_scored_is_unpaired_still(kept: Store) -> None:
    found = compared(
        kept, keep(kept, [Toy("x", "x", {"quality": None})]), keep(kept, [Toy("y", "y", {"quality": None})])
    )
    assert found.pairing == "unpaired"
    assert found.verdict == "Of 1: 1 cannot be judged."
