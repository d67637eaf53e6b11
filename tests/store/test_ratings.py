"""Ratings read back and taken back, and the history of each: who, what, when."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from turnwise.kernel.score import Score, Source, Status, Unit
from turnwise.store import ratings as module
from turnwise.store import store as store_module
from turnwise.store.ratings import WITHDRAWN, human_ratings, rating_changes, withdraw
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store


@pytest.fixture
def run(
    store: Store, begin_run: Callable[..., Run], make_batch: Callable[..., BatchRows], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """A run with the items d0/0 and d0/1, and a clock that gives every change a second of its own."""
    begun = begin_run(store)
    store.write_batch(begun, make_batch(0, [1.0, 0.0]))
    seconds = count(1)
    for place in (module, store_module):
        monkeypatch.setattr(place, "now", lambda: at(next(seconds)))
    return begun


def at(second: int) -> str:
    return f"2026-11-15T10:00:{second:02d}.000+00:00"


def rate(store: Store, run: Run, item: str, value: float | None, rater: str, by: str | None = None) -> None:
    """A rating of the metric `tone`; None where the rater could not tell."""
    said = (
        {"status": Status.SKIPPED, "reason": "could not tell"}
        if value is None
        else {"value": value, "statistics": (value,)}
    )
    score = Score(
        metric="dialogue/tone",
        unit=Unit(item, "d0", kind="exchange"),
        signature="dialogue/tone|v1",
        source=Source.HUMAN,
        rater=rater,
        **said,  # type: ignore[arg-type]
    )
    store.amend(run, [score], by=by or rater)


def steps(store: Store, run: Run) -> list[tuple[str, str, str, str, float | None, float | None, str]]:
    return [(c.at, c.by, c.unit, c.rater, c.before, c.after, c.note) for c in rating_changes(store, run)]


def test_ratings_in_the_order_of_the_data(store: Store, run: Run) -> None:
    rate(store, run, "d0/1", 4.0, "b")
    rate(store, run, "d0/0", None, "b")
    rate(store, run, "d0/0", 2.0, "a")
    found = [(one.unit, one.cluster, one.metric, one.rater, one.value, one.reason) for one in human_ratings(store, run)]
    assert found == [
        ("d0/0", "d0", "dialogue/tone", "a", 2.0, None),
        ("d0/0", "d0", "dialogue/tone", "b", None, "could not tell"),
        ("d0/1", "d0", "dialogue/tone", "b", 4.0, None),
    ]
    assert [one.unit for one in human_ratings(store, run, "b")] == ["d0/0", "d0/1"]
    assert human_ratings(store, run, "nobody") == []


def test_a_rating_that_is_taken_back_stays_in_the_history(store: Store, run: Run) -> None:
    rate(store, run, "d0/0", 4.0, "a")
    rate(store, run, "d0/0", 3.0, "b")
    store.save_rollups(run, [{"value": 1}])
    mine = human_ratings(store, run, "a")
    assert withdraw(store, run, mine, by="a") == 1
    assert [(one.rater, one.value) for one in human_ratings(store, run)] == [("b", 3.0)]
    assert store.rollups(run) == []
    assert store.run(run.id).updated == at(3)
    (old,) = store.history(run)
    assert (old["value"], old["rater"], old["changed_by"], old["changed"]) == (4.0, "a", "a", at(3))
    assert withdraw(store, run, mine, by="a") == 0  # it is gone already


def test_every_step_is_told_in_the_order_of_time(store: Store, run: Run) -> None:
    """Given, changed by somebody else, taken back, given again; and another rater in between."""
    rate(store, run, "d0/0", 4.0, "a")
    rate(store, run, "d0/1", 1.0, "b")
    rate(store, run, "d0/0", 3.0, "a", by="supervisor")
    withdraw(store, run, human_ratings(store, run, "a"), by="a")
    rate(store, run, "d0/0", 5.0, "a")
    rate(store, run, "d0/0", None, "a")
    assert steps(store, run) == [
        (at(1), "a", "d0/0", "a", None, 4.0, ""),
        (at(2), "b", "d0/1", "b", None, 1.0, ""),
        (at(3), "supervisor", "d0/0", "a", 4.0, 3.0, ""),
        (at(4), "a", "d0/0", "a", 3.0, None, WITHDRAWN),
        (at(5), "a", "d0/0", "a", None, 5.0, ""),
        (at(6), "a", "d0/0", "a", 5.0, None, "could not tell"),
    ]


def test_the_history_ends_with_a_withdrawal(store: Store, run: Run) -> None:
    rate(store, run, "d0/0", 4.0, "a")
    withdraw(store, run, human_ratings(store, run), by="a")
    assert [step[-2:] for step in steps(store, run)] == [(4.0, ""), (None, WITHDRAWN)]


def test_what_code_measured_has_no_part_in_it(store: Store, run: Run) -> None:
    corrected = Score(
        metric="dialogue/slot_accuracy",
        unit=Unit("d0/1", "d0", kind="exchange"),
        signature="dialogue/slot_accuracy|v1",
        value=1.0,
        statistics=(1.0, 1.0),
    )
    store.amend(run, [corrected], by="a")
    assert len(store.history(run)) == 1
    assert rating_changes(store, run) == human_ratings(store, run) == []
