"""`turnwise scenarios check`: what a user sees before anybody is called."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Cli, cli
from tests.live.test_speech import SAYS
from turnwise.live.scenario_check import check_scenarios

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")

__all__ = ["cli"]  # a fixture of the other commands

HEAD = "id: {id}\nparticipants: {{patient: {{source_language: es}}, doctor: }}\nturns:\n"


@pytest.fixture(autouse=True)
def _no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TURNWISE_SAY_COMMAND", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings of one and two seconds, a silent, an overdriven and a broken one."""
    tone = 0.5 * np.sin(np.arange(16000) / 10)
    soundfile.write(tmp_path / "one.wav", tone, 16000)
    soundfile.write(tmp_path / "two.flac", tone, 8000)  # 16000 samples at 8 kHz
    soundfile.write(tmp_path / "silent.wav", np.zeros(8000), 16000)
    soundfile.write(tmp_path / "loud.wav", np.sign(tone), 16000)
    (tmp_path / "broken.wav").write_bytes(b"no audio")
    return tmp_path


def write(folder: Path, *turns: str, name: str = "x", more: str = "") -> Path:
    path = folder / f"{name}.yaml"
    lines = "".join(f"  - {{id: t{place}, {turn}}}\n" for place, turn in enumerate(turns))
    path.write_text(HEAD.format(id=name) + lines + more, encoding="utf-8")
    return path


ONE, TWO = "type: play_audio, audio_file: one.wav", "type: play_audio, audio_file: two.flac"


def test_table(cli: Cli, folder: Path) -> None:
    write(folder, f"{ONE}, participant: patient", f"{TWO}, participant: doctor", name="a")
    write(
        folder,
        f"{TWO}, participant: doctor, start_at_ms: 1000",
        f"{ONE}, participant: patient, after: {{turn: t0, event: first_audio, delay_ms: 700}}",
        name="b",
        more="tail_silence_ms: 300\n",
    )
    done = cli("scenarios", "check", folder)
    assert done.out.splitlines() == [
        "2 scenarios: no problems",
        "scenario  turns  participants     length          problems",
        "a             2  patient, doctor  8.0 s           –",  # 1 + 2 + 5 seconds of tail
        "b             2  patient, doctor  at least 3.3 s  –",  # 1 + 2 + 0.3; the answer may be late
    ]


def test_json(cli: Cli, folder: Path) -> None:
    path = write(folder, f"{ONE}, participant: patient", "type: hangup")
    found = cli("scenarios", "check", path, "--json").json()
    assert found == {
        "scenarios": [
            {
                "file": str(path),
                "id": "x",
                "participants": ["patient", "doctor"],
                "turns": 2,
                "schedule": [
                    {"turn_id": "t0", "start_ms": 0, "earliest_ms": 0, "duration_ms": 1000},
                    {"turn_id": "t1", "start_ms": 1000, "earliest_ms": 1000, "duration_ms": 0},
                ],
                "length_ms": 1000,  # nobody listens after hanging up
                "length_is_least": False,
                "problems": [],
            }
        ],
        "errors": 0,
        "warnings": 0,
    }


def test_problems(cli: Cli, folder: Path) -> None:
    write(folder, f"{ONE}, participant: patiant", "type: say, participant: doctor", name="bad")
    write(folder, f"{ONE}, participant: patient", name="good")
    (folder / "empty.yaml").touch()
    done = cli("scenarios", "check", folder, code=2)
    assert done.out.splitlines() == [
        "3 scenarios: 3 errors",
        "scenario    turns  participants     length  problems",
        "bad             2  patient, doctor  –       2 errors",
        "empty.yaml      –  –                –       1 error",
        "good            1  patient, doctor  6.0 s   –",
        "",
        str(folder / "bad.yaml"),
        "  line 4, turns[0].participant: there is no participant 'patiant'",
        "    found: 'patiant'",
        "    expected: patient, doctor",
        "    remedy: did you mean patient?",
        "  line 5, turns[1].text: text is missing",
        "    expected: text: Good morning",
        "",
        str(folder / "empty.yaml"),
        "  line 1: the file is empty",
        "    expected: a scenario: id, participants, turns",
    ]
    found = cli("scenarios", "check", folder, "--json", code=2).json()
    assert found["errors"] == 3
    problem = found["scenarios"][0]["problems"][0]
    assert (problem["line"], problem["field"], problem["level"]) == (4, "turns[0].participant", "error")


@pytest.mark.parametrize(
    ("name", "level", "what"),
    [
        ("broken.wav", "error", "unreadable audio"),
        ("silent.wav", "warning", "silent audio"),
        ("loud.wav", "warning", "clipped audio"),
    ],
)
def test_recordings(folder: Path, name: str, level: str, what: str) -> None:
    path = write(folder, f"type: play_audio, audio_file: {name}, participant: patient")
    [found] = check_scenarios([path])
    [problem] = found.problems
    assert (problem.level, problem.what, problem.line, problem.field) == (level, what, 4, "turns[0].audio_file")
    assert found.length_is_least == (level == "error")


