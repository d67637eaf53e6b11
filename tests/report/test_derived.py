"""Derived metrics through a real store: per unit, after roll-up, missing inputs, joint resampling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from tests.report.toys import Evaluated, Toy, ToyBatch, When, derived, evaluated, registry_with
from turnwise.kernel.rollup import FloatArray
from turnwise.kernel.score import Score
from turnwise.kernel.selection import select_metrics
from turnwise.store.reading import read_scores
from turnwise.store.store import Store

Inputs = Mapping[str, FloatArray]
AFTER = When.AFTER_ROLLUP


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(":memory:")
    yield made
    made.close()


def f1(x: Inputs) -> FloatArray:
    p, r = x["precision"], x["recall"]
    return np.asarray(2 * p * r / (p + r))


def toys(*numbers: tuple[str, float | None, float | None]) -> list[Toy]:
    """(cluster, precision, recall) each; every cluster has a colour of its own."""
    colour = {"a": "red", "b": "blue", "c": "blue"}
    return [
        Toy(f"{cluster}/{place}", cluster, {"precision": p, "recall": r}, {"colour": colour[cluster]})
        for place, (cluster, p, r) in enumerate(numbers)
    ]


FOUR = toys(("a", 1.0, 1.0), ("a", 0.5, 1.0), ("b", 0.25, 0.75), ("c", 0.5, 0.5))
# f1 per toy: 1; 2*0.5*1/1.5 = 2/3; 2*0.25*0.75/1 = 0.375; 0.5
F1S = [1.0, 2 / 3, 0.375, 0.5]


def test_per_unit_then_rolled_up_like_measured_scores(store: Store) -> None:
    run = evaluated(store, FOUR, derived("f1", f1, "precision", "recall"))
    found = run.one("f1")
    assert found["value"] == pytest.approx(sum(F1S) / 4)
    assert (found["n_scored"], found["n_total"], found["missing"]) == (4, 4, {})
    # dialogues: a = (1 + 2/3)/2, b = 0.375, c = 0.5
    assert run.one("f1", "macro")["value"] == pytest.approx((5 / 6 + 0.375 + 0.5) / 3)
    assert run.one("f1", colour="blue")["value"] == pytest.approx((0.375 + 0.5) / 2)
    assert run.one("f1", colour="red")["value"] == pytest.approx(5 / 6)


def test_after_rollup_the_function_sees_the_rolled_up_inputs(store: Store) -> None:
    run = evaluated(store, FOUR, derived("f1", f1, "precision", "recall", when=AFTER))
    # precision (1 + 0.5 + 0.25 + 0.5)/4 = 0.5625, recall 3.25/4 = 0.8125
    assert run.one("f1")["value"] == pytest.approx(2 * 0.5625 * 0.8125 / (0.5625 + 0.8125))
    # red: 0.75 and 1; blue: 0.375 and 0.625
    assert run.one("f1", colour="red")["value"] == pytest.approx(2 * 0.75 / 1.75)
    assert run.one("f1", colour="blue")["value"] == pytest.approx(2 * 0.375 * 0.625)


def test_the_inputs_are_rolled_up_by_their_own_primary_rollup(store: Store) -> None:
    shots = [Toy("a/0", "a", {"hits": (1, 2), "hits.mood": 3.0}), Toy("b/0", "b", {"hits": (5, 8), "hits.mood": 5.0})]
    made = derived("mixed", lambda x: x["hits"] * x["hits.mood"], "hits", "hits.mood", when=AFTER)
    # hits: (1 + 5) / (2 + 8) = 0.6, not the mean of 0.5 and 0.625; mood: (3 + 5) / 2 = 4
    assert evaluated(store, shots, made).one("mixed")["value"] == pytest.approx(2.4)


def test_a_result_says_how_it_was_made(store: Store) -> None:
    run = evaluated(store, FOUR, derived("f1", f1, "precision", "recall", range=(0.0, 1.0)))
    found = run.one("f1")
    assert found["signature"] == dict(run.selection.signatures)["toys/f1"]
    assert found["signature"].startswith("toys/f1|v1|profile=turnwise|inputs=")
    assert (found["direction"], found["rollup"], found["output"]) == ("higher is better", "micro", "value")


# --- missing ------------------------------------------------------------------------------------------------

GAPS = toys(("a", 1.0, 1.0), ("a", None, 1.0), ("b", 0.5, None), ("c", None, None))


def test_a_missing_input_is_named(store: Store) -> None:
    found = evaluated(store, GAPS, derived("f1", f1, "precision", "recall")).one("f1")
    assert found["value"] == pytest.approx(1.0)
    assert (found["n_scored"], found["n_total"]) == (1, 4)
    # Of two missing inputs the first is named.
    assert found["missing"] == {"missing input: precision": 2, "missing input: recall": 1}


def test_an_input_without_a_row_is_missing_too(store: Store) -> None:
    some = [Toy("a/0", "a", {"precision": 0.5, "recall": 0.5}), Toy("b/0", "b", {"precision": 0.5})]
    found = evaluated(store, some, derived("f1", f1, "precision", "recall")).one("f1")
    assert (found["n_scored"], found["n_total"], found["missing"]) == (1, 2, {"missing input: recall": 1})


def test_an_input_that_was_never_measured_is_named(store: Store) -> None:
    some = [Toy("a/0", "a", {"precision": 0.5}), Toy("b/0", "b", {"precision": 0.5})]
    found = evaluated(store, some, derived("f1", f1, "precision", "recall")).one("f1")
    assert (found["value"], found["missing"]) == (None, {"missing input: recall": 2})
    assert (found["low"], found["high"]) == (None, None)


def test_after_rollup_a_group_without_an_input_names_it(store: Store) -> None:
    some = toys(("a", 1.0, 1.0), ("b", 0.5, None))
    run = evaluated(store, some, derived("f1", f1, "precision", "recall", when=AFTER))
    blue = run.one("f1", colour="blue")
    assert (blue["value"], blue["low"], blue["n_scored"]) == (None, None, 0)
    assert blue["missing"] == {"missing input: recall": 1}
    # All toys: each input over what it has, precision 0.75 and recall 1.
    assert run.one("f1")["value"] == pytest.approx(2 * 0.75 / 1.75)


def test_an_input_without_an_additive_rollup_cannot_be_used_after_rollup(store: Store) -> None:
    some = [Toy("a/0", "a", {"delay": 1.0}), Toy("b/0", "b", {"delay": 3.0})]
    half = lambda x: x["delay"] / 2  # noqa: E731
    found = evaluated(store, some, derived("half", half, "delay", when=AFTER)).one("half")
    assert found["value"] is None
    assert found["missing"] == {"missing input: delay has no additive roll-up": 1}
    # Per unit it can: (0.5 + 1.5) / 2
    assert evaluated(store, some, derived("half", half, "delay")).one("half")["value"] == pytest.approx(1.0)


@pytest.mark.parametrize("when", [When.PER_UNIT, AFTER])
def test_a_value_that_is_not_a_number_is_missing(store: Store, when: When) -> None:
    """Whoever writes a / b need not know about numpy's warnings."""
    none = toys(("a", 0.0, 0.0), ("b", 0.0, 0.0))
    found = evaluated(store, none, derived("f1", f1, "precision", "recall", when=when)).one("f1")
    assert (found["value"], found["n_scored"]) == (None, 0)
    assert list(found["missing"]) == ["the value is not a finite number"]


