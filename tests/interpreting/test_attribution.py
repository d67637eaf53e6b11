"""Whose translation it is: by id, by content, by time alone, on captures written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.interpreting.captures import (
    CORRECTION,
    EXAMPLE,
    STATEMENT,
    TURNS,
    arrived,
    audio,
    barge_in,
    correction,
    delta,
    document,
    evaluate,
    is_the_example,
    pair,
    statement,
    turn,
    write_capture,
)

BOTH = pytest.mark.parametrize("profile", ["turnwise", "spec"])
UNTOLD = [statement(expected_text=None), correction(expected_text=None)]
"""Nobody knows what should be said, so that content tells nothing."""


# --- by id ----------------------------------------------------------------------------------------------------


@BOTH
def test_a_turn_id_decides(tmp_path: Path, profile: str) -> None:
    """Also against what is said: an old id with new words is the old translation."""
    found = pair(tmp_path, TURNS, EXAMPLE, profile=profile)
    assert is_the_example(found)
    by_turn = found["attribution"]
    crossed = [delta(9000, "x ", STATEMENT), delta(10_450, "kilo", STATEMENT), delta(11_200, "alpha", CORRECTION)]
    found = pair(tmp_path, TURNS, crossed, profile=profile)
    assert (found["cutoff_latency_ms"], found["response_time_ms"]) == (450, 1200)
    assert found["attribution"] == by_turn


@BOTH
def test_a_turn_id_decides_over_a_response_id(tmp_path: Path, profile: str) -> None:
    events = [
        delta(9000, "alpha ", STATEMENT, response_id="r1"),
        delta(10_450, "bravo", STATEMENT, response_id="r2"),
        delta(11_200, "kilo", CORRECTION, response_id="r2"),
    ]
    assert is_the_example(pair(tmp_path, TURNS, events, profile=profile))


@pytest.mark.parametrize("turns", [TURNS, UNTOLD])
def test_a_response_that_began_before_the_barge_in_is_the_old_one(tmp_path: Path, turns: list[dict[str, Any]]) -> None:
    events = [
        delta(9000, "one ", response_id="r1"),
        delta(10_450, "two", response_id="r1"),
        delta(11_200, "three", response_id="r2"),
    ]
    found = pair(tmp_path, turns, events)
    assert is_the_example(found)
    assert found["attribution"] == "id"
    # the document knows turn ids alone: by time nothing of the old turn can be late, and the answer came at 10450
    spec = pair(tmp_path, turns, events, profile="spec")
    assert (spec["cutoff_latency_ms"], spec["response_time_ms"], spec["score"]) == (0, 450, 100)
    assert spec["attribution"] == "time"


def test_a_response_in_audio_alone(tmp_path: Path) -> None:
    """Heard from 9000 to 10450, as three pieces that came at once."""
    pieces = [audio(9000 + n, length, response_id="r1") for n, length in enumerate((500, 500, 450))]
    assert is_the_example(pair(tmp_path, UNTOLD, [*pieces, audio(11_200, 500, response_id="r2")]))


def test_a_response_that_begins_late_but_says_the_old_thing(tmp_path: Path) -> None:
    """Its id does not say which turn it answers; its words do."""
    events = [
        delta(9000, "alpha bravo ", response_id="r1"),
        delta(10_200, "charlie delta ", response_id="r2"),
        delta(10_450, "echo foxtrot", response_id="r2"),
        delta(11_200, "kilo lima mike", response_id="r3"),
    ]
    assert is_the_example(pair(tmp_path, TURNS, events))


def test_a_response_goes_on_and_nothing_answers(tmp_path: Path) -> None:
    found = pair(tmp_path, UNTOLD, [audio(9000, 1450, response_id="r1")])
    assert (found["cutoff_latency_ms"], found["response_time_ms"]) == (450, None)
    assert found["score"] <= 30


@pytest.mark.parametrize("name", ["item_id", "response_id"])
def test_an_id_that_only_the_raw_message_has(tmp_path: Path, name: str) -> None:
    """The order is turn, response, item: an item is known from the message itself, which is kept as `raw`."""
    kind = "response.output_audio.delta"
    events = [
        arrived(9000, "translated_audio", audio={"duration_ms": 1450}, raw={"type": kind, name: "one"}),
        arrived(11_200, "translated_audio", audio={"duration_ms": 500}, raw={"type": kind, name: "two"}),
    ]
    found = pair(tmp_path, UNTOLD, events, protocol="openai-realtime")
    assert found["attribution"] == "id"
    assert is_the_example(found)


def test_an_id_of_no_turn_is_said_and_the_words_decide(tmp_path: Path) -> None:
    events = [delta(10_450, "alpha bravo charlie", "nobody"), delta(11_200, "kilo lima mike", "nobody")]
    place = write_capture(tmp_path / "visit", TURNS, events)
    result = evaluate(place, tmp_path / "out", "barge_in")
    (found,) = document(tmp_path / "out", "visit")["details"]["turns"]
    assert is_the_example(found)
    assert found["attribution"] == "content"
    said = [
        f["message"] for f in result.summary["run"]["findings"] if "turn that is not in the capture" in f["message"]
    ]
    assert len(said) == 1
    assert "visit" in said[0]
    assert "2 times" in said[0]


# --- by content -----------------------------------------------------------------------------------------------

CONTENT = [
    delta(9000, "alpha bravo charlie "),
    delta(10_450, "delta echo "),
    delta(11_200, "kilo lima "),
    delta(11_400, "mike november"),
]


def test_words_tell_where_ids_do_not(tmp_path: Path) -> None:
    found = pair(tmp_path, TURNS, CONTENT)
    assert is_the_example(found)
    assert (found["attribution"], found["mixing_share"]) == ("content", 0)
    # the document: by time, so that the late words are an answer after 450 ms
    spec = pair(tmp_path, TURNS, CONTENT, profile="spec")
    assert (spec["cutoff_latency_ms"], spec["response_time_ms"], spec["attribution"]) == (0, 450, "time")
    assert spec["score"] == pytest.approx(100)


def test_one_word_at_a_time_and_most_words_in_both_texts(tmp_path: Path) -> None:
    turns = [
        statement(expected_text="the pain in my left knee is moderate"),
        correction(expected_text="sorry the pain in my right knee is severe"),
    ]
    old = ["the ", "pain ", "in ", "my ", "left ", "knee"]
    new = ["sorry ", "the ", "pain ", "in ", "my ", "right ", "knee"]
    events = [
        *(delta(t, word) for t, word in zip((8000, 8500, 9000, 9500, 10_200, 10_450), old, strict=True)),
        *(delta(11_200 + 100 * n, word) for n, word in enumerate(new)),
    ]
    assert is_the_example(pair(tmp_path, turns, events))


def test_audio_without_ids_belongs_to_the_text_it_comes_with(tmp_path: Path) -> None:
    events = [
        delta(8990, "alpha bravo charlie "),
        audio(9000, 1200),
        delta(10_190, "delta echo"),
        audio(10_200, 250),
        delta(11_190, "kilo lima mike"),
        audio(11_200, 500),
    ]
    found = pair(tmp_path, TURNS, events)
    assert is_the_example(found)
    assert found["attribution"] == "content"


def test_a_language_without_spaces(tmp_path: Path) -> None:
    turns = [statement(expected_text="我的头有一点疼"), correction(expected_text="对不起其实非常严重")]
    events = [delta(9000, "我的头"), delta(10_450, "有一点疼"), delta(11_200, "对不起"), delta(11_500, "其实非常严重")]
    assert is_the_example(pair(tmp_path, turns, events))


# --- by time alone --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "events", "response"),
    [
        (TURNS, [audio(9000, 500), audio(11_200, 500)], 1200),
        (UNTOLD, [delta(9000, "alpha "), delta(10_450, "bravo "), delta(11_200, "kilo")], 450),
    ],
)
def test_time_alone_gives_no_score_but_a_response_time(
    tmp_path: Path, turns: list[dict[str, Any]], events: list[dict[str, Any]], response: int
) -> None:
    whole = barge_in(tmp_path, turns, events)
    assert whole["score"] is None
    assert whole["reason"]
    assert whole["reason"] != "No barge-in turns found in scenario"
    assert whole["details"]["overall_interpretation"] is None
    (found,) = whole["details"]["turns"]
    assert found["attribution"] == "time"
    missing = ("score", "cutoff_latency_ms", "cutoff_score", "mixing_score", "mixing_detected", "interpretation")
    assert {name: found[name] for name in missing} == dict.fromkeys(missing)
    assert found["response_time_ms"] == response
    spec = pair(tmp_path, turns, events, profile="spec")
    assert (spec["cutoff_latency_ms"], spec["response_time_ms"]) == (0, response)
    assert spec["score"] == pytest.approx(60 + 30 + 0.1 * (96 if response == 1200 else 100))


def test_a_pair_that_time_alone_tells_does_not_enter_the_mean(tmp_path: Path) -> None:
    turns = [*TURNS, turn("more", 30_000, 32_000, barge_in=True)]
    found = barge_in(tmp_path, turns, [*EXAMPLE, delta(30_500, "zulu "), delta(31_500, "yankee")])
    assert [one["score"] for one in found["details"]["turns"]] == [pytest.approx(94.2), None]
    assert found["score"] == pytest.approx(94.2)


def test_audio_long_after_a_text_does_not_belong_to_it(tmp_path: Path) -> None:
    """The last text came 19 s before, and somebody has begun to speak since: only time tells whose it is."""
    turns = [*TURNS, turn("more", 30_000, 32_000, barge_in=True)]
    found = barge_in(tmp_path, turns, [*EXAMPLE, audio(30_500, 400), audio(31_500, 400)])
    first, second = found["details"]["turns"]
    assert is_the_example(first)
    assert (second["score"], second["attribution"], second["response_time_ms"]) == (None, "time", 500)
