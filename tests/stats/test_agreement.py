"""Agreement against scikit-learn, the krippendorff package, scipy and published examples; and where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from turnwise.stats import counted
from turnwise.stats.agreement import PairAgreement, Statistic, label_agreement, pair_agreement, rater_agreement

FloatArray = npt.NDArray[np.float64]
NAMES = ("exact", "within_one", "kappa", "weighted_kappa", "alpha", "spearman", "bias", "ceiling", "reference_ceiling")

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units.
FOUR_OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def statistics(found: PairAgreement) -> dict[str, Statistic]:
    return {name: getattr(found, name) for name in NAMES}


def value_of(statistic: Statistic) -> float:
    assert statistic.value is not None
    return statistic.value


def ratings(n: int, seed: int) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    sides = [np.clip(np.round(3.2 + quality + 0.7 * rng.normal(size=n) + shift), 1, 5) for shift in (0.3, 0.0)]
    return sides[0].tolist(), sides[1].tolist()


def with_nan(rows: Sequence[Sequence[float | None]]) -> FloatArray:
    return np.array([[np.nan if x is None else x for x in row] for row in rows])


# --- values -------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    # Pairs (judge, people): (1,1) (2,1) (2,2) (5,3) (5,5).
    found = pair_agreement([1, 2, 2, 5, 5], [1, 1, 2, 3, 5], scale=(1, 5))
    values = {name: statistic.value for name, statistic in statistics(found).items()}
    assert values["exact"] == pytest.approx(3 / 5)
    assert values["within_one"] == pytest.approx(4 / 5)
    assert values["bias"] == pytest.approx((0 + 1 + 0 + 2 + 0) / 5)
    assert values["ceiling"] == pytest.approx(2 / 5)
    assert values["reference_ceiling"] == pytest.approx(1 / 5)
    # Margins: judge 1: 1, 2: 2, 5: 2; people 1: 2, 2: 1, 3: 1, 5: 1. p_e = (1*2 + 2*1 + 2*1) / 25 = 6/25.
    assert values["kappa"] == pytest.approx((3 / 5 - 6 / 25) / (1 - 6 / 25))
    # Squares: judge 1 + 4 + 4 + 25 + 25 = 59, people 1 + 1 + 4 + 9 + 25 = 40; sums 15 and 12.
    # Seen 0 + 1 + 0 + 4 + 0 = 5, expected 59 + 40 - 2 * 15 * 12 / 5 = 27.
    assert values["weighted_kappa"] == pytest.approx(1 - 5 / 27)
    assert found.confusion.categories == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert found.confusion.counts == ((1, 0, 0, 0, 0), (1, 1, 0, 0, 0), (0,) * 5, (0,) * 5, (0, 0, 1, 0, 1))
    assert (found.pairs, found.left_out, found.clusters) == (5, 0, 5)


@pytest.mark.parametrize("seed", range(6))
def test_pairs_agree_with_the_packages(seed: int) -> None:
    x, y = ratings(60, seed)
    found = pair_agreement(x, y, scale=(1, 5))
    labels = [1, 2, 3, 4, 5]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)
    theirs = cohen_kappa_score(x, y, labels=labels, weights="quadratic")
    assert found.weighted_kappa.value == pytest.approx(theirs, abs=1e-12)
    alpha = krippendorff.alpha([x, y], level_of_measurement="ordinal")
    assert found.alpha.value == pytest.approx(alpha, abs=1e-12)
    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.exact.value == pytest.approx(np.mean(np.array(x) == np.array(y)))
    assert found.bias.value == pytest.approx(np.mean(np.array(x) - np.array(y)))
    np.testing.assert_array_equal(found.confusion.counts, confusion_matrix(x, y, labels=labels))


def test_ratings_between_the_points() -> None:
    rng = np.random.default_rng(7)
    x = (1 + 4 * rng.random(80)).round(2)
    y = np.clip(x + rng.normal(scale=0.5, size=80), 1, 5).round(2)
    found = pair_agreement(x.tolist(), y.tolist(), scale=(1, 5))
    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    alpha = krippendorff.alpha([x, y], level_of_measurement="ordinal")
    assert found.alpha.value == pytest.approx(alpha, abs=1e-10)
    assert found.within_one.value == pytest.approx(np.mean(np.abs(x - y) <= 1))


def test_a_category_that_nobody_used_still_counts_as_a_step() -> None:
    # 1 against 5 is four steps apart although no 2, 3 or 4 occurs; kappa over the index of labels would say one.
    x, y = [1, 1, 5, 5, 4], [1, 5, 5, 5, 4]
    theirs = cohen_kappa_score(x, y, labels=[1, 2, 3, 4, 5], weights="quadratic")
    assert pair_agreement(x, y).weighted_kappa.value == pytest.approx(theirs)


def test_krippendorffs_own_example() -> None:
    found = rater_agreement(FOUR_OBSERVERS)
    assert found.alpha.value == pytest.approx(0.815, abs=5e-4)  # published, ordinal
    assert (found.raters, found.items, found.left_out, found.ratings) == (4, 11, 1, 40)


def test_nominal_alpha() -> None:
    names: list[str | None] = ["a", "b", "b", "c", "a", None, "c", "b"]
    other: list[str | None] = ["a", "b", "c", "c", "b", "a", None, "b"]
    found = label_agreement(names, other)
    number = {"a": 0.0, "b": 1.0, "c": 2.0, None: np.nan}
    matrix = [[number[x] for x in side] for side in (names, other)]
    assert found.alpha.value == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="nominal"))
    kept = [(x, y) for x, y in zip(names, other, strict=True) if x is not None and y is not None]
    assert found.kappa.value == pytest.approx(cohen_kappa_score([x for x, _ in kept], [y for _, y in kept]))
    assert (found.pairs, found.left_out) == (6, 2)
    assert found.confusion.categories == ("a", "b", "c")
    assert found.confusion.counts == ((1, 1, 0), (0, 2, 1), (0, 0, 1))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5).flatmap(
        lambda raters: st.lists(
            st.lists(st.sampled_from([None, 1.0, 2.0, 3.0, 4.0, 5.0]), min_size=6, max_size=6),
            min_size=raters,
            max_size=raters,
        )
    )
)
def test_any_pattern_of_missing_ratings_agrees_with_krippendorff(rows: list[list[float | None]]) -> None:
    matrix = with_nan(rows)
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    used = np.unique(pairable[~np.isnan(pairable)])
    found = rater_agreement(rows, resamples=50)
    if len(used) < 2:
        assert found.alpha.value is None
        assert found.alpha.reason
        return
    theirs = krippendorff.alpha(matrix, level_of_measurement="ordinal")
    assert found.alpha.value == pytest.approx(theirs, abs=1e-9)


def test_several_raters_have_the_mean_of_their_kappas() -> None:
    x, y = ratings(40, 1)
    z, _ = ratings(40, 2)
    rows: list[list[float | None]] = [list(x), list(y), [None] * 20 + z[20:]]
    found = rater_agreement(rows, scale=(1, 5))
    labels = [1, 2, 3, 4, 5]
    kappas = [
        cohen_kappa_score(x, y, labels=labels, weights="quadratic"),
        cohen_kappa_score(x[20:], z[20:], labels=labels, weights="quadratic"),
        cohen_kappa_score(y[20:], z[20:], labels=labels, weights="quadratic"),
    ]
    assert found.weighted_kappa.value == pytest.approx(np.mean(kappas))
    two = rater_agreement([x, y], scale=(1, 5))
    assert two.weighted_kappa.value == pytest.approx(value_of(pair_agreement(x, y).weighted_kappa))
    assert two.alpha.value == pytest.approx(value_of(pair_agreement(x, y).alpha))


# --- intervals ----------------------------------------------------------------------------------------------


def test_intervals_contain_the_value_and_stay_in_range() -> None:
    for n in (6, 30, 120):
        x, y = ratings(n, n)
        for name, statistic in statistics(pair_agreement(x, y, scale=(1, 5))).items():
            low, high = statistic.interval.low, statistic.interval.high
            assert low is not None, (name, n)
            assert high is not None
            assert low <= value_of(statistic) <= high
            assert low >= -4.0
            assert high <= (4.0 if name == "bias" else 1.0)


def test_many_items_are_resampled_as_scipy_does() -> None:
    x, y = ratings(400, 3)
    found = pair_agreement(x, y, scale=(1, 5)).weighted_kappa.interval

    def kappa(u: FloatArray, v: FloatArray) -> float:
        return float(1 - ((u - v) ** 2).sum() / ((u**2).sum() + (v**2).sum() - 2 * u.sum() * v.sum() / len(u)))

    theirs = stats.bootstrap(
        (x, y), kappa, paired=True, vectorized=False, n_resamples=2000, method="BCa", rng=1
    ).confidence_interval
    assert found.method == "cluster bootstrap, 1000 resamples"
    half = (theirs.high - theirs.low) / 2
    assert found.low == pytest.approx(theirs.low, abs=0.2 * half)
    assert found.high == pytest.approx(theirs.high, abs=0.2 * half)


def test_items_of_one_conversation_are_not_independent() -> None:
    x, y = ratings(40, 5)
    # Every item four times over, in one cluster: no more is known than from 40 items.
    alone = pair_agreement(x, y, scale=(1, 5)).exact.interval
    copies = [i for i in range(40) for _ in range(4)]
    many = pair_agreement([x[i] for i in copies], [y[i] for i in copies], copies, scale=(1, 5))
    assert many.clusters == 40
    assert many.exact.interval.low == pytest.approx(alone.low)
    assert many.exact.interval.high == pytest.approx(alone.high)


def test_perfect_agreement_is_not_certainty() -> None:
    # Ten of ten alike: 0.025^(1/10) = 0.691503 at least, and for kappa, whose range is twice as wide, 0.383.
    x = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    found = pair_agreement(x, x, scale=(1, 5))
    assert (found.exact.value, found.kappa.value, found.alpha.value, found.bias.value) == (1.0, 1.0, 1.0, 0.0)
    assert found.exact.interval.low == pytest.approx(0.691503, abs=1e-6)
    assert found.kappa.interval.low == pytest.approx(2 * 0.691503 - 1, abs=1e-6)


def test_too_many_different_ratings_have_a_value_and_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "MOST_COUNTS", 100)
    x, y = ratings(50, 6)
    found = pair_agreement(x, y).kappa
    assert found.value == pytest.approx(cohen_kappa_score(x, y))
    assert found.interval.method == "none: too many different ratings; round them to fewer"


# --- where there is no agreement to speak of ----------------------------------------------------------------


@pytest.mark.parametrize("pairs", [0, 3])
def test_no_pairs(pairs: int) -> None:
    found = pair_agreement([None] * pairs, [3.0] * pairs, scale=(1, 5))
    assert (found.pairs, found.left_out, found.clusters) == (0, pairs, 0)
    for statistic in statistics(found).values():
        assert statistic.value is None
        assert statistic.reason == "no item has two ratings"
        assert statistic.interval.low is None


def test_one_category_only() -> None:
    found = pair_agreement([4] * 8, [4] * 8, scale=(1, 5))
    assert found.exact.value == 1.0
    for statistic in (found.kappa, found.weighted_kappa, found.alpha):
        assert statistic.value is None
        assert statistic.reason == "all ratings are the same, so there is no disagreement to expect"
    assert found.spearman.reason == "one side gave the same rating to all items, so there is no order to compare"


def test_one_side_is_constant() -> None:
    found = pair_agreement([5] * 6, [1, 2, 3, 4, 5, 5], scale=(1, 5))
    assert found.spearman.value is None
    # As likely as chance: kappa is 0.
    assert found.kappa.value == pytest.approx(0.0)
    assert found.weighted_kappa.value == pytest.approx(0.0)


def test_no_scale_no_ceiling() -> None:
    found = pair_agreement([1, 2], [2, 2])
    assert found.ceiling.value is None
    assert found.ceiling.reason == "the ends of the scale are not known"


def test_a_single_cluster_has_values_and_no_interval() -> None:
    found = pair_agreement([1, 2, 3], [1, 3, 3], ["session"] * 3, scale=(1, 5))
    assert found.exact.value == pytest.approx(2 / 3)
    assert found.exact.interval.method == "none: a single cluster"


def test_too_few_raters() -> None:
    for rows in ([], [[1.0, 2.0]], [[1.0, None], [None, 2.0]]):
        found = rater_agreement(rows)
        assert (found.alpha.value, found.weighted_kappa.value, found.items) == (None, None, 0)
        assert found.alpha.reason == found.weighted_kappa.reason == "no item has two ratings"
    labels = label_agreement([], [])
    assert labels.kappa.reason == "no item has two ratings"


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rating 6.0 of item 1 is outside the scale 1 to 5"):
        pair_agreement([1, 6], [1, 2], scale=(1, 5))
    with pytest.raises(ValueError, match="got 2 and 1"):
        pair_agreement([1, 2], [1])
    with pytest.raises(ValueError, match="got 1 for 2"):
        pair_agreement([1, 2], [1, 2], ["a"])
    with pytest.raises(ValueError, match=r"got \[2, 1\]"):
        rater_agreement([[1, 2], [1]])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_order_and_sides_do_not_matter(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    assume(len(set(x)) > 1)
    one = pair_agreement(x, y, scale=(1, 5), resamples=50)
    turned = pair_agreement(y[::-1], x[::-1], scale=(1, 5), resamples=50)
    for name in ("exact", "within_one", "kappa", "weighted_kappa", "alpha", "spearman"):
        mine, theirs = statistics(one)[name].value, statistics(turned)[name].value
        assert mine == (None if theirs is None else pytest.approx(theirs, abs=1e-9))
