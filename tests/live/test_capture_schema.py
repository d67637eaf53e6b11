"""`docs/capture.schema.json` against real captures of all three protocols, and of calls that ended early."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.live.servers import broken, simulated, write_scenario
from turnwise.live.address import make_address
from turnwise.live.drive import drive
from turnwise.live.replay import replay
from turnwise.live.scenario import load_scenarios
from turnwise.live.transports import TRANSPORTS

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "capture.schema.json").read_text())
FILES = {"capture.json": "capture", "events.jsonl": "event", "wire.jsonl": "wire"}


def validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]})


def problems(folder: Path) -> list[str]:
    found = []
    for name, definition in FILES.items():
        text = (folder / name).read_text()
        values = [json.loads(text)] if name == "capture.json" else [json.loads(line) for line in text.splitlines()]
        assert values or name == "events.jsonl"
        check = validator(definition)
        found += [f"{name}: {error.json_path}: {error.message[:200]}" for x in values for error in check.iter_errors(x)]
    return found


def driven(folder: Path, address: str, protocol: str = "acs") -> Path:
    scenarios = load_scenarios([write_scenario(folder, barge_in_ms=1800, tail_ms=1200)])
    (one,) = drive(scenarios, make_address(address), protocol, folder / "out", timeout_s=20)
    return one.folder


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$ref"] == "#/$defs/capture"


@pytest.mark.parametrize("protocol", TRANSPORTS)
def test_a_call_that_was_answered(protocol: str, tmp_path: Path) -> None:
    with simulated(protocol, "good") as address:
        folder = driven(tmp_path, address, protocol)
    assert problems(folder) == []
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert {"audio_sent", "translated_audio", "stop_audio"} <= {event["type"] for event in events}
    # Every field that there is has its place in the schema.
    capture = json.loads((folder / "capture.json").read_text())
    assert capture.keys() <= SCHEMA["$defs"]["capture"]["properties"].keys()
    assert {key for turn in capture["turns"] for key in turn} <= SCHEMA["$defs"]["turn"]["properties"].keys()
    assert {key for event in events for key in event} <= SCHEMA["$defs"]["event"]["properties"].keys()
    assert capture["clock"].keys() == SCHEMA["$defs"]["clock"]["properties"].keys()


def test_calls_that_ended_early(tmp_path: Path) -> None:
    async def rubbish(socket: Any) -> None:
        await socket.send("{not json")
        await socket.send(json.dumps({"kind": "AudioData", "audioData": {"data": "!"}}))
        await asyncio.sleep(0.3)
        await socket.close(1011, "out of order")

    with broken(rubbish) as address:
        folder = driven(tmp_path, address)
    assert json.loads((folder / "capture.json").read_text())["reason"]
    assert problems(folder) == []
    (tmp_path / "nobody").mkdir()
    assert problems(driven(tmp_path / "nobody", "ws://127.0.0.1:9/")) == []


def test_a_capture_from_another_programs_log(tmp_path: Path) -> None:
    path = tmp_path / "server.jsonl"
    path.write_text(json.dumps({"t_ms": 5, "dir": "in", "message": {"type": "transcript", "text": "Hi"}}) + "\n")
    replay(path, tmp_path / "out", "acs")
    (tmp_path / "out" / "wire.jsonl").write_text('{"seq": 0, "direction": "note", "t_ms": 0, "note": {}}')
    assert problems(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("capture", {"format": "turnwise-capture/2"}),
        ("event", {"seq": 0, "direction": "in", "type": "control"}),  # when?
        ("event", {"seq": 0, "direction": "in", "t_arrived_ms": 1, "type": "translated_audio", "audio": {}}),
        ("event", {"seq": -1, "direction": "in", "t_arrived_ms": 1, "type": "control"}),
        ("wire", {"seq": 0, "direction": "in", "t_ms": -1, "message": {}}),
        ("wire", {"seq": 0, "direction": "in", "t_ms": 1}),  # what?
    ],
)
def test_what_it_refuses(definition: str, value: dict[str, Any]) -> None:
    assert not validator(definition).is_valid(value)
