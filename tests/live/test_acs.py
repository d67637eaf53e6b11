"""Azure Communication Services: spellings, ids, text, and what is broken."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest

from turnwise.live.messages import AUDIO, CONTROL, INVALID, RESPONSE_DONE, STOP, TEXT, TEXT_DELTA, Inbound
from turnwise.live.transports.acs import Acs

PCM = b"\x01\x00\x02\x00"
DATA = b64encode(PCM).decode()


@pytest.fixture
def acs() -> Acs:
    call = Acs(["patient", "doctor"])
    call.begins(datetime(2024, 11, 15, 19, 16, 12, 900_000, tzinfo=UTC))
    return call


def test_the_call_opens_with_metadata(acs: Acs):
    [message] = acs.hello()
    metadata = message["audioMetadata"]
    assert message["kind"] == "AudioMetadata"
    assert metadata.pop("subscriptionId") == acs.subscription_id
    # 16,000 samples a second, a fiftieth of a second, two bytes each: 640 bytes.
    assert metadata == {"encoding": "PCM", "sampleRate": 16000, "channels": 1, "length": 640}
    assert Acs([]).subscription_id != acs.subscription_id


@pytest.mark.parametrize(
    ("at_ms", "timestamp"),
    [(0, "2024-11-15T19:16:12.900Z"), (20, "2024-11-15T19:16:12.920Z"), (100.0, "2024-11-15T19:16:13.000Z")],
)
def test_a_frame_is_as_documented(acs: Acs, at_ms: float, timestamp: str):
    assert acs.frame("patient", PCM, at_ms, False) == {
        "kind": "AudioData",
        "audioData": {"timestamp": timestamp, "participantRawID": "patient", "data": DATA, "silent": False},
    }


@pytest.mark.parametrize(
    ("message", "participant", "silent"),
    [
        ({"kind": "AudioData", "audioData": {"data": DATA, "playToParticipant": "p", "isSilent": False}}, "p", False),
        ({"kind": "AudioData", "audioData": {"data": DATA, "participant": "p", "silent": True}}, "p", True),
        ({"kind": "AudioData", "audioData": {"data": DATA, "participantRawID": "p"}}, "p", None),
        ({"Kind": "AudioData", "AudioData": {"Data": DATA, "PlayToParticipant": "p", "IsSilent": True}}, "p", True),
        ({"Kind": "AudioData", "AudioData": {"Data": DATA, "Participant": {"RawId": "p"}}}, "p", None),
        ({"Kind": "AudioData", "AudioData": {"Data": DATA, "Mark": None}, "StopAudio": None}, None, None),
        ({"kind": "audioData", "audio_data": {"data": DATA, "participant_id": 7}}, "7", None),
    ],
)
def test_audio_in_every_spelling(acs: Acs, message: dict[str, Any], participant: str | None, silent: bool | None):
    [one] = acs.read(message)
    assert (one.kind, one.audio, one.participant, one.details.get("silent")) == (AUDIO, PCM, participant, silent)


@pytest.mark.parametrize("turn", ["turn_id", "turnId", "TurnId"])
@pytest.mark.parametrize("response", ["response_id", "responseId", "ResponseID"])
@pytest.mark.parametrize("inside", [True, False])
def test_ids_where_present(acs: Acs, turn: str, response: str, inside: bool):
    ids = {turn: "t-1", response: "r-1", "itemId": "i-1"}
    message = {"kind": "AudioData", "audioData": {"data": DATA, **(ids if inside else {})}, **({} if inside else ids)}
    [one] = acs.read(message)
    assert (one.turn_id, one.response_id, one.details["item_id"]) == ("t-1", "r-1", "i-1")


def test_what_stands_beside_the_audio_counts_before_what_stands_around_it(acs: Acs):
    inner = {"data": DATA, "participant": "p", "response_id": "r-1", "timestamp": "inner"}
    [one] = acs.read(
        {"kind": "AudioData", "audioData": inner, "participant": "q", "response_id": "r-2", "timestamp": "x"}
    )
    assert (one.participant, one.response_id, one.details) == ("p", "r-1", {"timestamp": "inner"})


@pytest.mark.parametrize("nobody", [None, True, "", 1.5, ["p"], {"rawId": None}, {}])
def test_what_is_no_name_names_nobody(acs: Acs, nobody: object):
    [one] = acs.read({"kind": "AudioData", "audioData": {"data": DATA, "participant": nobody}})
    assert (one.kind, one.participant) == (AUDIO, None)


def test_a_piece_of_text_has_the_language_it_is_in(acs: Acs):
    message = {
        "type": "translation.text_delta",
        "participant_id": "patient",
        "source_language": "en",
        "target_language": "no",
        "delta": "Hei ",
        "timestamp_ms": 1200,
        "response_id": "r-1",
    }
    details = {"timestamp_ms": 1200, "source_language": "en"}
    want = Inbound(TEXT_DELTA, "patient", None, "r-1", "Hei ", language="no", details=details)
    assert acs.read(message) == [want]


def test_a_transcript_is_the_translation_unless_it_names_no_target(acs: Acs):
    both = {"type": "transcript", "participant_id": "p", "source_language": "en", "target_language": "de", "text": "Ja"}
    [one] = acs.read(both)
    assert (one.kind, one.text, one.language, one.participant) == (TEXT, "Ja", "de", "p")
    [said] = acs.read({"type": "transcript", "source_language": "en", "text": "Yes"})
    assert (said.kind, said.text, said.language) == ("transcript", "Yes", "en")


@pytest.mark.parametrize("cancelled", [True, False])
def test_the_end_of_a_response_says_its_text_and_its_status(acs: Acs, cancelled: bool):
    [message] = acs.system_done("patient", "r-1", "Ja, gern.", cancelled)
    text, done = acs.read(message)
    assert (text.kind, text.text, text.response_id, text.participant) == (TEXT, "Ja, gern.", "r-1", "patient")
    assert (done.kind, done.response_id) == (RESPONSE_DONE, "r-1")
    assert done.status == ("cancelled" if cancelled else "completed")


def test_text_of_the_system_comes_back(acs: Acs):
    [message] = acs.system_text("doctor", "Ja, ", "r-2", 99.6)
    details = {"timestamp_ms": 100}
    assert acs.read(message) == [Inbound(TEXT_DELTA, "doctor", None, "r-2", "Ja, ", details=details)]


def test_a_stop_names_nobody_and_means_all_unless_it_says_who(acs: Acs):
    assert acs.read({"kind": "StopAudio", "stopAudio": {}})[0].participant is None
    [message] = acs.system_stop("doctor", "r-1", 1000.0)
    [one] = acs.read(message)
    assert (one.kind, one.participant, one.response_id, one.cut_ms) == (STOP, "doctor", "r-1", None)


def test_a_system_with_a_rate_of_its_own_is_heard_at_it(acs: Acs):
    audio = {"kind": "AudioData", "audioData": {"data": DATA}}
    assert acs.rate_of(acs.read(audio)[0]) == 16000
    acs.read({"kind": "AudioMetadata", "audioMetadata": {"sampleRate": 24000}})
    assert acs.rate_of(acs.read(audio)[0]) == 24000


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({}, "neither kind nor type"),
        ({"kind": None, "type": 3}, "neither kind nor type"),
        ({"kind": "AudioData"}, "audioData.data is missing"),
        ({"kind": "AudioData", "audioData": []}, "audioData.data is missing"),
        ({"kind": "AudioData", "audioData": {"data": None}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": [DATA]}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": "AQAC*A=="}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": "AQACAA"}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": "AQAC\nAA=="}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": "ÄQACAA=="}}, "audioData.data is not valid base64"),
        ({"kind": "AudioData", "audioData": {"data": "AQAC"}}, "audio of odd length (3 bytes)"),
        ({"kind": "TranscriptionData", "transcriptionData": {}}, "transcriptionData.text is missing"),
        ({"type": "translation.text_delta"}, "delta is missing"),
        ({"type": "transcript", "text": 5}, "text is missing"),
    ],
)
def test_what_is_broken_says_how(acs: Acs, message: dict[str, Any], problem: str):
    [one] = acs.read(message)
    assert (one.kind, one.problem, one.audio) == (INVALID, problem, b"")
    assert acs.system_read(message) == []


def test_audio_without_a_sample_is_no_sound(acs: Acs):
    [one] = acs.read({"kind": "AudioData", "audioData": {"data": ""}})
    assert one.kind == CONTROL
