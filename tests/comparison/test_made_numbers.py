"""Numbers that are made after roll-up, and numbers that are no sample: what can be said, and what cannot."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparison.keeping import Toy, all_signs, compared, keep, one, toys
from turnwise.store.store import Store


def records(precision: list[float | None], recall: list[float | None]) -> list[Toy]:
    pairs = enumerate(zip(precision, recall, strict=True))
    return [Toy(f"t{i}", f"t{i}", {"precision": p, "recall": r}, {"town": "ab"[i % 2]}) for i, (p, r) in pairs]


def f1(p: float, r: float) -> float:
    return 2 * p * r / (p + r)


def test_inputs_are_exchanged_together(kept: Store) -> None:
    a = [0.2, 0.4, 0.6, 0.3], [0.5, 0.5, 0.7, 0.9]
    b = [0.7, 0.5, 0.8, 0.6], [0.6, 0.9, 0.8, 0.7]
    row = one(compared(kept, keep(kept, records(*a)), keep(kept, records(*b))), "f1")
    means = [(float(np.mean(side[0])), float(np.mean(side[1]))) for side in (a, b)]
    seen = f1(*means[1]) - f1(*means[0])
    assert (row["a"], row["b"], row["difference"]) == pytest.approx((f1(*means[0]), f1(*means[1]), seen))
    hits = 0
    for signs in all_signs(4):
        first = [np.where(signs > 0, x, y).mean() for x, y in zip(a, b, strict=True)]
        second = [np.where(signs > 0, y, x).mean() for x, y in zip(a, b, strict=True)]
        hits += abs(f1(*second) - f1(*first)) >= abs(seen) - 1e-12
    assert row["p"] == pytest.approx(hits / 16)
    assert row["wins"] is None
    assert row["n_paired"] == 4


def test_made_per_item_it_is_compared_like_any_other(kept: Store) -> None:
    a, b = ([0.5, 1.0], [0.5, 0.5]), ([1.0, 1.0], [0.5, 1.0])
    row = one(compared(kept, keep(kept, records(*a)), keep(kept, records(*b))), "product")
    assert (row["a"], row["b"]) == pytest.approx(((0.25 + 0.5) / 2, (0.5 + 1.0) / 2))
    assert (row["wins"], row["losses"]) == (2, 0)


def test_an_input_that_is_missing_leaves_no_number_and_says_so(kept: Store) -> None:
    a, b = records([0.5, 0.5], [0.5, 0.5]), records([0.5, 0.5], [None, None])
    row = one(compared(kept, keep(kept, a), keep(kept, b)), "f1")
    assert (row["a"], row["b"], row["p"]) == (None, None, None)
    assert "recall: nothing scored on both sides" in row["sentence"]


def test_in_slices_too(kept: Store) -> None:
    a, b = ([0.2, 0.4, 0.6, 0.8], [0.5, 0.5, 0.5, 0.5]), ([0.4, 0.4, 0.8, 0.8], [0.5, 0.5, 0.5, 0.5])
    found = compared(kept, keep(kept, records(*a)), keep(kept, records(*b)), by=[("town",)])
    first, second = one(found, "f1", town="a"), one(found, "f1", town="b")
    assert (first["a"], first["b"]) == pytest.approx((f1(0.4, 0.5), f1(0.6, 0.5)))
    assert second["difference"] == 0.0


def test_averages_that_are_no_sample_have_a_difference_but_no_test(kept: Store) -> None:
    a, b = keep(kept, toys("averaged", [0.2], [0.4])), keep(kept, toys("averaged", [0.3], [0.7]))
    row = one(compared(kept, a, b), "averaged")
    assert (row["difference"], row["low"], row["p"]) == (pytest.approx(0.2), None, None)
    assert row["sentence"] == "cannot be judged: only averages are known"
    assert one(compared(kept, a, a), "averaged")["verdict"] == "same"


def test_a_total_with_a_missing_part_is_no_total(kept: Store) -> None:
    a, b = keep(kept, toys("averaged", [0.2], [0.4])), keep(kept, toys("averaged", [0.3], [None]))
    row = one(compared(kept, a, b), "averaged")
    assert (row["a"], row["b"]) == (None, None)
    assert row["sentence"].startswith("cannot be judged: a part of the total is missing")


@pytest.mark.parametrize("seed", range(4))
def test_the_other_way_round_everything_is_mirrored(kept: Store, seed: int) -> None:
    """A - B is minus B - A with the same p, and wins are losses; for every kind of number."""
    random = np.random.default_rng(seed)

    def side() -> list[Toy]:
        return [
            Toy(
                f"t{i}",
                f"c{i % 5}",
                {
                    "precision": float(random.random()),
                    "recall": float(random.integers(2)),
                    "hits": (float(random.integers(3)), float(random.integers(3, 6))),
                    "delay": float(random.random()),
                    "outcome": str(random.choice(["yes", "no"])),
                },
            )
            for i in range(12)
        ]

    a, b = keep(kept, side()), keep(kept, side())
    there, back = compared(kept, a, b), compared(kept, b, a)
    pairs = [pair for pair in zip(there, back, strict=True) if pair[0]["difference"] is not None]
    assert len(pairs) == 7
    for first, second in pairs:
        assert second["difference"] == pytest.approx(-first["difference"])
        assert (second["low"], second["high"]) == pytest.approx((-first["high"], -first["low"]))
        assert second["p"] == pytest.approx(first["p"])
        assert (second["wins"], second["losses"]) == (first["losses"], first["wins"])
