"""Scenarios against live systems on loopback: what is captured, and what is survived."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.servers import broken, simulated, write_scenario
from turnwise.live.address import make_address
from turnwise.live.drive import Driven, drive
from turnwise.live.replay import replay
from turnwise.live.scenario import load_scenarios

SLACK_MS = 250.0
"""The machines of tests are noisy; docs/benchmarks.md has how exact the clock is."""


def driven(tmp_path: Path, address: str, protocol: str = "acs", **options: Any) -> Driven:
    path = write_scenario(tmp_path)
    (found,) = drive(load_scenarios([path]), make_address(address), protocol, tmp_path / "out", **options)
    return found


def heard(one: Driven) -> dict[str | None, tuple[float, float]]:
    """First and last moment of each response that was heard."""
    found: dict[str | None, tuple[float, float]] = {}
    for event in one.capture.events:
        if event.get("audible_ms"):
            start, end = event["t_audible_ms"], event["t_audible_ms"] + event["audible_ms"]
            first, last = found.get(event.get("response_id"), (start, end))
            found[event.get("response_id")] = min(first, start), max(last, end)
    return found


@pytest.mark.parametrize("protocol", ["acs", "openai-realtime"])
def test_a_good_system_is_cut_off_and_answers(protocol: str, tmp_path: Path) -> None:
    with simulated(protocol, "good", cutoff_ms=300, response_ms=700) as address:
        one = driven(tmp_path, address, protocol)
    assert one.capture.reason is None
    first, second = one.capture.header.turns
    assert second.start_ms == pytest.approx(2600, abs=40)
    assert first.end_ms == pytest.approx(1000 + (first.start_ms or 0), abs=40)
    old, new = heard(one).values()
    assert old[0] == pytest.approx(700, abs=SLACK_MS)
    assert old[1] == pytest.approx(second.start_ms + 300, abs=SLACK_MS)
    assert new[0] == pytest.approx(second.start_ms + 700, abs=SLACK_MS)


def test_a_telephone_call(tmp_path: Path) -> None:
    """Twilio has no ids, so what was heard is one piece with a gap where it was cleared."""
    with simulated("twilio", "good", cutoff_ms=300, response_ms=900) as address:
        one = driven(tmp_path, address, "twilio")
    pieces = [e for e in one.capture.events if e.get("audible_ms")]
    cut = next(e for e in pieces if e.get("cut"))
    assert cut["t_audible_ms"] + cut["audible_ms"] == pytest.approx(2600 + 300, abs=SLACK_MS)
    later = [e for e in pieces if e["t_audible_ms"] > cut["t_audible_ms"]]
    assert later[0]["t_audible_ms"] == pytest.approx(2600 + 900, abs=SLACK_MS)


def test_audio_arrives_before_it_is_heard(tmp_path: Path) -> None:
    with simulated() as address:
        one = driven(tmp_path, address)
    ahead = [e["t_audible_ms"] - e["t_arrived_ms"] for e in one.capture.events if "t_audible_ms" in e]
    assert min(ahead) >= 0
    assert max(ahead) > 1000  # six seconds are sent within 1.2


@pytest.mark.parametrize("protocol", ["acs", "openai-realtime", "twilio"])
def test_a_capture_is_equal_to_the_one_built_from_its_wire_log(protocol: str, tmp_path: Path) -> None:
    with simulated(protocol, "good") as address:
        one = driven(tmp_path, address, protocol)
    again = tmp_path / "again"
    replay(one.folder / "wire.jsonl", again)
    for name in ("capture.json", "events.jsonl"):
        assert (again / name).read_text() == (one.folder / name).read_text()
    for file in (one.folder / "audio").iterdir():
        assert (again / "audio" / file.name).read_bytes() == file.read_bytes()


def test_the_wire_log_has_every_frame_and_no_audio(tmp_path: Path) -> None:
    with simulated() as address:
        one = driven(tmp_path, address)
    lines = [json.loads(line) for line in (one.folder / "wire.jsonl").read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    frames = [x for x in lines if x["direction"] == "out" and x["message"].get("kind") == "AudioData"]
    assert len(frames) == one.capture.clock["frames"] - 1  # the last moment ends the scenario
    assert all(set(x["message"]["audioData"]["data"]) == {"$audio"} for x in frames)
    places = [x["message"]["audioData"]["data"]["$audio"]["begin"] for x in frames]
    assert places == [640 * n for n in range(len(frames))]  # 20 ms of 16 kHz in 16 bits, none missing
    assert max(map(len, (one.folder / "wire.jsonl").read_text().splitlines())) < 2000


def test_secrets_reach_neither_log_nor_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "hush-hush-1234")
    path = write_scenario(tmp_path)
    with simulated() as address:
        place = make_address(
            f"{address}${{TOKEN_OF_TEST}}?key=${{TOKEN_OF_TEST}}", ["X-Key: $TOKEN_OF_TEST"], "TOKEN_OF_TEST"
        )
        drive(load_scenarios([path]), place, "acs", tmp_path / "out")
    for file in (tmp_path / "out").rglob("*.json*"):
        assert "hush" not in file.read_text()
    assert "hush" not in place.shown + repr(place)


def test_turns_wait_for_what_the_system_does(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    text = path.read_text().replace("start_at_ms: 2600", "after: {turn: first, event: first_audio, delay_ms: 900}")
    path.write_text(text)
    with simulated(response_ms=1200) as address:
        (one,) = drive(load_scenarios([path]), make_address(address), "acs", tmp_path / "out")
    second = one.capture.header.turns[1]
    assert second.start_ms == pytest.approx(1200 + 900, abs=SLACK_MS)


def test_a_turn_that_waits_in_vain_ends_with_the_reason(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    text = path.read_text().replace("start_at_ms: 2600", "after: {turn: first, event: first_audio, delay_ms: 900}")
    path.write_text(text)

    async def deaf(socket: Any) -> None:
        async for _ in socket:
            pass

    with broken(deaf) as address:
        (one,) = drive(load_scenarios([path]), make_address(address), "acs", tmp_path / "out", timeout_s=3)
    assert "turn second waits for first_audio of turn first" in (one.capture.reason or "")
    assert one.capture.header.turns[0].end_ms is not None


# Systems that break


async def closes(socket: Any) -> None:
    await asyncio.sleep(0.3)
    await socket.close(1011, "out of order")


async def never_hangs_up(socket: Any) -> None:
    """It says that it closes, but reads nothing, not even the answer to that."""
    await asyncio.sleep(1.0)
    socket.transport.pause_reading()
    await socket.close(1011, "out of order")


async def says_goodbye(socket: Any) -> None:
    await asyncio.sleep(0.3)
    await socket.close(1000)


async def breaks_off(socket: Any) -> None:
    await asyncio.sleep(0.3)
    socket.transport.write(b"\x81\x7e\xff")  # the head of a frame, and no more
    socket.transport.abort()


async def rubbish(socket: Any) -> None:
    for _ in range(300):
        await socket.send("{not json")
    await asyncio.sleep(5)


async def bad_audio(socket: Any) -> None:
    odd = base64.b64encode(b"\0" * 641).decode()
    for data in ("!!!", odd, 5, None):
        await socket.send(json.dumps({"kind": "AudioData", "audioData": {"data": data}}))
    async for _ in socket:
        pass


async def floods(socket: Any) -> None:
    message = json.dumps({"kind": "StopAudio", "stopAudio": {}})
    for _ in range(100_000):
        await socket.send(message)
    await asyncio.sleep(5)


async def stops_reading(socket: Any) -> None:
    socket.transport.pause_reading()
    await asyncio.sleep(3)


def test_a_system_that_stalls_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwise.live.connection.PING_S", 0.5)
    with broken(stops_reading) as address:
        one = driven(tmp_path, address, timeout_s=20)
    assert "stalled" in (one.capture.reason or "")


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (closes, "closed the connection (1011: out of order)"),
        (never_hangs_up, "closed the connection (1011: out of order)"),
        (says_goodbye, "the system ended the call"),
        (breaks_off, "broke off"),
        (rubbish, "rubbish"),
        (floods, "flooded"),
    ],
)
def test_a_system_that_breaks_ends_the_scenario_with_the_reason(handler: Any, reason: str, tmp_path: Path) -> None:
    with broken(handler) as address:
        one = driven(tmp_path, address, timeout_s=60)
    assert reason in (one.capture.reason or "")
    kept = json.loads((one.folder / "capture.json").read_text())
    assert kept["reason"] == one.capture.reason
    replay(one.folder / "wire.jsonl", tmp_path / "again")
    assert json.loads((tmp_path / "again" / "capture.json").read_text()) == kept


def test_broken_audio_is_kept_as_invalid_and_the_scenario_goes_on(tmp_path: Path) -> None:
    with broken(bad_audio) as address:
        one = driven(tmp_path, address)
    assert one.capture.reason is None
    problems = [event["problem"] for event in one.capture.events if event["type"] == "invalid"]
    assert len(problems) == 4


def test_nobody_there(tmp_path: Path) -> None:
    one = driven(tmp_path, "ws://127.0.0.1:9/")
    assert "connection failed" in (one.capture.reason or "")
    assert (one.folder / "capture.json").is_file()


def test_many_side_by_side(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, tail_ms=300)
    with simulated() as address:
        found = drive(load_scenarios([path]), make_address(address), "acs", tmp_path / "out", repeat=6, parallel=6)
    assert [one.capture.reason for one in found] == [None] * 6
    assert len({one.folder for one in found}) == 6
    assert all(len(heard(one)) == 2 for one in found)
