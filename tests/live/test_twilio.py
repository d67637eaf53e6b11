"""Twilio Media Streams: the order of a call, marks, and what is broken."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from turnwise.live.messages import AUDIO, CONTROL, INVALID, MARK, STOP, Inbound
from turnwise.live.transports.twilio import Twilio


@pytest.fixture
def twilio() -> Twilio:
    return Twilio(["patient"])


def mark(name: str) -> dict[str, Any]:
    return {"event": "mark", "streamSid": "MZ1", "mark": {"name": name}}


def test_a_call_from_its_first_to_its_last_message(twilio: Twilio):
    connected, start = twilio.hello()
    first = twilio.frame("patient", bytes(320), 0.0, True)
    second = twilio.frame("patient", bytes(320), 20.0, True)
    [stop] = twilio.goodbye()
    sid = twilio.stream_sid
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    assert start == {
        "event": "start",
        "sequenceNumber": "1",
        "start": {
            "accountSid": "AC" + "0" * 32,
            "streamSid": sid,
            "callSid": twilio.call_sid,
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "customParameters": {"participant": "patient"},
        },
        "streamSid": sid,
    }
    # 160 samples of silence are 160 bytes 0xFF.
    payload = b64encode(b"\xff" * 160).decode()
    media = {"track": "inbound", "chunk": "1", "timestamp": "0", "payload": payload}
    assert first == {"event": "media", "sequenceNumber": "2", "media": media, "streamSid": sid}
    assert second["sequenceNumber"] == "3"
    assert second["media"] == {**media, "chunk": "2", "timestamp": "20"}
    assert stop["sequenceNumber"] == "4"
    assert stop["stop"] == {"accountSid": "AC" + "0" * 32, "callSid": twilio.call_sid}


def test_every_call_has_its_own_stream(twilio: Twilio):
    assert len({Twilio([]).stream_sid for _ in range(20)} | {twilio.stream_sid}) == 21
    assert len(twilio.stream_sid) == 34


def test_audio_is_decoded(twilio: Twilio):
    [one] = twilio.read(
        {"event": "media", "streamSid": "MZ1", "media": {"payload": b64encode(b"\xff\x80\x00").decode()}}
    )
    # Codes 0xFF, 0x80 and 0x00 are 0, 32124 = 0x7D7C and -32124 = 0x8284.
    assert one == Inbound(AUDIO, "patient", audio=b"\x00\x00\x7c\x7d\x84\x82")


def test_a_mark_goes_back_when_it_was_heard(twilio: Twilio):
    [one] = twilio.read(mark("hello over"))
    assert (one.kind, one.mark, one.participant) == (MARK, "hello over", "patient")
    [message] = twilio.heard("patient", one)
    assert message == {
        "event": "mark",
        "sequenceNumber": "1",
        "mark": {"name": "hello over"},
        "streamSid": twilio.stream_sid,
    }
    assert twilio.heard("patient", one) == []


def test_a_clear_sends_back_the_marks_that_were_not_heard(twilio: Twilio):
    first, second, third = (one for name in "abb" for one in twilio.read(mark(name)))
    twilio.heard("patient", first)
    [stop] = twilio.read({"event": "clear", "streamSid": "MZ1"})
    [after] = twilio.read(mark("c"))
    assert stop.kind == STOP
    sent = twilio.heard("patient", stop)
    assert [(message["mark"]["name"], message["sequenceNumber"]) for message in sent] == [("b", "2"), ("b", "3")]
    # Nothing goes back twice, whoever asks; what came after the clear is still to be heard.
    assert twilio.heard("patient", second) == twilio.heard("patient", third) == twilio.heard("patient", stop) == []
    assert [message["mark"]["name"] for message in twilio.heard("patient", after)] == ["c"]


def test_marks_that_were_cleared_may_be_told_one_by_one(twilio: Twilio):
    [one] = twilio.read(mark("a"))
    [stop] = twilio.read({"event": "clear"})
    assert len(twilio.heard("patient", one)) == 1
    assert twilio.heard("patient", stop) == []


def test_audio_that_was_heard_is_told_to_nobody(twilio: Twilio):
    assert twilio.heard("patient", Inbound(AUDIO, "patient", audio=b"\x00\x00")) == []


def test_the_system_answers_on_the_stream_of_the_caller(twilio: Twilio):
    system = Twilio([])
    for message in twilio.hello():
        system.system_read(message)
    messages = [
        *system.system_audio("patient", b"\x00\x00", "r-1"),
        *system.system_stop("patient", "r-1", 9.0),
        *system.system_done("patient", "r-1", "Ja", cancelled=False),
    ]
    assert {message["streamSid"] for message in messages} == {twilio.stream_sid}
    assert [one.kind for message in messages for one in twilio.read(message)] == [AUDIO, STOP, MARK]
    assert twilio.read(messages[-1])[0].mark == "r-1"
    [(participant, _, _)] = system.system_read(twilio.frame("patient", bytes(320), 0.0, True))
    assert participant == "patient"


def test_twilio_has_no_text_and_no_mark_for_what_was_cancelled(twilio: Twilio):
    assert twilio.system_text("patient", "Ja", "r-1", 0.0) == []
    assert twilio.system_done("patient", "r-1", "Ja", cancelled=True) == []


def test_the_system_does_not_hear_its_own_track(twilio: Twilio):
    frame = twilio.frame("patient", bytes(320), 0.0, True)
    frame["media"]["track"] = "outbound"
    assert twilio.system_read(frame) == []


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({}, "no event"),
        ({"event": {}}, "no event"),
        ({"event": "media"}, "media.payload is missing"),
        ({"event": "media", "media": {}}, "media.payload is missing"),
        ({"event": "media", "media": {"payload": 7}}, "media.payload is not valid base64"),
        ({"event": "media", "media": {"payload": "/w"}}, "media.payload is not valid base64"),
        ({"event": "media", "media": {"payload": "_w=="}}, "media.payload is not valid base64"),
        ({"event": "media", "media": {"payload": "/*w=="}}, "media.payload is not valid base64"),
        ({"event": "mark"}, "mark.name is missing"),
        ({"event": "mark", "mark": {"name": 1}}, "mark.name is missing"),
    ],
)
def test_what_is_broken_says_how(twilio: Twilio, message: dict[str, Any], problem: str):
    [one] = twilio.read(message)
    assert (one.kind, one.problem) == (INVALID, problem)
    assert twilio.system_read(message) == []


def test_audio_without_a_sample_is_no_sound(twilio: Twilio):
    [one] = twilio.read({"event": "media", "media": {"payload": ""}})
    assert one.kind == CONTROL
