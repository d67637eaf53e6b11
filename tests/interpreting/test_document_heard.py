"""What is heard, and until when: playout worked out from arrival and duration alone, and every message that cuts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.interpreting.captures import (
    CORRECTION,
    STATEMENT,
    TURNS,
    arrived,
    audio,
    correction,
    delta,
    pair,
    statement,
)

LONG = audio(9000, 8000, STATEMENT, response_id="r1")
"""Arrives at once, and is heard until 17000 unless something cuts it."""
ANSWER = audio(11_200, 500, CORRECTION, response_id="r2")


def to(who: str, event: dict[str, Any]) -> dict[str, Any]:
    """The same event for a listener."""
    return {**event, "participant_id": who}


def times(found: dict[str, Any]) -> tuple[float | None, float | None]:
    return found["cutoff_latency_ms"], found["response_time_ms"]


# --- a queue --------------------------------------------------------------------------------------------------


def test_audio_is_heard_long_after_it_arrived(tmp_path: Path) -> None:
    """Nothing arrives after 9000, yet the old translation is heard until 17000, and the new one only then."""
    found = pair(tmp_path, TURNS, [LONG, ANSWER])
    assert times(found) == (7000, 7000)
    assert found["cutoff_score"] == pytest.approx(10 - (7000 - 5000) / 1000)
    assert found["response_score"] == pytest.approx(30 - (7000 - 5000) / 1000)
    assert found["score"] == pytest.approx(0.6 * 8 + 0.3 * 100 + 0.1 * 28)
    assert (found["cutoff_audible_ms"], found["cutoff_arrival_ms"]) == (7000, 0)


def test_a_chunk_begins_when_it_is_there_and_the_one_before_is_over(tmp_path: Path) -> None:
    """9000 to 9400 and 9400 to 9800, though both came at 9000; a pause; 10100 to 10300; 10300 to 10450."""
    events = [
        audio(9000, 400, STATEMENT),
        audio(9010, 400, STATEMENT),
        audio(10_100, 200, STATEMENT),
        audio(10_110, 150, STATEMENT),
        ANSWER,
    ]
    found = pair(tmp_path, TURNS, events)
    assert times(found) == (450, 1200)
    assert found["score"] == pytest.approx(94.2)
    assert found["cutoff_arrival_ms"] == 110


def test_audio_that_ends_as_the_barge_in_starts_is_not_late(tmp_path: Path) -> None:
    assert times(pair(tmp_path, TURNS, [audio(9000, 1000, STATEMENT), ANSWER])) == (0, 1200)
    assert times(pair(tmp_path, TURNS, [audio(9000, 1001, STATEMENT), ANSWER])) == (1, 1200)


def test_the_last_of_it_counts_whatever_pause_there_was(tmp_path: Path) -> None:
    """Paused and resumed: silent from 9200 to 12000, and heard again until 12300."""
    events = [audio(9000, 200, STATEMENT), audio(12_000, 300, STATEMENT), audio(12_500, 300, CORRECTION)]
    assert times(pair(tmp_path, TURNS, events)) == (2300, 2500)


def test_every_listener_has_a_queue(tmp_path: Path) -> None:
    """A doctor interrupts: what the patient hears does not wait for what the doctor still hears."""
    turns = [statement(), correction(participant_id="doctor")]
    found = pair(tmp_path, turns, [to("doctor", LONG), to("patient", ANSWER)])
    assert times(found) == (7000, 1200)
    same = pair(tmp_path, turns, [to("doctor", LONG), to("doctor", ANSWER)])
    assert times(same) == (7000, 7000)


def test_the_order_of_the_lines_does_not_matter(tmp_path: Path) -> None:
    stop = arrived(10_450, "stop_audio")
    assert times(pair(tmp_path, TURNS, [ANSWER, stop, LONG])) == (450, 1200)


def test_response_time_from_the_end_of_the_speech_too(tmp_path: Path) -> None:
    found = pair(tmp_path, [statement(), correction(10_000, 10_900)], [ANSWER])
    assert (found["response_time_ms"], found["response_from_end_ms"]) == (11_200 - 10_000, 11_200 - 10_900)


# --- what cuts it ---------------------------------------------------------------------------------------------

TRUNCATED = {"type": "conversation.item.truncated", "item_id": "i1", "content_index": 0, "audio_end_ms": 1450}
"""Of what began at 9000 only 1450 ms are heard: until 10450."""
STOPS = {
    "stop_audio": arrived(10_450, "stop_audio"),
    "StopAudio": arrived(10_450, "control", raw={"kind": "StopAudio", "stopAudio": {}}),
    "StopAudio, PascalCase": arrived(10_450, "control", raw={"Kind": "StopAudio", "StopAudio": {}}),
    "clear": arrived(10_450, "control", raw={"event": "clear", "streamSid": "MZ00"}),
    "truncated": arrived(10_450, "control", response_id="r1", raw=TRUNCATED),
    "truncated, no response named": arrived(10_450, "control", raw=TRUNCATED),
    "truncated, known before": arrived(10_100, "control", response_id="r1", raw=TRUNCATED),
    "cleared": arrived(10_450, "control", raw={"type": "output_audio_buffer.cleared", "response_id": "r1"}),
}
NO_STOPS = {
    "metadata": arrived(10_450, "control", raw={"kind": "AudioMetadata", "audioMetadata": {}}),
    "mark": arrived(10_450, "control", raw={"event": "mark", "mark": {"name": "clear"}}),
    "a response is cancelled, but not what was sent of it": arrived(
        10_450, "control", raw={"type": "response.done", "response": {"id": "r1", "status": "cancelled"}}
    ),
    "without anything": arrived(10_450, "control"),
    "a text about it": delta(10_450, "StopAudio clear", STATEMENT),
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
def test_a_message_that_cuts(tmp_path: Path, stop: dict[str, Any]) -> None:
    """Heard until 10450 instead of 17000, and the answer at once: the document's example."""
    found = pair(tmp_path, TURNS, [LONG, stop, ANSWER])
    assert times(found) == (450, 1200)
    assert found["score"] == pytest.approx(94.2)


