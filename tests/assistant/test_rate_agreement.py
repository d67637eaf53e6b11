"""Do the raters of a run agree? Against scikit-learn and the krippendorff package."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.assistant.rating_runs import SCALES, document_turn, kept_run, rate
from turnwise.assistant.rating import find_turn, keep_answers, rateable_run
from turnwise.assistant.rating_agreement import agreement_by_scale
from turnwise.store.store import Store

FIRST = (4, 5, 5, 4, 2, 1, 3, 4, 4, 5, 2, 3)
SECOND = (4, 4, 5, 3, 2, 2, 3, 5, 4, 5, 1, 3)
THIRD = (5, None, 4, None, 3, 1, None, 4, 3, None, 2, 4)


@pytest.fixture
def rated(sqlite_path: str) -> tuple[str, str]:
    """Twelve turns of four sessions: `empathy` rated by two, `clarity` by three, of whom one left some out."""
    names = [(f"s{place // 3}", place % 3 + 1) for place in range(12)]
    run = kept_run(sqlite_path, [document_turn(session, turn) for session, turn in names])
    store = Store(sqlite_path)
    for (session, turn), one, two, three in zip(names, FIRST, SECOND, THIRD, strict=True):
        place = f"{session}#{turn}"
        rate(store, run, place, "one", empathy=one, clarity=one)
        rate(store, run, place, "two", empathy=two, clarity=two)
        if three is not None:
            rate(store, run, place, "three", clarity=three)
    rate(store, run, "s0#1", "one", compliance=3)
    keep_answers(
        store,
        rateable_run(store, run),
        find_turn(store, rateable_run(store, run), "s0#1"),
        {"compliance": "cannot say"},
        "two",
    )
    store.close()
    return sqlite_path, run


def test_two_and_three_raters(rated: tuple[str, str]) -> None:
    store = Store(rated[0])
    found = {one.scale: one for one in agreement_by_scale(store, rateable_run(store, rated[1]))}
    store.close()
    assert tuple(found) == SCALES
    two, three = found["empathy"].found, found["clarity"].found
    table = np.array([FIRST, SECOND, [np.nan if x is None else x for x in THIRD]], dtype=float)

    def kappa(a: int, b: int) -> float:
        both = ~np.isnan(table[a]) & ~np.isnan(table[b])
        x, y = (table[i, both].astype(int) for i in (a, b))
        return float(cohen_kappa_score(x, y, weights="quadratic", labels=[1, 2, 3, 4, 5]))

    def alpha(ratings: np.ndarray) -> float:  # type: ignore[type-arg]
        return float(krippendorff.alpha(ratings, value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal"))

    assert (two.raters, two.items, two.clusters) == (2, 12, 4)
    assert two.weighted_kappa.value == pytest.approx(kappa(0, 1))
    assert two.alpha.value == pytest.approx(alpha(table[:2]))
    assert found["clarity"].raters == ("one", "three", "two")
    assert (three.raters, three.ratings) == (3, 32)
    assert three.weighted_kappa.value == pytest.approx((kappa(0, 1) + kappa(0, 2) + kappa(1, 2)) / 3)
    assert three.alpha.value == pytest.approx(alpha(table))
    for statistic in (two.weighted_kappa, two.alpha, three.weighted_kappa, three.alpha):
        low, high = statistic.interval.low, statistic.interval.high
        assert statistic.value is not None
        assert low is not None
        assert high is not None
        assert -1 <= low < statistic.value < high <= 1


def test_what_one_person_rated_says_nothing(rated: tuple[str, str]) -> None:
    """Nobody rated professionalism; one rater gave a score for compliance, the other could not tell."""
    store = Store(rated[0])
    found = {one.scale: one.as_json() for one in agreement_by_scale(store, rateable_run(store, rated[1]))}
    store.close()
    for scale, raters, alone in (("professionalism", [], 0), ("compliance", ["one"], 1)):
        one = found[scale]
        assert (one["raters"], one["turns"], one["turns_with_one_rater"]) == (raters, 0, alone)
        assert one["alpha"] == one["weighted_kappa"]
        assert (one["alpha"]["value"], one["alpha"]["reason"]) == (None, "no item has two ratings")