# Who speaks over whom


@pytest.mark.parametrize(
    ("first", "second", "field"),
    [
        ("patient", "participant: patient, start_at_ms: 500", "start_at_ms"),
        ("patient", "participant: patient, after: {turn: t0, event: start, delay_ms: 999}", "after"),
        ("patient", "participant: patient, start_at_ms: 1000", None),  # the first is over
        ("patient", "participant: patient, start_at_ms: 500, barge_in: true", None),
        ("doctor", "participant: patient, start_at_ms: 500", None),
        ("patient", "participant: patient, after: {turn: t0, event: first_audio}", None),  # nobody knows
    ],
)
def test_overlaps(folder: Path, first: str, second: str, field: str | None) -> None:
    path = write(folder, f"{ONE}, participant: {first}", f"{TWO}, {second}")
    [found] = check_scenarios([path])
    assert [(p.level, p.line, p.field) for p in found.problems] == (
        [] if field is None else [("warning", 5, f"turns[1].{field}")]
    )
    if field is not None:
        assert found.problems[0].what == "patient is still speaking: turn 't0' is cut off"
    assert found.errors == 0


def test_the_earlier_turn_may_stand_later_in_the_file(folder: Path) -> None:
    turns = f"{ONE}, participant: patient, start_at_ms: 1500", f"{TWO}, participant: patient, start_at_ms: 0"
    [found] = check_scenarios([write(folder, *turns)])
    [problem] = found.problems
    assert (problem.field, problem.found) == ("turns[0].start_at_ms", "start at 1500 ms, turn t1 lasts until 2000 ms")


def test_a_barge_in_that_comes_too_late(folder: Path) -> None:
    second = f"{ONE}, participant: patient, barge_in: true, after: {{turn: t0, event: last_audio}}"
    [found] = check_scenarios([write(folder, f"{ONE}, participant: patient", second)])
    assert [p.what for p in found.problems] == ["this turn barges in when the answer has been heard to its end"]


# What is said


def test_say_without_a_command(cli: Cli, folder: Path) -> None:
    path = write(folder, "type: say, participant: patient, text: Hola")
    done = cli("scenarios", "check", path)
    assert "1 scenario: 1 warning" in done.out
    assert "at least 5.0 s" in done.out
    assert "line 4, turns[0].text: warning: nothing is configured to say what turn t0 says" in done.out
    assert "espeak-ng" in done.out
    cli("scenarios", "check", path, "--synthesise", code=2)
    done = cli("scenarios", "check", path, "--say-command", "no-such-program {out}")
    assert "no-such-program, which is to say this, is not installed" in done.out


def test_say(cli: Cli, folder: Path) -> None:
    (folder / "says.py").write_text(SAYS, encoding="utf-8")
    path = write(folder, "type: say, participant: patient, text: Hola")
    command = ("--say-command", f"{sys.executable} {folder}/says.py {{out}} {{text}}")
    assert "at least 5.0 s" in cli("scenarios", "check", path, *command).out
    assert not (folder / "calls.jsonl").exists()  # nothing is run without being asked for
    # 4 characters, 10 ms each, and 5000 ms
    assert (
        cli("scenarios", "check", path, *command, "--synthesise", "--json").json()["scenarios"][0]["length_ms"] == 5040
    )
    assert "  5.0 s" in cli("scenarios", "check", path, *command).out  # kept


def test_say_that_fails(cli: Cli, folder: Path) -> None:
    path = write(folder, "type: say, participant: patient, text: Hola")
    command = ("--say-command", f"{sys.executable} -c 'import sys; sys.exit(\"no voice\")' {{out}}")
    done = cli("scenarios", "check", path, *command, "--synthesise", code=2)
    assert "line 4, turns[0].text: the command that says turn t0 ended with exit code 1" in done.out
    assert "found: no voice" in done.out


def test_a_command_that_is_none(cli: Cli, folder: Path) -> None:
    path = write(folder, "type: say, participant: patient, text: Hola")
    assert "--say-command has no {txt}" in cli("scenarios", "check", path, "--say-command", "x {txt}", code=2).err


# Usage


def test_wrong_words(cli: Cli, folder: Path) -> None:
    assert "nothing.yaml does not exist" in cli("scenarios", "check", folder / "nothing.yaml", code=2).err
    (folder / "inner").mkdir()
    assert "inner has no scenario" in cli("scenarios", "check", folder / "inner", code=2).err
    assert "PATH" in cli("scenarios", "check", code=2).err
    shown = cli("scenarios", "check", "--help").out
    assert "Example" in shown
    assert "--json" in shown
    assert "  scenarios " in cli("--help").out
