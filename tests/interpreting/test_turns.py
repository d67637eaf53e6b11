"""From events to turns: what is heard when, what text its pieces make, when each word was there, which kind it is."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.interpreting.emissions import output_words, word_moments
from turnwise.interpreting.kinds import ADDITION, INTERRUPTION, SELF_CORRECTION, TOPIC_CHANGE, barge_in_kind
from turnwise.interpreting.playback import heard
from turnwise.interpreting.records import AUDIO, DELTA, TEXT, Call, Event, Turn
from turnwise.interpreting.summaries import TurnSummary, spaced, summarise


def audio(arrived: float, duration: float, who: str = "a", response: str | None = None) -> dict[str, Any]:
    found = {"type": AUDIO, "t_arrived_ms": arrived, "audio": {"duration_ms": duration}, "participant_id": who}
    return found | ({"response_id": response} if response else {})


# --- what is heard --------------------------------------------------------------------------------------------


def test_a_chunk_waits_for_the_one_before() -> None:
    # The second arrives at 100 but the first lasts until 1000; the third comes after a pause.
    assert heard([audio(0, 1000), audio(100, 500), audio(2000, 300)], None) == {
        0: (0, 1000),
        1: (1000, 1500),
        2: (2000, 2300),
    }


def test_a_listener_whose_name_is_no_text_is_nobody_in_particular() -> None:
    odd = audio(100, 500) | {"participant_id": {"id": "a"}}
    assert heard([audio(0, 1000, ""), odd], None) == {0: (0, 1000), 1: (1000, 1500)}


def test_every_listener_has_their_own_queue() -> None:
    assert heard([audio(0, 1000, "a"), audio(100, 500, "b")], None) == {0: (0, 1000), 1: (100, 600)}


@pytest.mark.parametrize(
    "stop",
    [
        {"type": "stop_audio", "participant_id": "a"},
        {"type": "stop_audio"},
        {"type": "control", "raw": {"kind": "StopAudio", "stopAudio": {}}},
        {"type": "control", "raw": {"event": "clear", "streamSid": "MZ1"}},
    ],
)
def test_a_stop_cuts_what_is_still_to_be_heard(stop: dict[str, Any]) -> None:
    events = [audio(0, 1000), audio(100, 500), {**stop, "t_arrived_ms": 400}, audio(600, 100)]
    found = heard(events, None)
    assert found[0] == (0, 400)
    assert found[1][1] <= found[1][0]
    assert found[3] == (600, 700)


def test_a_stop_for_somebody_else_cuts_nothing() -> None:
    events = [audio(0, 1000, "a"), {"type": "stop_audio", "participant_id": "b", "t_arrived_ms": 400}]
    assert heard(events, None) == {0: (0, 1000)}


def test_a_truncation_keeps_what_it_says() -> None:
    truncated = {
        "type": "control",
        "response_id": "r",
        "raw": {"type": "conversation.item.truncated", "audio_end_ms": 700},
    }
    events = [audio(0, 1000, response="r"), {**truncated, "participant_id": "a", "t_arrived_ms": 500}]
    assert heard(events, None) == {0: (0, 700)}


def test_the_end_of_the_call_ends_everything() -> None:
    assert heard([audio(0, 1000)], 300.0) == {0: (0, 300)}


# --- text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["My ", "knee ", "hurts"], "My knee hurts"),
        (["My", " kn", "ee"], "My knee"),
        (["My", "knee", "hurts"], "My knee hurts"),
        (["膝", "盖", "疼"], "膝盖疼"),
        (["knee"], "knee"),
        ([], ""),
    ],
)
def test_pieces_become_a_text(pieces: list[str], text: str) -> None:
    assert "".join(spaced(pieces)) == text


def summary(kind: str, *pieces: tuple[float, str]) -> TurnSummary:
    events = tuple(Event(n, kind, at, text=text) for n, (at, text) in enumerate(pieces))
    return TurnSummary(Turn("t", "a", 0.0, 5000.0), events)


def test_a_word_is_there_with_its_last_piece() -> None:
    found = summary(DELTA, (100, "My kn"), (200, "ee"), (300, " hurts a"), (400, " lot"))
    assert output_words(found.text) == ["My", "knee", "hurts", "a", "lot"]
    assert word_moments(found) == [100, 200, 300, 300, 400]


def test_a_word_that_is_revised_is_there_with_its_last_version() -> None:
    # "a" replaces "the" at 300; what follows a changed word is new, too.
    found = summary(TEXT, (100, "the knee"), (200, "the knee hurts"), (300, "a knee hurts"), (400, "a knee hurts now"))
    assert word_moments(found) == [300, 300, 300, 400]


def test_characters_are_words_where_none_are_written() -> None:
    assert output_words("膝盖 hurts") == ["膝", "盖", "hurts"]


# --- what kind of barge-in ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Sorry, I was wrong. It's quite severe.", SELF_CORRECTION),
        ("No, the left one.", SELF_CORRECTION),
        ("Also, I cannot sleep.", ADDITION),
        ("One more thing: I take aspirin.", ADDITION),
        ("By the way, is there a bus at noon?", TOPIC_CHANGE),
        ("Außerdem kann ich nicht schlafen.", ADDITION),
        ("Por cierto, ¿hay un autobús?", TOPIC_CHANGE),
        ("The pain is in the left knee.", SELF_CORRECTION),
        (None, SELF_CORRECTION),
    ],
)
def test_first_words_tell_what_it_is(text: str | None, kind: str) -> None:
    before, after = Turn("a", "patient", 0.0), Turn("b", "patient", 1.0, barge_in=True, source_text=text)
    assert barge_in_kind(before, after) == kind


def test_somebody_else_interrupts_whatever_they_say() -> None:
    before, after = Turn("a", "patient", 0.0), Turn("b", "doctor", 1.0, barge_in=True, source_text="Also, wait.")
    assert barge_in_kind(before, after) == INTERRUPTION


def test_a_scenario_may_say_it_itself() -> None:
    after = Turn("b", "patient", 1.0, barge_in=True, metadata={"barge_in_kind": "topic_change"})
    assert barge_in_kind(Turn("a", "patient", 0.0), after) == TOPIC_CHANGE


# --- summaries ------------------------------------------------------------------------------------------------


def test_a_summary_has_the_documents_fields() -> None:
    turns = (Turn("one", "p", 0.0, 900.0, first_sent=10.0, sent=(0,)), Turn("two", "p", 2000.0, 2900.0, barge_in=True))
    events = (
        Event(1, AUDIO, 500.0, "p", "one", None, "", 500.0, 1500.0),
        Event(2, DELTA, 510.0, "p", "one", None, "hello "),
        Event(3, AUDIO, 600.0, "p", "one", None, "", 1500.0, 2250.0),
        Event(4, DELTA, 2700.0, "p", "two", None, "bye"),
    )
    conversation = summarise(Call("c", "s", turns, events, ended=4000.0))
    one, two = (found.as_json() for found in conversation.summaries)
    assert (one["turn_start_ms"], one["turn_end_ms"]) == (0.0, 2000.0)
    assert (one["first_outbound_ms"], one["first_response_ms"], one["completion_ms"]) == (10.0, 500.0, 600.0)
    assert (one["audible_first_ms"], one["audible_last_ms"], one["text"]) == (500.0, 2250.0, "hello")
    assert (one["inbound_events"], one["outbound_messages"], one["attribution"]) == ([1, 2, 3], [0], {"id": 3})
    assert (two["turn_end_ms"], two["first_response_ms"], two["text"]) == (4000.0, 2700.0, "bye")
    assert "audible_first_ms" not in two