@pytest.mark.parametrize("message", NO_STOPS.values(), ids=NO_STOPS)
def test_a_message_that_does_not_cut(tmp_path: Path, message: dict[str, Any]) -> None:
    assert times(pair(tmp_path, TURNS, [LONG, message, ANSWER])) == (7000, 7000)


def test_a_stop_before_the_barge_in_leaves_nothing_late(tmp_path: Path) -> None:
    assert times(pair(tmp_path, TURNS, [LONG, arrived(9800, "stop_audio"), ANSWER])) == (0, 1200)


def test_what_comes_after_a_stop_is_heard(tmp_path: Path) -> None:
    """Cut at 10200, but 250 ms of the old translation come at 10200, too, and once more."""
    again = [audio(10_200, 250, STATEMENT)]
    assert times(pair(tmp_path, TURNS, [LONG, arrived(10_200, "stop_audio"), *again, ANSWER])) == (450, 1200)


def test_a_stop_is_for_its_listener(tmp_path: Path) -> None:
    other = [to("doctor", LONG), arrived(10_450, "stop_audio", participant_id="nurse"), to("doctor", ANSWER)]
    assert times(pair(tmp_path, TURNS, other)) == (7000, 7000)
    own = [to("doctor", LONG), arrived(10_450, "stop_audio", participant_id="doctor"), to("doctor", ANSWER)]
    assert times(pair(tmp_path, TURNS, own)) == (450, 1200)
    everybody = [to("doctor", LONG), arrived(10_450, "stop_audio"), to("doctor", ANSWER)]
    assert times(pair(tmp_path, TURNS, everybody)) == (450, 1200)


def test_an_answer_that_is_thrown_away_unheard_is_none(tmp_path: Path) -> None:
    """It waits behind the old translation when everything is stopped."""
    events = [LONG, audio(10_500, 800, CORRECTION), delta(10_500, "kilo", CORRECTION), arrived(10_800, "stop_audio")]
    found = pair(tmp_path, TURNS, events)
    assert times(found) == (800, None)
    assert found["score"] <= 30
    assert len(found["caps"]) == 1


# --- which clock decides --------------------------------------------------------------------------------------

WITH_TEXT = [
    audio(9000, 1200, STATEMENT),
    delta(9000, "alpha ", STATEMENT),
    delta(10_900, "bravo", STATEMENT),
    delta(10_950, "kilo", CORRECTION),
    ANSWER,
]
"""Heard: the old translation until 10200, the new one from 11200. Read: until 10900, and from 10950."""


def test_by_default_what_is_heard_decides(tmp_path: Path) -> None:
    found = pair(tmp_path, TURNS, WITH_TEXT)
    assert times(found) == (200, 1200)
    assert found["score"] == pytest.approx(0.6 * 96 + 30 + 0.1 * 96)
    assert (found["cutoff_text_ms"], found["response_text_ms"]) == (900, 950)


def test_in_the_document_text_decides(tmp_path: Path) -> None:
    found = pair(tmp_path, TURNS, WITH_TEXT, profile="spec")
    assert times(found) == (900, 950)
    assert found["score"] == pytest.approx(0.6 * 74 + 30 + 10)  # 70 + 20 x 100 / 500


def test_the_document_counts_deltas_alone_as_late(tmp_path: Path) -> None:
    """`translated_audio` and `translated_text` are no late translations there; any of them is an answer."""
    whole = arrived(10_450, "translated_text", turn_id=STATEMENT, text="alpha bravo")
    for late in (whole, audio(10_450, 100, STATEMENT)):
        found = pair(tmp_path, TURNS, [late, ANSWER], profile="spec")
        assert times(found) == (0, 1200)
        assert found["score"] == pytest.approx(60 + 30 + 9.6)
    texts = [whole, arrived(11_200, "translated_text", turn_id=CORRECTION, text="kilo")]
    assert times(pair(tmp_path, TURNS, texts)) == (450, 1200)
