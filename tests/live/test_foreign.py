"""Other programs' wire logs, in the forms that people write, of all three protocols."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from turnwise.kernel.errors import InputError
from turnwise.live.capture import Capture
from turnwise.live.foreign import read_foreign
from turnwise.live.replay import replay
from turnwise.live.wire import IN, OUT

PCM = bytes(range(200)) * 16
"""3200 bytes: 100 ms at 16 kHz, 66.667 ms at 24 kHz; as mu-law at 8 kHz, 400 ms."""
AUDIO = b64encode(PCM).decode()
Row = dict[str, Any]


def written(folder: Path, *rows: Row | str) -> Path:
    path = folder / "server.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def built(folder: Path, protocol: str, *rows: Row | str) -> Capture:
    return replay(written(folder, *rows), folder / "capture", protocol)


def times(capture: Capture) -> list[tuple[str, float]]:
    return [(event["type"], event["t_arrived_ms"]) for event in capture.events]


# What a row looks like

DELTA = {"type": "translation.text_delta", "participant_id": "p", "delta": "Hal"}
SENT = {"kind": "AudioData", "audioData": {"participantRawID": "p", "data": AUDIO, "silent": False}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"t_ms": 100, "dir": "sent", "data": json.dumps(SENT)}, {"t_ms": 350, "dir": "recv", "data": DELTA}),
        (
            {"timestamp": 1772403723.7, "direction": "outbound", "message": SENT},
            {"timestamp": 1772403723.95, "direction": "inbound", "message": DELTA},
        ),
        (
            {"ts": "2026-03-01T22:22:03.700Z", "side": "client", "payload": SENT},
            {"ts": "2026-03-01T22:22:03.950Z", "side": "server", "payload": DELTA},
        ),
        ({"time": 1772403723700, "from": ">", "raw": SENT}, {"time": 1772403723950, "from": "<", "raw": DELTA}),
        ({"t": 1.5, "body": SENT}, {"t": 1.75, "body": DELTA}),  # who sent it, the messages tell
        ({"time_ms": 40, **SENT}, {"time_ms": 290, **DELTA}),  # the message itself, with a time
    ],
)
def test_rows_in_every_form(first: Row, second: Row, tmp_path: Path) -> None:
    _, lines = read_foreign(written(tmp_path, first, second), "acs")
    assert [(line.direction, line.t_ms) for line in lines] == [(OUT, 0.0), (IN, 250.0)]
    assert [line.message for line in lines] == [SENT, DELTA]


def test_when_it_began(tmp_path: Path) -> None:
    header, _ = read_foreign(written(tmp_path, {"ts": "2026-03-01T23:22:03.7+01:00", "message": DELTA}), "acs")
    assert header.started == "2026-03-01T22:22:03.700+00:00"
    assert (header.scenario_id, header.protocol, header.turns) == ("server", "acs", [])


def test_rows_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    rows = [{"t_ms": t, "dir": "in", "message": DELTA} for t in (300, 100, 200)]
    _, lines = read_foreign(written(tmp_path, *rows), "acs")
    assert [line.t_ms for line in lines] == [0.0, 100.0, 200.0]


@pytest.mark.parametrize(
    ("rows", "what", "line"),
    [
        (["{"], "a line of the log is no JSON", 1),
        ([{"t_ms": 1, "message": DELTA}, "[1]"], "a line of the log is no object", 2),
        ([{"message": DELTA}], "a line of the log has no time", 1),
        ([{"ts": "yesterday", "message": DELTA}], "a line of the log has no time", 1),
        ([{"ts": True, "message": DELTA}], "a line of the log has no time", 1),
    ],
)
def test_rows_that_cannot_be_used(rows: list[Row | str], what: str, line: int, tmp_path: Path) -> None:
    path = written(tmp_path, *rows)
    with pytest.raises(InputError) as caught:
        read_foreign(path, "acs")
    assert (caught.value.what, caught.value.where) == (what, f"{path}, line {line}")


def test_a_log_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the wire log is empty"):
        read_foreign(written(tmp_path, "", "  "), "acs")
    with pytest.raises(InputError, match="cannot be read"):
        read_foreign(tmp_path / "missing.jsonl", "acs")
    with pytest.raises(InputError, match="the times of the log are none"):
        read_foreign(written(tmp_path, {"t_ms": 1e300, "message": DELTA}), "acs")


# The three protocols


def test_a_log_of_a_media_stream(tmp_path: Path) -> None:
    """The same 100 ms twice, 30 ms apart: the second is heard after the first, and cut off by the stop 50 ms later."""
    sound = {"kind": "AudioData", "audioData": {"data": AUDIO, "playToParticipant": "p"}}
    capture = built(
        tmp_path,
        "acs",
        {"t_ms": 1000, "message": {"kind": "AudioMetadata", "audioMetadata": {"sampleRate": 16000}}},
        {"t_ms": 1020, "message": SENT},
        {"t_ms": 1500, "message": sound},
        {"t_ms": 1530, "message": sound},
        {"t_ms": 1540, "message": DELTA},
        {"t_ms": 1650, "message": {"kind": "StopAudio", "stopAudio": {"playToParticipant": "p"}}},
    )
    assert times(capture) == [
        ("translated_audio", 500.0),
        ("translated_audio", 530.0),
        ("translated_delta", 540.0),
        ("stop_audio", 650.0),
    ]
    one, other = capture.events[:2]
    assert (one["t_audible_ms"], one["audible_ms"], "cut" in one) == (500.0, 100.0, False)
    assert (other["t_audible_ms"], other["audible_ms"], other["cut"]) == (600.0, 50.0, True)
    assert (tmp_path / "capture" / "audio" / "in-p.wav").read_bytes()[44:] == PCM * 2
    assert AUDIO not in (tmp_path / "capture" / "events.jsonl").read_text()


def test_a_log_of_a_realtime_session(tmp_path: Path) -> None:
    at = {"response_id": "r", "item_id": "i", "output_index": 0, "content_index": 0}
    capture = built(
        tmp_path,
        "openai-realtime",
        {"t": 0.0, "message": {"type": "input_audio_buffer.append", "audio": AUDIO}},
        {"t": 0.1, "message": {"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 90, "item_id": "c"}},
        {"t": 0.3, "message": {"type": "response.audio.delta", **at, "delta": AUDIO}},
        {"t": 0.31, "message": {"type": "response.audio_transcript.delta", **at, "delta": "Hei"}},
        {"t": 0.33, "message": {"type": "conversation.item.truncate", "item_id": "i", "audio_end_ms": 40}},
        {"t": 0.34, "message": {"type": "conversation.item.truncated", "item_id": "i", "audio_end_ms": 40}},
        {"t": 0.5, "message": {"type": "response.done", "response": {"id": "r", "status": "cancelled"}}},
    )
    assert times(capture) == [
        ("speech_stopped", 100.0),
        ("translated_audio", 300.0),
        ("translated_delta", 310.0),
        ("stop_audio", 340.0),
        ("response_done", 500.0),
    ]
    sound, done = capture.events[1], capture.events[-1]
    assert sound["audio"]["duration_ms"] == 66.667  # 3200 / 2 / 24
    assert (sound["t_audible_ms"], sound["audible_ms"], sound["cut"]) == (300.0, 40.0, True)
    assert (done["status"], done["response_id"]) == ("cancelled", "r")


def test_a_log_of_a_telephone_call(tmp_path: Path) -> None:
    start = {"event": "start", "start": {"streamSid": "MZ1", "callSid": "CA1"}, "streamSid": "MZ1"}
    capture = built(
        tmp_path,
        "twilio",
        {"t_ms": 5000, "message": {"event": "connected", "protocol": "Call", "version": "1.0.0"}},
        {"t_ms": 5001, "message": start},
        {"t_ms": 5020, "message": {"event": "media", "media": {"track": "inbound", "payload": AUDIO}}},
        {"t_ms": 5100, "message": {"event": "media", "streamSid": "MZ1", "media": {"payload": AUDIO}}},
        {"t_ms": 5110, "message": {"event": "mark", "streamSid": "MZ1", "mark": {"name": "m"}}},
        {"t_ms": 5350, "message": {"event": "clear", "streamSid": "MZ1"}},
    )
    assert times(capture) == [("translated_audio", 100.0), ("mark", 110.0), ("stop_audio", 350.0)]
    # 3200 bytes of mu-law are 400 ms of 8 kHz, of which 350 - 100 were heard.
    assert capture.events[0]["audio"]["duration_ms"] == 400.0
    assert capture.events[0]["audible_ms"] == 250.0
    assert {event["participant_id"] for event in capture.events} == {"caller"}


def test_who_sent_what_in_a_realtime_session(tmp_path: Path) -> None:
    """The names of the two sides begin alike."""
    callers = ["input_audio_buffer.commit", "input_audio_buffer.clear", "conversation.item.create", "response.create"]
    systems = ["input_audio_buffer.committed", "input_audio_buffer.cleared", "conversation.item.created"]
    rows = [{"t_ms": n, "message": {"type": name}} for n, name in enumerate([*callers, *systems])]
    _, lines = read_foreign(written(tmp_path, *rows), "openai-realtime")
    assert [line.direction for line in lines] == [OUT] * 4 + [IN] * 3


def test_what_is_broken_is_kept_as_invalid(tmp_path: Path) -> None:
    capture = built(
        tmp_path,
        "acs",
        {"t_ms": 0, "dir": "in", "message": {"kind": "AudioData", "audioData": {"data": "!"}}},
        {"t_ms": 1, "dir": "in", "message": "{not json"},
    )
    assert [event["problem"] for event in capture.events] == ["audioData.data is not valid base64", "no JSON object"]
