"""A walk through unrated turns: what is asked next, skipping, going back, picking up, and staying blind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.assistant.rating_runs import SCALES, document_turn, kept_ratings, kept_run, rate
from turnwise.assistant.rating import CANNOT_TELL, PASSED_OVER, find_turn, rateable_run
from turnwise.assistant.rating_walk import Walk, unrated_turns
from turnwise.kernel.errors import UsageError
from turnwise.store.ratings import human_ratings, rating_changes
from turnwise.store.store import Store

RATER = "HR partner"


@pytest.fixture
def opened(sqlite_path: str) -> Iterator[tuple[Store, str]]:
    """A store and a run of three turns; a fourth one has no reply."""
    rows = [document_turn("s", 1), document_turn("s", 2), document_turn("t", 1), document_turn("t", 2, response=None)]
    run = kept_run(sqlite_path, rows)
    store = Store(sqlite_path)
    yield store, run
    store.close()


def begin(store: Store, run: str, rater: str = RATER, **options: bool) -> Walk:
    found = rateable_run(store, run)
    return Walk(store, found, rater, unrated_turns(store, found, rater, **options))


def asked(walk: Walk) -> tuple[str, str] | None:
    return None if walk.turn is None or walk.scale is None else (walk.turn.id, walk.scale.name)


def rate_all(walk: Walk, *scores: int) -> None:
    for score in scores:
        walk.rate(score)


def test_scale_by_scale_and_turn_by_turn(opened: tuple[Store, str]) -> None:
    walk = begin(*opened)
    seen = []
    while (place := asked(walk)) is not None:
        seen.append(place)
        walk.rate(len(seen) % 5 + 1)
    assert seen == [(turn, scale) for turn in ("s#1", "s#2", "t#1") for scale in SCALES]
    assert (walk.ratings, walk.unrated, len(walk)) == (15, 0, 3)
    expected = {(turn, scale, RATER): float(i % 5 + 1) for i, (turn, scale) in enumerate(seen, start=1)}
    assert kept_ratings(*opened) == expected
    assert unrated_turns(opened[0], rateable_run(*opened), RATER) == []


def test_every_answer_is_kept_at_once_and_the_next_walk_goes_on_there(opened: tuple[Store, str]) -> None:
    rate_all(begin(*opened), 1, 2, 3, 4, 5, 1, 2)
    assert len(kept_ratings(*opened)) == 7
    assert asked(begin(*opened)) == ("s#2", "clarity")
    assert asked(begin(*opened, rater="another")) == ("s#1", "professionalism")


def test_a_partial_rating_leaves_the_other_scales_to_ask(opened: tuple[Store, str]) -> None:
    rate(*opened, "s#1", RATER, professionalism=4, clarity=2)
    walk = begin(*opened)
    seen = []
    for _ in range(4):
        seen.append(asked(walk))
        walk.rate(3)
    assert seen == [("s#1", "empathy"), ("s#1", "actionability"), ("s#1", "compliance"), ("s#2", "professionalism")]


def test_a_skipped_turn_comes_again_when_no_other_is_left(opened: tuple[Store, str]) -> None:
    walk = begin(*opened)
    walk.rate(4)
    walk.skip()
    assert asked(walk) == ("s#2", "professionalism")
    rate_all(walk, 1, 1, 1, 1, 1)
    assert (walk.ratings, walk.unrated) == (6, 2)
    walk = begin(*opened)
    assert asked(walk) == ("t#1", "professionalism")
    rate_all(walk, 2, 2, 2, 2, 2)
    assert asked(walk) == ("s#1", "empathy")
    walk.skip()
    assert (asked(walk), walk.unrated) == (None, 1)
    assert len(rating_changes(opened[0], rateable_run(*opened))) == 15  # skipping twice is noted once


def test_what_a_rater_could_not_tell_is_not_asked_again(opened: tuple[Store, str]) -> None:
    walk = begin(*opened)
    walk.cannot_tell()
    rate_all(walk, 1, 1, 1, 1)
    assert asked(begin(*opened)) == ("s#2", "professionalism")
    first = human_ratings(opened[0], rateable_run(*opened))[0]
    assert (first.value, first.reason) == (None, CANNOT_TELL)


def test_undo_takes_back_one_answer_after_the_other(opened: tuple[Store, str]) -> None:
    walk = begin(*opened)
    rate_all(walk, 1, 2, 3, 4, 5)
    walk.skip()
    walk.cannot_tell()
    back = []
    while walk.undo():
        back.append(asked(walk))
    assert back == [("t#1", "professionalism"), ("s#2", "professionalism"), *(("s#1", s) for s in reversed(SCALES))]
    assert kept_ratings(*opened) == {}
    assert (walk.ratings, walk.unrated) == (0, 3)
    notes = [change.note for change in rating_changes(opened[0], rateable_run(*opened))]
    assert (notes.count("withdrawn"), notes.count(PASSED_OVER), notes.count("")) == (11, 5, 5)


def test_undo_brings_an_earlier_answer_back(opened: tuple[Store, str]) -> None:
    store, name = opened
    rate(store, name, "s#1", RATER, **dict.fromkeys(SCALES, 2))
    run = rateable_run(store, name)
    walk = Walk(store, run, RATER, [find_turn(store, run, "s#1")], again=True)
    rate_all(walk, 5, 4)
    walk.undo()
    assert asked(walk) == ("s#1", "empathy")
    walk.skip()  # leaves what is there
    assert list(kept_ratings(store, name).values()) == [5.0, 2.0, 2.0, 2.0, 2.0]
    assert walk.undo()
    assert asked(walk) == ("s#1", "empathy")


def test_undo_has_nothing_to_do_at_the_beginning(opened: tuple[Store, str]) -> None:
    assert begin(*opened).undo() is False


def test_a_walk_that_is_over_takes_no_answer(opened: tuple[Store, str]) -> None:
    walk = Walk(opened[0], rateable_run(*opened), RATER, [])
    assert asked(walk) is None
    for act in (walk.skip, walk.cannot_tell, walk.look, lambda: walk.rate(3)):
        with pytest.raises(ValueError, match="over"):
            act()


def test_a_score_that_is_none_is_refused(opened: tuple[Store, str]) -> None:
    walk = begin(*opened)
    with pytest.raises(UsageError, match="cannot be rated 6"):
        walk.rate(6)
    assert asked(walk) == ("s#1", "professionalism")
    assert kept_ratings(*opened) == {}


# --- blind ----------------------------------------------------------------------------------------------------


def test_the_order_does_not_tell_the_version(sqlite_path: str) -> None:
    """Two versions of 20 sessions, one after the other in the data: a blind rater gets them mixed, sessions whole."""
    rows = [document_turn(f"{v}{i}", turn, version=v) for v in ("old", "new") for i in range(20) for turn in (1, 2, 3)]
    run = kept_run(sqlite_path, rows)
    store = Store(sqlite_path)
    found = rateable_run(store, run)
    turns = unrated_turns(store, found, RATER)
    assert unrated_turns(store, found, RATER) == turns
    sessions = [turn.session_id for turn in turns[::3]]
    assert [turn.id for turn in turns] == [f"{session}#{number}" for session in sessions for number in (1, 2, 3)]
    first_half = sum(session.startswith("old") for session in sessions[:20])
    assert 0 < first_half < 20  # 20 would be the order of the data
    assert [turn.id for turn in unrated_turns(store, found, "another")] != [turn.id for turn in turns]
    in_order = unrated_turns(store, found, RATER, blind=False)
    assert [turn.session_id for turn in in_order[::3]] == [f"{v}{i}" for v in ("old", "new") for i in range(20)]
    store.close()
