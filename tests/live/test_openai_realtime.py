"""The OpenAI Realtime API: both generations of names, cuts, and what is broken."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from turnwise.live.messages import (
    AUDIO,
    CONTROL,
    INVALID,
    RESPONSE_DONE,
    SPEECH_STARTED,
    STOP,
    TEXT,
    TEXT_DELTA,
    TRANSCRIPT,
    Inbound,
)
from turnwise.live.transports.openai_realtime import ITEMS_REMEMBERED, OpenAIRealtime

SECOND = bytes(48_000)
"""A second of sound: 24,000 samples of two bytes."""


@pytest.fixture
def realtime() -> OpenAIRealtime:
    return OpenAIRealtime(["patient"])


def delta(item: str, pcm: bytes, response: str = "r-1", event: str = "response.output_audio.delta") -> dict[str, Any]:
    about = {"response_id": response, "item_id": item, "output_index": 0, "content_index": 0}
    return {"type": event, **about, "delta": b64encode(pcm).decode()}


def test_the_session_is_pcm16_at_24_khz_with_the_servers_voice_detection(realtime: OpenAIRealtime):
    [message] = realtime.hello()
    session = message["session"]
    assert (message["type"], session["type"]) == ("session.update", "realtime")
    assert session["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert session["audio"]["output"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"


def test_the_beta_names_the_same_otherwise():
    [message] = OpenAIRealtime(["patient"], beta=True).hello()
    session = message["session"]
    assert (session["input_audio_format"], session["output_audio_format"]) == ("pcm16", "pcm16")
    assert session["turn_detection"]["type"] == "server_vad"
    assert "audio" not in session


def test_a_frame_is_an_append(realtime: OpenAIRealtime):
    assert realtime.frame("patient", b"\x01\x00", 40.0, False) == {"type": "input_audio_buffer.append", "audio": "AQA="}


@pytest.mark.parametrize("event", ["response.output_audio.delta", "response.audio.delta"])
def test_audio_in_both_generations(realtime: OpenAIRealtime, event: str):
    details = {"item_id": "i-1", "content_index": 0}
    want = Inbound(AUDIO, "patient", None, "r-1", audio=b"\x01\x00", details=details)
    assert realtime.read(delta("i-1", b"\x01\x00", event=event)) == [want]


@pytest.mark.parametrize("beta", [True, False])
def test_a_response_of_the_system_comes_back(beta: bool):
    caller, system = OpenAIRealtime(["patient"]), OpenAIRealtime([], beta=beta)
    messages = [*system.system_audio("patient", b"\x01\x00", "r-1"), *system.system_text("patient", "Ja", "r-1", 5.0)]
    messages += system.system_done("patient", "r-1", "Ja, gern.", cancelled=False)
    said = [one for message in messages for one in caller.read(message)]
    assert all(one.response_id == "r-1" for one in said)
    understood = [(one.kind, one.text, one.audio, one.status) for one in said if one.kind != CONTROL]
    assert understood == [
        (AUDIO, None, b"\x01\x00", None),
        (TEXT_DELTA, "Ja", b"", None),
        (TEXT, "Ja, gern.", b"", None),
        (RESPONSE_DONE, None, b"", "completed"),
    ]


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "incomplete"])
def test_the_end_of_a_response_has_a_status(realtime: OpenAIRealtime, status: str):
    response = {"id": "r-1", "status": status, "status_details": {"reason": "turn_detected"}}
    [one] = realtime.read({"type": "response.done", "response": response})
    assert (one.kind, one.response_id, one.status) == (RESPONSE_DONE, "r-1", status)
    assert one.details["response"]["status_details"] == {"reason": "turn_detected"}


def test_what_the_caller_said_is_a_transcript_once(realtime: OpenAIRealtime):
    event = "conversation.item.input_audio_transcription"
    [piece] = realtime.read({"type": f"{event}.delta", "item_id": "i-0", "delta": "Hel"})
    [whole] = realtime.read({"type": f"{event}.completed", "item_id": "i-0", "transcript": "Hello"})
    assert (piece.kind, piece.text) == (CONTROL, "Hel")
    assert (whole.kind, whole.text, whole.response_id) == (TRANSCRIPT, "Hello", None)


def test_a_truncation_keeps_so_much_of_the_response(realtime: OpenAIRealtime):
    realtime.read(delta("i-1", SECOND))
    realtime.read(delta("i-2", SECOND))
    truncated = {"type": "conversation.item.truncated", "content_index": 0, "audio_end_ms": 250}
    [first] = realtime.read({**truncated, "item_id": "i-1"})
    [second] = realtime.read({**truncated, "item_id": "i-2"})
    assert (first.kind, first.response_id, first.cut_ms) == (STOP, "r-1", 250)
    # The second item begins 1000 ms into the response.
    assert (second.response_id, second.cut_ms) == ("r-1", 1250)
    [unknown] = realtime.read({**truncated, "item_id": "i-9"})
    assert (unknown.response_id, unknown.cut_ms) == (None, 250)
    # The server told: nothing is to be told back.
    assert realtime.heard("patient", first) == []


def test_a_cut_is_told_to_the_server_once(realtime: OpenAIRealtime):
    [one] = realtime.read(delta("i-1", SECOND))
    cut = Inbound(STOP, response_id="r-1", cut_ms=420)
    want = {"type": "conversation.item.truncate", "item_id": "i-1", "content_index": 0, "audio_end_ms": 420}
    assert realtime.heard("patient", cut) == [want]
    assert realtime.heard("patient", cut) == []
    assert realtime.heard("patient", one) == []


def test_a_cut_in_the_second_item_leaves_the_first(realtime: OpenAIRealtime):
    for item in ("i-1", "i-2", "i-3"):
        realtime.read(delta(item, SECOND))
    realtime.read(delta("i-8", SECOND, response="r-8"))
    cuts = realtime.heard("patient", Inbound(STOP, response_id="r-1", cut_ms=1300))
    assert [(cut["item_id"], cut["audio_end_ms"]) for cut in cuts] == [("i-2", 300), ("i-3", 0)]


def test_a_cut_without_a_name_is_of_what_was_said_last(realtime: OpenAIRealtime):
    realtime.read(delta("i-1", SECOND, response="r-1"))
    realtime.read(delta("i-2", SECOND, response="r-2"))
    [started] = realtime.read({"type": "input_audio_buffer.speech_started", "audio_start_ms": 9, "item_id": "i-user"})
    assert started.kind == SPEECH_STARTED
    assert realtime.heard("patient", started) == []
    [cut] = realtime.heard("patient", Inbound(SPEECH_STARTED, cut_ms=10, details=started.details))
    assert cut["item_id"] == "i-2"


def test_an_end_beyond_the_audio_is_no_cut(realtime: OpenAIRealtime):
    realtime.read(delta("i-1", SECOND))
    assert realtime.heard("patient", Inbound(STOP, response_id="r-1", cut_ms=1000)) == []


def test_a_cut_of_audio_that_another_connection_read_goes_by_its_item(realtime: OpenAIRealtime):
    one = Inbound(AUDIO, "patient", None, "r-1", cut_ms=80, details={"item_id": "i-7", "content_index": 1})
    want = {"type": "conversation.item.truncate", "item_id": "i-7", "content_index": 1, "audio_end_ms": 80}
    assert realtime.heard("patient", one) == [want]


def test_the_stop_of_the_system_comes_back(realtime: OpenAIRealtime):
    system = OpenAIRealtime([])
    for message in system.system_audio("patient", SECOND, "r-1"):
        realtime.read(message)
    started, stop = (one for message in system.system_stop("patient", "r-1", 419.6) for one in realtime.read(message))
    assert started.kind == SPEECH_STARTED
    assert (stop.kind, stop.response_id, stop.cut_ms) == (STOP, "r-1", 420)


def test_a_flood_of_items_is_forgotten(realtime: OpenAIRealtime):
    for number in range(3 * ITEMS_REMEMBERED):
        realtime.read(delta(f"i-{number}", b"\x01\x00"))
    assert len(realtime._items) == ITEMS_REMEMBERED


def test_a_translation_session_is_read(realtime: OpenAIRealtime):
    message = {"type": "session.output_audio.delta", "delta": "AQA=", "sample_rate": 16000, "channels": 1}
    [one] = realtime.read(message)
    assert (one.kind, one.audio, realtime.rate_of(one)) == (AUDIO, b"\x01\x00", 16000)


def test_no_secret_is_kept(realtime: OpenAIRealtime):
    tools = [{"type": "mcp", "authorization": "Bearer x", "headers": {"x-key": "y"}, "server_label": "tools"}]
    session = {"id": "s", "client_secret": {"value": "ek_1"}, "tools": tools}
    [one] = realtime.read({"type": "session.created", "session": session})
    assert one.details["session"] == {"id": "s", "tools": [{"type": "mcp", "server_label": "tools"}]}


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({}, "no type"),
        ({"type": ["response.done"]}, "no type"),
        ({"type": "response.output_audio.delta"}, "delta is missing"),
        ({"type": "response.output_audio.delta", "delta": None}, "delta is not valid base64"),
        ({"type": "response.output_audio.delta", "delta": "AQA"}, "delta is not valid base64"),
        ({"type": "response.output_audio.delta", "delta": "AQ-="}, "delta is not valid base64"),
        ({"type": "response.output_audio.delta", "delta": "A*QA="}, "delta is not valid base64"),
        ({"type": "response.audio.delta", "delta": "AQ=="}, "audio of odd length (1 bytes)"),
        ({"type": "response.output_text.delta", "delta": 1}, "delta is missing"),
        ({"type": "response.text.done"}, "text is missing"),
        ({"type": "response.audio_transcript.done", "text": "x"}, "transcript is missing"),
        ({"type": "response.done"}, "response is missing"),
        ({"type": "conversation.item.truncated", "item_id": "i"}, "audio_end_ms is missing"),
        ({"type": "conversation.item.truncated", "audio_end_ms": float("nan")}, "audio_end_ms is missing"),
        ({"type": "conversation.item.truncated", "audio_end_ms": True}, "audio_end_ms is missing"),
    ],
)
def test_what_is_broken_says_how(realtime: OpenAIRealtime, message: dict[str, Any], problem: str):
    [one] = realtime.read(message)
    assert (one.kind, one.problem, one.participant) == (INVALID, problem, "patient")
    assert "delta" not in one.details or one.details["delta"] == 1


@pytest.mark.parametrize("audio", [None, 5, "AQ==", "AQA", "", "****", "A*QA="])
def test_the_system_does_not_hear_what_is_broken(realtime: OpenAIRealtime, audio: object):
    assert realtime.system_read({"type": "input_audio_buffer.append", "audio": audio}) == []


def test_audio_without_a_sample_is_no_sound(realtime: OpenAIRealtime):
    [one] = realtime.read(delta("i-1", b""))
    assert one.kind == CONTROL