# --- resampling ---------------------------------------------------------------------------------------------


def many(clusters: int, shift: float | None = None) -> list[Toy]:
    """One to three toys per cluster with random precision; recall is random too, or precision less a shift."""
    rng = np.random.default_rng(7)
    made = []
    for cluster in range(clusters):
        level = rng.uniform(0.2, 0.8)
        for place in range(int(rng.integers(1, 4))):
            p, other = (float(x) for x in np.clip(level + rng.uniform(-0.2, 0.2, size=2), 0, 1))
            numbers = {"precision": p, "recall": other if shift is None else p - shift}
            made.append(Toy(f"{cluster}/{place}", f"c{cluster}", numbers))
    return made


def difference(x: Inputs) -> FloatArray:
    return x["precision"] - x["recall"]


@pytest.mark.parametrize("clusters", [8, 60], ids=["cluster t", "bootstrap"])
def test_the_difference_of_an_input_with_itself_is_zero_and_certain(store: Store, clusters: int) -> None:
    same = derived("nothing", lambda x: x["precision"] - x["precision"], "precision", when=AFTER)
    run = evaluated(store, many(clusters), same)
    found = run.one("nothing")
    assert (found["value"], found["low"], found["high"]) == (0.0, 0.0, 0.0)
    assert run.one("precision")["low"] < run.one("precision")["high"]


@pytest.mark.parametrize("clusters", [8, 60], ids=["cluster t", "bootstrap"])
def test_what_two_inputs_share_does_not_widen_their_difference(store: Store, clusters: int) -> None:
    made = derived("shift", difference, "precision", "recall", when=AFTER)
    found = evaluated(store, many(clusters, shift=0.25), made).one("shift")
    assert (found["value"], found["low"], found["high"]) == pytest.approx((0.25, 0.25, 0.25), abs=1e-9)


@pytest.mark.parametrize("clusters", [8, 60], ids=["cluster t", "bootstrap"])
def test_a_difference_of_means_has_the_interval_of_the_mean_difference(store: Store, clusters: int) -> None:
    """They are the same number, and resampled jointly they vary in the same way."""
    before = derived("before", difference, "precision", "recall")
    after = derived("after", difference, "precision", "recall", when=AFTER)
    run = evaluated(store, many(clusters), before, after)
    one, other = run.one("before"), run.one("after")
    assert one["interval"] == other["interval"]
    assert [other[key] for key in ("value", "low", "high")] == pytest.approx(
        [one[key] for key in ("value", "low", "high")], rel=1e-6
    )
    width = {name: run.one(name)["high"] - run.one(name)["low"] for name in ("precision", "recall", "after")}
    # Independent draws would give the root of the sum of squares.
    assert width["after"] < 0.8 * np.hypot(width["precision"], width["recall"])


