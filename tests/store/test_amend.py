"""Amending: ratings that arrive after the run, the history of what they replaced, and roll-ups made anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from turnwise.kernel.errors import UsageError
from turnwise.kernel.metric import Metric, MetricSpec, Output
from turnwise.kernel.rollup import MEAN, Rollup, share
from turnwise.kernel.score import Score, Source, Status, Unit
from turnwise.report.summary import stored_or_new, summarise
from turnwise.store.reading import read_scores
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store

Begin = Callable[..., Run]
MakeBatch = Callable[..., BatchRows]


class Tone(Metric):
    """Only people score it."""

    spec: ClassVar[MetricSpec] = MetricSpec(
        room="dialogue",
        name="tone",
        version=1,
        question="How did it sound?",
        unit="exchange",
        outputs=(
            Output(range=(1.0, 5.0), rollups=(MEAN,)),
            Output("manner", (), rollups=(Rollup("polite", (share("polite"),), primary=True),)),
        ),
    )


@pytest.fixture
def run(store: Store, begin_run: Begin, make_batch: MakeBatch, register_metric: Callable[[Any], Any]) -> Run:
    """Slot accuracies of d0/0 to d0/2 are 1, 0 and 1, of d1/0 it is 0."""
    register_metric(Tone)
    begun = begin_run(store, config={"metrics": ["slot_accuracy", "tone"], "by": [], "resamples": 1000})
    store.write_batch(begun, make_batch(0, [1.0, 0.0, 1.0]))
    store.write_batch(begun, make_batch(1, [0.0]))
    return store.end(begun, "finished")


def accuracy(place: str, value: float) -> Score:
    unit = Unit(place, place.partition("/")[0], {"domain": "hotel"}, "exchange")
    return Score(
        metric="dialogue/slot_accuracy",
        unit=unit,
        signature="dialogue/slot_accuracy|v1",
        value=value,
        statistics=(value, 1.0),
    )


def rating(place: str, value: float | None, rater: str, **changes: Any) -> Score:
    """What a person said; nothing with a reason where they could not tell."""
    unit = Unit(place, place.partition("/")[0], {"domain": "hotel"}, "exchange")
    score = Score(
        metric="dialogue/tone", unit=unit, signature="dialogue/tone|v1", value=1.0, source=Source.HUMAN, rater=rater
    )
    if value is None:
        return replace(score, value=None, status=Status.SKIPPED, reason="could not tell", **changes)
    return replace(score, value=value, statistics=(value,), **changes)


def results(store: Store, run: Run, metric: str) -> dict[str, dict[str, Any]]:
    """The results of a metric by roll-up."""
    return {r["rollup"]: r for r in stored_or_new(store, run) if r["metric"] == metric}


# One score


def test_a_new_rating_is_added(store: Store, run: Run) -> None:
    before = datetime.now(UTC)
    assert store.amend(run, [rating("d0/1", 4.0, "anna", evidence={"note": "kurz"})], by="anna") == 0
    assert store.history(run) == []
    found = [score for score in read_scores(store, run) if score.metric == "dialogue/tone"]
    assert found == [rating("d0/1", 4.0, "anna", evidence={"note": "kurz"})]
    assert timedelta(0) <= datetime.fromisoformat(store.run(run.id).updated) - before + timedelta(milliseconds=1)


def test_a_changed_rating_leaves_the_old_one_in_the_history(store: Store, run: Run) -> None:
    store.amend(run, [rating("d0/1", 4.0, "anna"), rating("d0/1", 3.0, "ben")], by="import")
    before = datetime.now(UTC).isoformat(timespec="milliseconds")
    assert store.amend(run, [rating("d0/1", 2.0, "anna")], by="carol") == 1
    assert store.amend(run, [rating("d0/1", None, "anna")], by="dan") == 1
    first, second = store.history(run)
    assert (first["value"], first["rater"], first["source"], first["changed_by"]) == (4.0, "anna", "human", "carol")
    assert (second["value"], second["rater"], second["changed_by"]) == (2.0, "anna", "dan")
    assert first["rated"] <= before <= first["changed"] == second["rated"] <= second["changed"]
    now = {s.rater: (s.value, s.reason) for s in read_scores(store, run) if s.metric == "dialogue/tone"}
    assert now == {"anna": (None, "could not tell"), "ben": (3.0, None)}


def test_a_computed_score_can_be_corrected(store: Store, run: Run) -> None:
    assert store.amend(run, [accuracy("d1/0", 1.0)], by="carol") == 1
    (old,) = store.history(run)
    assert (old["value"], old["statistics"], old["source"], old["rated"]) == (0.0, "[0.0,1]", "code", None)
    values = {s.unit.id: s.value for s in read_scores(store, run)}
    assert values == {"d0/0": 1.0, "d0/1": 0.0, "d0/2": 1.0, "d1/0": 1.0}


def test_a_metric_that_the_run_did_not_have_gets_a_number(store: Store, run: Run) -> None:
    store.amend(run, [replace(rating("d0/0", 1.0, "anna"), metric="dialogue/warmth", signature="s")], by="anna")
    assert [(m.number, m.name) for m in store.metrics(run)] == [
        (0, "dialogue/slot_accuracy"),
        (1, "dialogue/tone"),
        (2, "dialogue/warmth"),
    ]


def test_nothing_is_changed_when_one_item_is_unknown(store: Store, run: Run) -> None:
    stored = stored_or_new(store, run)
    with pytest.raises(UsageError, match="has no exchange 'd9/0'"):
        store.amend(run, [accuracy("d1/0", 1.0), accuracy("d9/0", 1.0)], by="carol")
    assert store.history(run) == []
    assert [s.value for s in read_scores(store, run)] == [1.0, 0.0, 1.0, 0.0]
    assert store.rollups(run) == stored


# Roll-ups


def test_an_amendment_drops_the_rollups_and_they_are_made_anew(store: Store, run: Run) -> None:
    found = results(store, run, "slot_accuracy")
    # micro: 2 of 4 items; macro: the mean of 2/3 and 0
    assert (found["micro"]["value"], found["macro"]["value"]) == (0.5, pytest.approx(1 / 3))
    assert store.rollups(run) == stored_or_new(store, run)
    store.amend(run, [accuracy("d1/0", 1.0)], by="carol")
    assert store.rollups(run) == []
    found = results(store, run, "slot_accuracy")
    # micro: 3 of 4 items; macro: the mean of 2/3 and 1
    assert (found["micro"]["value"], found["macro"]["value"]) == (0.75, pytest.approx(5 / 6))
    assert [r["value"] for r in store.rollups(run)] == [r["value"] for r in stored_or_new(store, run)]


def test_rollups_made_anew_use_the_resamples_of_the_run(store: Store, begin_run: Begin, make_batch: MakeBatch) -> None:
    run = begin_run(store, config={"metrics": ["slot_accuracy"], "by": [], "resamples": 150})
    for index in range(60):  # so many clusters are resampled (docs/intervals.md)
        store.write_batch(run, make_batch(index, [index * 31 % 60 / 60]))
    before = summarise(store, run, resamples=150)
    assert before[0]["interval"] == "cluster bootstrap, 150 resamples"
    store.save_rollups(run, before)
    store.amend(run, [accuracy("d0/0", 0.0)], by="carol")  # what it was
    assert stored_or_new(store, run) == before


def test_the_rollups_of_an_unfinished_run_do_not_outlive_its_next_batch(
    store: Store, begin_run: Begin, make_batch: MakeBatch
) -> None:
    """`turnwise show` while a run goes on: the second look must see what was measured in between."""
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [1.0, 0.0]))
    assert results(store, run, "slot_accuracy")["micro"]["n_scored"] == 2
    store.write_batch(run, make_batch(1, [0.0]))
    assert results(store, run, "slot_accuracy")["micro"]["n_scored"] == 3


def test_rollups_are_replaced_as_a_whole(store: Store, run: Run) -> None:
    store.save_rollups(run, [{"value": 1.5, "group": {"domain": "hôtel"}}, {"value": None}])
    assert store.rollups(run) == [{"value": 1.5, "group": {"domain": "hôtel"}}, {"value": None}]
    store.save_rollups(run, [{"value": 2}])
    assert store.rollups(run) == [{"value": 2}]


# Several raters


def test_raters_are_averaged_per_item_first(store: Store, run: Run) -> None:
    store.amend(run, [rating("d0/0", 4.0, "anna"), rating("d0/0", 2.0, "ben"), rating("d1/0", 5.0, "anna")], by="x")
    found = results(store, run, "tone")["mean"]
    # d0/0: (4 + 2) / 2 = 3; d1/0: 5; their mean is 4, where the mean of the ratings would be 11/3
    assert (found["value"], found["n_scored"], found["n_total"]) == (4.0, 2, 2)


def test_a_rater_who_could_not_tell_does_not_count(store: Store, run: Run) -> None:
    scores = [
        rating("d0/0", None, "anna"),
        rating("d0/0", 2.0, "ben"),
        rating("d0/1", None, "anna"),
        rating("d0/1", None, "ben"),
        rating("d1/0", 4.0, "anna"),
    ]
    store.amend(run, scores, by="x")
    found = results(store, run, "tone")["mean"]
    assert (found["value"], found["n_scored"], found["n_total"]) == (3.0, 2, 3)  # (2 + 4) / 2
    assert found["missing"] == {"could not tell": 1}


def test_a_metric_that_came_with_the_ratings_is_rolled_up(
    store: Store, begin_run: Begin, make_batch: MakeBatch, register_metric: Callable[[Any], Any]
) -> None:
    register_metric(Tone)
    run = begin_run(store)  # measured slot_accuracy alone
    store.write_batch(run, make_batch(0, [1.0, 0.0]))
    run = store.end(run, "finished")
    store.amend(run, [rating("d0/0", 4.0, "anna"), rating("d0/1", 1.0, "anna")], by="anna")
    assert results(store, run, "tone")["mean"]["value"] == 2.5


def test_a_changed_rating_changes_the_average(store: Store, run: Run) -> None:
    store.amend(run, [rating("d0/0", 4.0, "anna"), rating("d0/0", 2.0, "ben")], by="x")
    assert results(store, run, "tone")["mean"]["value"] == 3.0
    store.amend(run, [rating("d0/0", 5.0, "ben")], by="ben")
    assert results(store, run, "tone")["mean"]["value"] == 4.5


def test_labels_that_people_gave_are_rolled_up(store: Store, run: Run) -> None:
    given = [("d0/0", "polite"), ("d0/1", "rude"), ("d0/2", "polite"), ("d1/0", "polite")]
    scores = [
        replace(rating(place, 1.0, "anna"), output="manner", value=None, statistics=None, label=label)
        for place, label in given
    ]
    store.amend(run, scores, by="anna")
    assert results(store, run, "tone")["polite"]["value"] == 0.75
