"""`!score` in a chat: what is a command, what it answers, and that a mistake changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.assistant.rating_runs import CONFIRMATION, DOCUMENT, SCALES, document_turn, kept_ratings, kept_run
from turnwise.assistant import record_turn
from turnwise.assistant.commands import CommandError, confirmation, handle, is_command, parse
from turnwise.assistant.composites import Qualities
from turnwise.assistant.rating import rateable_run
from turnwise.assistant.rating_walk import Walk, unrated_turns
from turnwise.kernel.errors import UsageError
from turnwise.store.ratings import rating_changes
from turnwise.store.store import Store

RATER = "HR partner"


@pytest.fixture
def opened(sqlite_path: str) -> Iterator[tuple[Store, str]]:
    """A store and a run of three turns in two sessions."""
    rows = [document_turn("s", 1), document_turn("s", 2), document_turn("t", 1)]
    run = kept_run(sqlite_path, rows)
    store = Store(sqlite_path)
    yield store, run
    store.close()


# --- the document's examples ----------------------------------------------------------------------------------


def test_the_documents_confirmation(opened: tuple[Store, str]) -> None:
    store, run = opened
    assert handle(DOCUMENT, store, run, rater=RATER) == CONFIRMATION
    given = dict(zip(SCALES, (4, 5, 5, 4, 5), strict=True))
    assert kept_ratings(store, run) == {("t#1", scale, RATER): value for scale, value in given.items()}


def test_each_kind_of_database(db: str) -> None:
    """A command, a walk with undo, and the history, on SQLite and on PostgreSQL."""
    run = kept_run(db, [document_turn("s", 1), document_turn("s", 2)])
    store = Store(db)
    assert handle(DOCUMENT, store, run, rater=RATER) == CONFIRMATION
    found = rateable_run(store, run)
    walk = Walk(store, found, RATER, unrated_turns(store, found, RATER))
    assert walk.look()["turn"] == 1
    walk.rate(3)
    walk.rate(2)
    assert walk.undo()
    assert kept_ratings(store, run)["s#1", "professionalism", RATER] == 3.0
    assert len(kept_ratings(store, run)) == 6
    assert len(rating_changes(store, found)) == 8
    store.close()


def test_two_ratings_as_in_the_documents_json(opened: tuple[Store, str]) -> None:
    """4 and 5: 9 / 10 = 0.90, and 0.4 * 0.85 + 0.6 * 0.90 = 0.88."""
    store, run = opened
    answer = handle("!score professionalism:4 empathy:5", store, run, rater=RATER)
    assert answer is not None
    assert answer.splitlines()[2:] == ["Objective Quality: 0.85", "Subjective Quality: 0.90", "Overall Quality: 0.88"]


def test_a_later_rating_adds_to_an_earlier_one(opened: tuple[Store, str]) -> None:
    """4: 0.80, 0.34 + 0.48 = 0.82; with 5 and 5: 14 / 15, 0.34 + 0.56 = 0.90; 4 becomes 1: 11 / 15, 0.34 + 0.44."""
    store, run = opened
    for message, subjective, overall in (
        ("!score professionalism:4", "0.80", "0.82"),
        ("!score empathy:5 clarity:5", "0.93", "0.90"),
        ("!score professionalism:1", "0.73", "0.78"),
    ):
        answer = handle(message, store, run, rater=RATER)
        assert answer is not None
        assert answer.endswith(f"Subjective Quality: {subjective}\nOverall Quality: {overall}")


def test_several_raters_are_averaged(opened: tuple[Store, str]) -> None:
    """5 and 2 on one scale are 3.5: 0.70; 0.34 + 0.42 = 0.76."""
    store, run = opened
    handle("!score empathy:5", store, run, rater="one")
    answer = handle("!score empathy:2", store, run, rater="two")
    assert answer is not None
    assert answer.endswith("Subjective Quality: 0.70\nOverall Quality: 0.76")


def test_halves_are_rounded_as_on_paper_and_nothing_is_zero() -> None:
    lines = confirmation(Qualities(0.865, 0.2, None)).splitlines()
    assert lines[2:] == ["Objective Quality: 0.87", "Subjective Quality: 0.20", "Overall Quality: N/A"]


# --- which turn -----------------------------------------------------------------------------------------------


def test_the_latest_turn_of_the_run_of_a_session_or_a_named_one(opened: tuple[Store, str]) -> None:
    store, run = opened
    handle("!score clarity:1", store, run, rater=RATER)
    handle("!score clarity:2", store, store.run(run), rater=RATER, session="s")
    handle("!score clarity:3", store, run, rater=RATER, turn="s#1")
    rated = {turn: value for (turn, _, _), value in kept_ratings(store, run).items()}
    assert rated == {"t#1": 1.0, "s#2": 2.0, "s#1": 3.0}


def test_a_live_assistant(sqlite_path: str) -> None:
    """Two conversations at once: each rates its own latest reply; before the first reply there is nothing to rate."""
    store = Store(sqlite_path)
    turns = [document_turn("a", 1), document_turn("b", 1), document_turn("a", 2)]
    for row in turns:
        row["search_context"] = row.pop("chunks")
        last = record_turn(store, **row, embedding="none")
    answer = handle("!score empathy:4", store, last.run_id, rater=RATER, session="c")
    assert answer is not None
    assert answer.startswith("❌ there is no reply to rate in this conversation yet")
    assert handle(DOCUMENT, store, last.run_id, rater=RATER, session="b") == CONFIRMATION
    assert {turn for turn, _, _ in kept_ratings(store, last.run_id)} == {"b#1"}
    record_turn(store, session_id="b", turn=2, query="q", response=None, embedding="none", run=last.run_id)
    assert handle("!score empathy:1", store, last.run_id, rater=RATER, session="b") is not None
    assert {turn for turn, _, _ in kept_ratings(store, last.run_id)} == {"b#1"}  # the last that has a reply
    store.close()


def test_a_store_in_memory() -> None:
    store = Store(":memory:")
    row = document_turn()
    row["search_context"] = row.pop("chunks")
    kept = record_turn(store, **row, embedding="none")
    assert handle(DOCUMENT, store, kept.run_id, rater=RATER, turn=kept.turn_id) == CONFIRMATION
    store.close()


# --- what is no command ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "",
        "My employee did not show up",
        "score empathy:4",
        "please !score empathy:4",
        "!scores empathy:4",
        "!scoreempathy:4",
        "!help",
        "! score empathy:4",
        "!score:empathy:4",
    ],
)
def test_other_messages_are_left_to_the_assistant(opened: tuple[Store, str], message: str) -> None:
    store, run = opened
    assert not is_command(message)
    assert handle(message, store, run, rater=RATER) is None
    assert kept_ratings(store, run) == {}


@given(st.text())
def test_whatever_is_typed_is_no_command_or_has_a_result_or_an_answer(text: str) -> None:
    for message in (text, f"!score {text}", f"!score empathy:{text}"):
        found: dict[str, int] | None = None
        with suppress(CommandError):
            found = parse(message)
        assert found is None or is_command(message)
        assert found is None or found.keys() <= set(SCALES)
        assert found is None or set(found.values()) <= {1, 2, 3, 4, 5}


# --- how it may be written ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "!score empathy:4 clarity:5",
        "  !SCORE\tEmpathy:4\n clarity_score:5 ",
        "!score empathy: 4, clarity : 5",
        "!score empathy:4,clarity:5",
    ],
)
def test_spellings_that_mean_the_same(message: str) -> None:
    assert parse(message) == {"empathy": 4, "clarity": 5}


# --- mistakes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "!score without a rating"),
        ("clarity:5 empaty:4", "there is no scale 'empaty' (did you mean empathy?)"),
        ("clarity:5 tone:4", "there is no scale 'tone'"),
        ("clarity:5 empathy:6", "empathy cannot be '6' (1 Cold, 2 Minimal empathy, 3 Neutral"),
        ("clarity:5 empathy:0", "empathy cannot be '0'"),
        ("clarity:5 empathy:4.5", "empathy cannot be '4.5'"),
        ("clarity:5 empathy:-4", "empathy cannot be '-4'"),
        ("clarity:5 empathy:five", "empathy cannot be 'five'"),
        ("clarity:5 empathy:٤", "empathy cannot be '٤'"),
        ("clarity:5 empathy:4:5", "empathy cannot be '4:5'"),
        ("clarity:5 empathy:nan", "empathy cannot be 'nan'"),
        ("clarity:5 empathy:4 empathy:5", "empathy is there twice"),
        ("clarity:5 clarity_score:5", "clarity is there twice"),
        ("clarity:5 empathy", "'empathy' is not SCALE:SCORE"),
        ("clarity:5 empathy=4", "'empathy=4' is not SCALE:SCORE"),
        ("clarity:5 empathy:", "'empathy:' is not SCALE:SCORE"),
        (":5", "':5' is not SCALE:SCORE"),
    ],
)
def test_a_mistake_is_answered_and_changes_nothing(opened: tuple[Store, str], words: str, said: str) -> None:
    store, run = opened
    handle("!score empathy:3", store, run, rater=RATER)
    updated = store.run(run).updated
    answer = handle(f"!score {words}", store, run, rater=RATER)
    assert answer is not None
    assert answer.startswith("❌ !score was not understood, and nothing was changed")
    assert said in answer
    assert "professionalism, empathy, clarity, actionability, compliance" in answer
    assert kept_ratings(store, run) == {("t#1", "empathy", RATER): 3.0}
    assert store.run(run).updated == updated


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(CommandError) as error:
        parse("!score empathy:6 clarty:1 compliance")
    assert error.value.found is not None
    assert error.value.found.split("; ") == [
        "empathy cannot be '6' (1 Cold, 2 Minimal empathy, 3 Neutral, 4 Empathetic, 5 Highly empathetic)",
        "there is no scale 'clarty' (did you mean clarity?)",
        "'compliance' is not SCALE:SCORE",
    ]


@pytest.mark.parametrize("flood", ["x" * 1_000_000, " " * 1_000_000 + "x", "x:1 " * 250_000, ":" * 1_000_000])
def test_a_megabyte_is_answered_in_a_few_lines(flood: str) -> None:
    with pytest.raises(CommandError) as error:
        parse(f"!score {flood}")
    assert len(error.value.message) < 1000


# --- what is the front end's matter ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"run": "absent"}, "there is no run 'absent'"),
        ({"turn": "s#7"}, "has no turn 's#7'"),
        ({"rater": " "}, "who gives it"),
        ({"rater": "a\x1b[2J"}, "who gives it"),
        ({"rater": "x" * 201}, "who gives it"),
    ],
)
def test_a_front_end_that_asks_for_what_is_not_there(
    opened: tuple[Store, str], changes: dict[str, str], said: str
) -> None:
    store, run = opened
    with pytest.raises(UsageError, match=said):
        handle("!score empathy:4", store, **{"run": run, "rater": RATER, **changes})
    assert kept_ratings(store, run) == {}