# --- derived of derived -------------------------------------------------------------------------------------


def test_per_unit_of_per_unit(store: Store) -> None:
    inner = derived("f1", f1, "precision", "recall")
    outer = derived("gap", lambda x: x["precision"] - x["f1"], "precision", "f1")
    # precision 1, 0.5, 0.25, 0.5 less f1
    expected = (0 + (0.5 - 2 / 3) + (0.25 - 0.375) + 0) / 4
    assert evaluated(store, FOUR, outer, inner).one("gap")["value"] == pytest.approx(expected)


def test_a_gap_deep_down_is_named_by_the_input_that_has_it(store: Store) -> None:
    inner = derived("f1", f1, "precision", "recall")
    outer = derived("gap", lambda x: 1 - x["f1"], "f1")
    found = evaluated(store, GAPS, outer, inner).one("gap")
    assert (found["value"], found["missing"]) == (0.0, {"missing input: f1": 3})


def test_after_rollup_of_per_unit(store: Store) -> None:
    inner = derived("f1", f1, "precision", "recall")
    outer = derived("squared", lambda x: x["f1"] ** 2, "f1", when=AFTER)
    assert evaluated(store, FOUR, outer, inner).one("squared")["value"] == pytest.approx((sum(F1S) / 4) ** 2)


def test_after_rollup_of_after_rollup(store: Store) -> None:
    inner = derived("f1", f1, "precision", "recall", when=AFTER)
    outer = derived("error", lambda x: 1 - x["f1"], "f1", when=AFTER)
    run = evaluated(store, FOUR, outer, inner)
    rolled_up = 2 * 0.5625 * 0.8125 / (0.5625 + 0.8125)
    assert run.one("f1")["value"] == pytest.approx(rolled_up)
    assert run.one("error")["value"] == pytest.approx(1 - rolled_up)
    assert run.one("error", colour="red")["value"] == pytest.approx(1 - 2 * 0.75 / 1.75)


def test_per_unit_of_after_rollup_is_refused(store: Store) -> None:
    """A unit has no value of a metric that exists only after roll-up; a number that looks like one would be wrong."""
    inner = derived("f1", f1, "precision", "recall", when=AFTER)
    outer = derived("error", lambda x: 1 - x["f1"], "f1")
    try:
        found = evaluated(store, FOUR, outer, inner).one("error")
    except Exception as caught:
        assert "f1" in str(caught)  # noqa: PT017
    else:
        assert found["value"] is None
        assert any("f1" in reason for reason in found["missing"])


# --- when read ----------------------------------------------------------------------------------------------


def test_nothing_derived_is_stored_and_a_later_rating_changes_it_at_once(store: Store) -> None:
    run = evaluated(store, GAPS, derived("f1", f1, "precision", "recall"))
    assert {score.metric for score in read_scores(store, run.run)} == {"toys/precision", "toys/recall"}
    (stale,) = (s for s in read_scores(store, run.run) if s.unit.id == "b/2" and s.metric == "toys/recall")
    rated = Score(
        metric=stale.metric,
        unit=stale.unit,
        signature=stale.signature,
        value=0.5,
        statistics=(0.5,),
    )
    assert store.amend(run.run, [rated], by="ann") == 1
    found = run.one("f1")
    # toys a/0 (f1 = 1) and b/2 (precision and recall 0.5: f1 = 0.5)
    assert (found["value"], found["n_scored"]) == (pytest.approx(0.75), 2)
    assert found["missing"] == {"missing input: precision": 2}


def test_repeats_are_matched_with_repeats(store: Store) -> None:
    some = [Toy("a/0", "a", {"precision": [1.0, 0.5], "recall": [1.0, 0.5]}), Toy("b/0", "b", {"precision": [0.5]})]
    found = evaluated(store, some, derived("sum", lambda x: x["precision"] + x["recall"], "precision", "recall"))
    # repeats of a: 2 and 1; b has no recall
    assert found.one("sum")["value"] == pytest.approx(1.5)
    assert found.one("sum")["n_total"] == 3


def blank(batch: ToyBatch) -> ToyBatch:
    """A system that scores 0 in everything."""
    return ToyBatch(batch.index, [replace(toy, numbers=dict.fromkeys(toy.numbers, 0.0)) for toy in batch.toys])


@pytest.mark.parametrize("when", [When.PER_UNIT, AFTER])
def test_a_baseline_has_its_own_derived_value(store: Store, when: When) -> None:
    made = derived("sum", lambda x: x["precision"] + x["recall"], "precision", "recall", when=when)
    selection = select_metrics("toys", ["sum"], registry=registry_with(made))
    run = Evaluated(store, FOUR, selection, blank=blank)
    assert run.one("sum")["value"] == pytest.approx((2.25 + 3.25) / 4)
    assert run.one("sum", variant="blank")["value"] == 0.0
