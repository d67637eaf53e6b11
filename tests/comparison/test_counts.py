"""What has no partner is counted with the reason, Holm's correction is paid, flips are named, slices go worst first."""

from __future__ import annotations

import pytest

from tests.comparison.keeping import Toy, compared, keep, one, toys
from turnwise.kernel.errors import UsageError
from turnwise.store.store import Store


def test_items_without_a_partner_are_counted_with_the_reason(kept: Store) -> None:
    """c0 is scored in both; c1 has no score in B; c2 is missing in B, c3 in A; c4 is scored in neither."""
    a = toys("quality", [0.5], [0.5], [0.5], [], [None])
    b = [toy for toy in toys("quality", [0.6], [None], [0.0], [0.5], [None]) if toy.cluster != "c2"]
    found = compared(kept, keep(kept, a), keep(kept, b))
    row = one(found, "quality")
    assert (row["n_paired"], row["n_only_a"], row["n_only_b"], row["n_neither"]) == (1, 2, 1, 1)
    assert row["why_only_a"] == {"no quality": 1, "no such item": 1}
    assert row["why_only_b"] == {"no such item": 1}
    assert (row["a"], row["b"]) == (0.5, 0.6)
    said = " ".join(found.notes)
    assert "scored in A and not in B: 2 (no quality: 1, no such item: 1)" in said


def test_nothing_scored_on_both_sides_is_no_zero(kept: Store) -> None:
    a, b = toys("quality", [0.5], [None]), toys("quality", [None], [0.5])
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "quality")
    assert (row["a"], row["b"], row["difference"], row["p"], row["verdict"]) == (
        None,
        None,
        None,
        None,
        "cannot be judged",
    )
    assert (row["n_only_a"], row["n_only_b"]) == (1, 1)


def test_the_order_of_the_data_does_not_matter(kept: Store) -> None:
    a, b = toys("quality", [0.1, 0.2], [0.3], [0.9]), toys("quality", [0.4, 0.3], [0.6], [0.8])
    first = one(compared(kept, keep(kept, a), keep(kept, b)), "quality")
    second = one(compared(kept, keep(kept, a), keep(kept, b[::-1])), "quality")
    for name in ("a", "b", "difference", "low", "high", "p", "wins", "losses"):
        assert second[name] == pytest.approx(first[name])


def test_holm_is_paid_over_all_metrics_shown(kept: Store) -> None:
    """Quality: 8 of 8 better, p = 2/2^8. Recall: 3 of 3 changes better, p = 2/2^3. Twice the first, once the second."""
    a = [Toy(f"t{i}", f"t{i}", {"quality": 0.1 * i, "recall": 0.0}) for i in range(8)]
    b = [Toy(f"t{i}", f"t{i}", {"quality": 0.1 * i + 0.3 + 0.01 * i, "recall": float(i < 3)}) for i in range(8)]
    found = compared(kept, keep(kept, a), keep(kept, b))
    quality, recall = one(found, "quality"), one(found, "recall")
    assert (quality["p"], recall["p"]) == pytest.approx((2 / 256, 0.25))
    assert (quality["p_holm"], recall["p_holm"]) == pytest.approx((4 / 256, 0.25))
    assert quality["tests"] == 2
    alone = one(compared(kept, keep(kept, a), keep(kept, b), metrics=["quality"]), "quality")
    assert alone["p_holm"] == alone["p"]
    assert found.verdict == "Of 2: B is better in 1 (quality); no difference shown in 1."


def test_what_would_do_alone_is_said(kept: Store) -> None:
    """Six better of six: p = 2/64 = 0.03; with a second metric that changed nowhere it is twice that."""
    a = [Toy(f"t{i}", f"t{i}", {"quality": 0.1 * i, "recall": 1.0}) for i in range(6)]
    b = [Toy(f"t{i}", f"t{i}", {"quality": 0.2 * i + 0.1, "recall": 1.0}) for i in range(6)]
    found = compared(kept, keep(kept, a), keep(kept, b))
    assert one(found, "quality")["sentence"] == "no difference shown (p = 0.031 would do alone, but 2 were tested)"


