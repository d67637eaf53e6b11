"""Unpaired comparisons: arithmetic in sight, scipy's permutation_test with Welch's t, Newcombe's intervals."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from turnwise.stats.intervals import Interval
from turnwise.stats.unpaired import mover, unpaired_difference, unpaired_test

FloatArray = npt.NDArray[np.float64]


def ratio(s: FloatArray) -> FloatArray:
    return np.asarray(s[..., 0] / s[..., 1], dtype=np.float64)


def means(values: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> FloatArray:
    sums = np.asarray(values, dtype=np.float64)
    n = np.ones_like(sums) if sizes is None else np.asarray(sizes, dtype=np.float64)
    return np.column_stack([sums, n])


def welch(x: FloatArray, y: FloatArray, axis: int) -> FloatArray:
    gap = np.mean(y, axis=axis) - np.mean(x, axis=axis)
    squares = np.var(x, axis=axis, ddof=1) / x.shape[axis] + np.var(y, axis=axis, ddof=1) / y.shape[axis]
    return np.asarray(gap / np.sqrt(squares))


def scaled(values: FloatArray, mean: float, spread: float) -> FloatArray:
    """The values moved to have exactly this mean and standard deviation."""
    return np.asarray(mean + spread * (values - values.mean()) / values.std(ddof=1))


# --- p-values -----------------------------------------------------------------------------------------------


def test_two_and_two_by_hand() -> None:
    # 0, 1 against 10, 11: of the six deals only {0, 1} and {10, 11} separate as much.
    found = unpaired_test(means([0, 1]), means([10, 11]), ratio)
    assert found.p == pytest.approx(2 / 6)
    assert found.smallest == pytest.approx(2 / 6)
    assert found.method == "clusters dealt anew, all 6 deals"


@pytest.mark.parametrize("seed", range(4))
def test_all_deals_agree_with_scipy_and_welch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=5), rng.normal(loc=1.0, scale=2.0, size=6)
    theirs = stats.permutation_test(
        (x, y),
        lambda u, v, axis: np.abs(welch(u, v, axis)),
        permutation_type="independent",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert unpaired_test(means(x), means(y), ratio).p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_eight_points_at_45_and_38_sessions_are_not_significant() -> None:
    # Means 0.74 and 0.82 with a spread of 0.20 each: t = 0.08 / (0.20 sqrt(1/45 + 1/38)) = 1.8156 with 81 degrees of
    # freedom at most, p = 0.073; the interval of the difference is 0.08 +- 1.99 * 0.0441 = [-0.008, 0.168].
    rng = np.random.default_rng(2)
    a, b = scaled(rng.normal(size=45), 0.74, 0.20), scaled(rng.normal(size=38), 0.82, 0.20)
    found = unpaired_difference(means(a), means(b), ratio)
    assert found.difference == pytest.approx(0.08)
    assert found.error == pytest.approx(0.20 * sqrt(1 / 45 + 1 / 38))
    # 10,000 draws leave an error of 0.0026, and permutations of these values are not quite Student's t.
    assert found.test.p == pytest.approx(0.073, abs=0.012)
    assert found.interval.low == pytest.approx(-0.008, abs=0.003)
    assert found.interval.high == pytest.approx(0.168, abs=0.003)


def test_clusters_are_dealt_whole() -> None:
    # Ten turns each of two sessions a side: twenty turns a side look convincing, four sessions show nothing.
    a, b = means([2.0, 3.0], [10, 10]), means([7.0, 8.0], [10, 10])
    found = unpaired_difference(a, b, ratio, bounds=(0.0, 1.0))
    assert found.difference == pytest.approx(0.5)
    assert found.test.p == pytest.approx(2 / 6)


def test_sides_that_do_not_vary() -> None:
    apart = unpaired_test(means([0, 0, 0, 0]), means([1, 1, 1, 1]), ratio)
    assert apart.p == pytest.approx(2 / 70)  # C(8, 4) deals, two of which separate them
    alike = unpaired_difference(means([1, 1, 1]), means([1, 1, 1, 1]), ratio, bounds=(0.0, 1.0))
    assert (alike.difference, alike.test.p) == (0.0, 1.0)
    # 3 and 4 of 3 and 4 flawless clusters: 1 - 0.025^(1/3) = 0.707598 and 1 - 0.025^(1/4) = 0.602364 may differ.
    assert alike.interval.low == pytest.approx(-0.602364, abs=1e-6)
    assert alike.interval.high == pytest.approx(0.707598, abs=1e-6)


def test_a_thing_dealt_against_itself() -> None:
    a = means(np.random.default_rng(3).normal(size=30))
    found = unpaired_difference(a, a, ratio)
    assert (found.difference, found.test.p) == (0.0, 1.0)
    assert found.interval.low == pytest.approx(-(found.interval.high or 0.0))


# --- intervals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10: examples (a), (c), (e) and (g).
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_wilson_sides_give_newcombes_interval(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    sides = [stats.binomtest(*one).proportion_ci(method="wilson") for one in (second, first)]
    a, b = (Interval(float(side.low), float(side.high), "Wilson") for side in sides)
    found = mover(second[0] / second[1], a, first[0] / first[1], b, (0.0, 1.0))
    assert found.low == pytest.approx(low, abs=6e-5)
    assert found.high == pytest.approx(high, abs=6e-5)
    assert found.method == "difference of two intervals: Wilson"


def test_correlation_narrows() -> None:
    # Half-widths 3 and 4: 5 unrelated, sqrt(9 + 16 - 2 * 0.5 * 12) = sqrt(13) at 0.5, 1 at 1.
    a, b = Interval(-3.0, 3.0, "x"), Interval(6.0, 14.0, "y")
    for r, half in ((0.0, 5.0), (0.5, sqrt(13)), (1.0, 1.0)):
        found = mover(0.0, a, 10.0, b, correlation=r)
        assert (found.low, found.high) == (pytest.approx(10 - half), pytest.approx(10 + half))
    assert found.method == "difference of two intervals: x (A), y (B)"


# --- nothing to compare -------------------------------------------------------------------------------------


def test_a_single_cluster_on_a_side() -> None:
    found = unpaired_difference(means([1], [2]), means([1, 2, 3], [4, 4, 4]), ratio)
    assert (found.a, found.b, found.difference) == (0.5, 0.5, 0.0)
    assert found.test.p is None
    assert found.test.method == "none: a single cluster (A)"
    assert found.interval == Interval(None, None, "none: a single cluster (A)")
    assert found.error is None


def test_no_cluster_and_nothing_to_divide_by() -> None:
    found = unpaired_difference(np.zeros((0, 2)), means([1, 2]), ratio)
    assert (found.a, found.b, found.difference) == (None, 1.5, None)
    assert found.interval.method == found.test.method == "none: no cluster"
    undefined = unpaired_difference(np.zeros((2, 2)), means([1, 2]), ratio)
    assert undefined.test.method == "none: the value is undefined"
    assert unpaired_test(means([]), means([1, 2]), ratio).method == "none: no cluster (A)"


def test_wrong_shapes_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got \(2, 2\) and \(2, 3\)"):
        unpaired_difference(np.ones((2, 2)), np.ones((2, 3)), ratio)
    with pytest.raises(ValueError, match="must be finite"):
        unpaired_test(means([1, np.inf]), means([1, 2]), ratio)


# --- properties ---------------------------------------------------------------------------------------------


def sides(clusters: int) -> st.SearchStrategy[FloatArray]:
    numbers = arrays(np.float64, (clusters, 2), elements=st.integers(0, 9).map(float))
    return numbers.map(lambda a: np.column_stack([a[:, 0], a[:, 0] + a[:, 1] + 1]))


@settings(max_examples=50, deadline=None)
@given(a=sides(4), b=sides(5))
def test_exchanging_the_sides_turns_the_sign_and_nothing_else(a: FloatArray, b: FloatArray) -> None:
    one, other = (unpaired_difference(x, y, ratio, bounds=(0.0, 1.0)) for x, y in ((a, b), (b, a)))
    assert one.difference is not None
    assert other.difference == pytest.approx(-one.difference)
    assert one.test.p == pytest.approx(other.test.p)
    assert one.test.p is not None
    assert 0 < one.test.p <= 1
    if one.interval.low is not None:
        assert other.interval.high == pytest.approx(-one.interval.low, abs=1e-9)
        assert one.interval.low <= one.difference <= (one.interval.high or 0.0)


def test_the_same_seed_gives_the_same_answer() -> None:
    rng = np.random.default_rng(11)
    a, b = means(rng.normal(size=60)), means(rng.normal(size=70))
    assert unpaired_difference(a, b, ratio, seed=3) == unpaired_difference(a, b, ratio, seed=3)
    assert unpaired_test(a, b, ratio, seed=3) != unpaired_test(a, b, ratio, seed=4)
