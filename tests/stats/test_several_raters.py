"""Raters who give names, and one rater with each of several others: against scikit-learn and krippendorff."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from turnwise.stats.agreement import (
    kappa_with_each,
    label_agreement,
    label_kappa_with_each,
    label_rater_agreement,
    rater_agreement,
)

Labels = list[str | None]
POINTS = [1, 2, 3, 4, 5]


def names(n: int, seed: int, noise: float = 0.3) -> list[Labels]:
    """Three raters who see the same label and mistake some; the third leaves out every fourth item."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, size=n)
    rows: list[Labels] = []
    for _ in range(3):
        seen = np.where(rng.random(n) < noise, rng.integers(0, 3, size=n), true)
        rows.append(["abc"[i] for i in seen])
    rows[2] = [None if i % 4 == 0 else label for i, label in enumerate(rows[2])]
    return rows


def ratings(n: int, seed: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return [np.clip(np.round(3.2 + quality + 0.7 * rng.normal(size=n)), 1, 5).tolist() for _ in range(3)]


def kappa_of(first: Labels, second: Labels) -> float:
    both = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    return float(cohen_kappa_score([x for x, _ in both], [y for _, y in both]))


@pytest.mark.parametrize("seed", range(4))
def test_raters_who_give_names(seed: int) -> None:
    rows = names(60, seed)
    found = label_rater_agreement(rows)
    number = {"a": 0.0, "b": 1.0, "c": 2.0, None: np.nan}
    matrix = [[number[label] for label in row] for row in rows]
    assert found.alpha.value == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="nominal"), abs=1e-12)
    theirs = [kappa_of(rows[0], rows[1]), kappa_of(rows[0], rows[2]), kappa_of(rows[1], rows[2])]
    assert found.kappa.value == pytest.approx(np.mean(theirs), abs=1e-12)
    # 60 items, of which the third rater left out every fourth: 15.
    assert (found.raters, found.items, found.left_out, found.ratings) == (3, 60, 0, 60 + 60 + 45)


@pytest.mark.parametrize("seed", range(4))
def test_one_with_each_is_the_mean_of_their_kappas(seed: int) -> None:
    judge, *people = ratings(50, seed)
    found = kappa_with_each(judge, people, scale=(1, 5))
    theirs = [cohen_kappa_score(judge, row, labels=POINTS, weights="quadratic") for row in people]
    assert found.value == pytest.approx(np.mean(theirs), abs=1e-12)
    first, *others = names(50, seed)
    assert label_kappa_with_each(first, others).value == pytest.approx(
        np.mean([kappa_of(first, other) for other in others]), abs=1e-12
    )


def test_two_raters_are_a_pair() -> None:
    first, second, _ = names(30, 7)
    pair, raters = label_agreement(first, second), label_rater_agreement([first, second])
    assert raters.kappa == pair.kappa
    assert raters.alpha == pair.alpha
    one, other, _ = ratings(30, 7)
    assert kappa_with_each(one, [other]).value == pytest.approx(rater_agreement([one, other]).weighted_kappa.value)


def test_intervals_are_those_of_a_bootstrap_over_items() -> None:
    first, second, _ = names(400, 3)
    found = label_kappa_with_each(first, [second]).interval
    codes = [np.array(["abc".index(str(label)) for label in row]) for row in (first, second)]

    def kappa(x: np.ndarray, y: np.ndarray) -> float:
        return float(cohen_kappa_score(x, y))

    theirs = stats.bootstrap(
        codes, kappa, paired=True, vectorized=False, n_resamples=500, method="percentile", rng=1
    ).confidence_interval
    half = (theirs.high - theirs.low) / 2
    assert found.low == pytest.approx(theirs.low, abs=0.25 * half)
    assert found.high == pytest.approx(theirs.high, abs=0.25 * half)
    assert found == label_kappa_with_each(first, [second]).interval


def test_where_there_is_nothing_to_compare() -> None:
    nothing = "no item has two ratings"
    assert kappa_with_each([1.0, None], []).reason == nothing
    assert kappa_with_each([1.0, None], [[None, 2.0]]).reason == nothing
    assert label_kappa_with_each(["a", None], [[None, "b"]]).reason == nothing
    assert label_rater_agreement([]).kappa.reason == nothing
    same = "all ratings are the same, so there is no disagreement to expect"
    assert kappa_with_each([4.0, 4.0], [[4.0, 4.0]]).reason == same
    assert label_rater_agreement([["a", "a"], ["a", "a"]]).kappa.reason == same
    with pytest.raises(ValueError, match=r"got \[2, 1\]"):
        label_rater_agreement([["a", "b"], ["a"]])
    with pytest.raises(ValueError, match="outside the scale 1 to 5"):
        kappa_with_each([9.0], [[1.0]], scale=(1, 5))