def test_flips_come_worst_first(kept: Store) -> None:
    a, b = toys("quality", [0.9], [0.5], [0.2], [0.4]), toys("quality", [0.1], [0.4], [0.9], [0.4])
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "quality")
    assert [(flip["item"], flip["a"], flip["b"]) for flip in row["lost"]] == [("c0/0", 0.9, 0.1), ("c1/0", 0.5, 0.4)]
    assert [flip["item"] for flip in row["won"]] == ["c2/0"]
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 2)


def test_slices_go_from_the_worst_for_b_to_the_best_and_pay_for_all_of_them(kept: Store) -> None:
    def records(values: dict[str, list[float]]) -> list[Toy]:
        rows = [(town, i, v) for town, own in values.items() for i, v in enumerate(own)]
        return [Toy(f"{town}{i}", f"{town}{i}", {"quality": v, "recall": v}, {"town": town}) for town, i, v in rows]

    a = records({"york": [0.2, 0.4, 0.6], "leeds": [0.5, 0.7, 0.9], "hull": [0.1, 0.1, 0.1]})
    b = records({"york": [0.3, 0.6, 0.9], "leeds": [0.4, 0.5, 0.6], "hull": [0.1, 0.1, 0.1]})
    found = compared(kept, keep(kept, a), keep(kept, b), by=[("town",)])
    rows = [row for row in found if row["group"] and row["metric"] == "quality"]
    assert [row["group"]["town"] for row in rows] == ["leeds", "hull", "york"]
    assert [row["difference"] for row in rows] == pytest.approx([-0.2, 0.0, 0.2])
    assert {row["tests"] for row in rows} == {6}  # three towns, two metrics
    assert rows[0]["p"] == 0.25  # three of three worse
    assert rows[0]["p_holm"] == 1.0  # 6 x 0.25, at most 1
    assert {row["tests"] for row in found if not row["group"]} == {2}


def test_an_item_in_another_slice_in_b_is_left_out_of_both(kept: Store) -> None:
    def records(towns: str, value: float) -> list[Toy]:
        return [Toy(f"t{i}", f"t{i}", {"quality": value + i}, {"town": town}) for i, town in enumerate(towns)]

    found = compared(kept, keep(kept, records("yyl", 0.0)), keep(kept, records("yll", 0.5)), by=[("town",)])
    york, leeds = one(found, "quality", town="y"), one(found, "quality", town="l")
    assert (york["n_paired"], york["n_only_a"], york["n_only_b"]) == (1, 1, 0)
    assert (leeds["n_paired"], leeds["n_only_a"], leeds["n_only_b"]) == (1, 0, 1)
    assert (york["a"], york["b"], leeds["a"]) == (0.0, 0.5, 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["qualty"]}, "did you mean quality"),
        ({"metrics": ["quality.mood"]}, "--metric quality.mood"),
        ({"rollup": "micr"}, "no chosen metric has a roll-up 'micr'"),
        ({"by": [("twon",)]}, "no item has that dimension"),
        ({"by": [("component",)]}, "no item has that dimension"),
    ],
)
def test_wrong_options_are_named(kept: Store, options: dict[str, object], message: str) -> None:
    run = keep(kept, toys("quality", [0.1], [0.2], town="york"))
    with pytest.raises(UsageError, match=message):
        compared(kept, run, run, **options)


def test_how_many_more_it_would_take(kept: Store) -> None:
    """Differences -1, 0, 1, 2, each twice: mean 0.5, squares 10 in sum, so sd sqrt(10/7), error sd / sqrt(8).

    What it takes is the next K at which (t + t) error is 0.5.
    """
    from scipy import stats

    a = toys("quality", *([0.0] for _ in range(8)))
    b = toys("quality", *([float(x)] for x in (-1, 0, 1, 2, -1, 0, 1, 2)))
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "quality")
    sd = (10 / 7) ** 0.5
    assert row["detectable"] == pytest.approx((stats.t.ppf(0.975, 7) + stats.t.ppf(0.8, 7)) * sd / 8**0.5, rel=1e-5)

    def reach(k: int) -> float:
        df = 7 * k / 8
        return float(stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * sd / k**0.5

    enough = next(k for k in range(8, 1000) if reach(k) <= 0.5)
    assert row["needed"]["more_clusters"] == enough - 8
    assert row["sentence"] == f"no difference shown (it would take about {enough - 8} more toys)"
