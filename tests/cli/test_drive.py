"""`turnwise drive` and `simulate` from the command line: what is refused before anybody is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Cli

EXAMPLES = ROOT / "examples" / "interpreting"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.jsonl"
    path.write_text(json.dumps({"t_ms": 5, "dir": "in", "message": {"type": "transcript", "text": "Hi"}}) + "\n")
    return path


@pytest.mark.parametrize(
    "words", [["call.yaml"], ["--url", "ws://localhost/"], ["--bearer", "TOKEN"], ["--header", "A: b"]]
)
def test_a_replay_calls_nobody(cli: Cli, log: Path, tmp_path: Path, words: list[str]) -> None:
    out = cli("drive", *words, "--replay", log, "--protocol", "acs", "--out", tmp_path / "out", code=2)
    assert "--replay makes no call" in out.err
    assert ("SCENARIO" if words == ["call.yaml"] else words[0]) in out.err
    assert not (tmp_path / "out").exists()


def test_a_replay(cli: Cli, log: Path, tmp_path: Path) -> None:
    out = cli("drive", "--replay", log, "--protocol", "acs", "--out", tmp_path / "out", "--json")
    (row,) = out.json()
    assert (row["scenario"], row["events"], row["reason"]) == ("server", 1, None)
    events = (tmp_path / "out" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in events] == ["Hi"]


def test_a_call_needs_a_scenario_and_an_address(cli: Cli) -> None:
    assert "no scenario is named" in cli("drive", code=2).err
    assert "--url is missing" in cli("drive", "call.yaml", code=2).err
    assert "no address of a WebSocket" in cli("drive", EXAMPLES, "--url", "http://localhost/", code=2).err
