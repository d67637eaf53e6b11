"""The audio of a turn: recordings, and what a command synthesises."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from turnwise.audio.wave import UnusableAudio
from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.live.say_command import SayCommand, configured_say_command
from turnwise.live.scenario import Participant, Scenario, Turn, load_scenario
from turnwise.live.speech import default_cache, duration_ms, scenario_audio, turn_audio

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
pytest.importorskip("soxr", reason="soxr is not installed")

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"

SAYS = """\
import json, sys, wave
from pathlib import Path
out, *rest = sys.argv[1:]
text = rest[0] if rest else sys.stdin.read()
with Path(__file__).with_name("calls.jsonl").open("a") as calls:
    print(json.dumps([text, *rest[1:]]), file=calls)
with wave.open(out, "wb") as file:
    file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
    file.writeframes(bytes([0, 16, 0, 240]) * 40 * len(text))
"""
"""A synthesiser that takes 10 ms for every character, at 8 kHz: 40 times 16 * 256 = 4096 and -4096."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "says.py"
    path.write_text(SAYS, encoding="utf-8")
    return path


def command(*words: object, folder: Path | None = None) -> SayCommand:
    return SayCommand.parse([sys.executable, *map(str, words)], "test", folder)


def say(text: str, language: str | None = "en") -> Turn:
    return Turn("a", "say", "caller", text=text, language=language)


def calls(script: Path) -> list[list[str]]:
    path = script.with_name("calls.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def play(path: Path) -> Turn:
    return Turn("a", "play_audio", "caller", audio_file=path)


# Recordings


def test_samples_come_out_as_they_were(tmp_path: Path) -> None:
    samples = np.array([0, 1, -1, 12345, -32768, 32767, 4000] * 100, dtype=np.int16)
    for name in ("a.wav", "a.flac"):
        soundfile.write(tmp_path / name, samples, 16000, subtype="PCM_16")
        found = turn_audio(play(tmp_path / name), 16000)
        assert found.dtype == np.int16
        assert found.tolist() == samples.tolist()
        assert not found.flags.writeable


def test_channels_are_mixed(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.tile(np.array([[3000, 1000]], dtype=np.int16), (80, 1)), 8000)
    assert turn_audio(play(tmp_path / "a.wav"), 8000).tolist() == [2000] * 80  # (3000 + 1000) / 2


def test_rates(tmp_path: Path) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(44100) / 44100)
    soundfile.write(tmp_path / "a.wav", tone, 44100)
    found = turn_audio(play(tmp_path / "a.wav"), 24000)
    assert (len(found), duration_ms(found, 24000)) == (24000, 1000)
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(24000) / 24000) * 32768
    assert np.abs(found - expected)[200:-200].max() < 10  # of 16384; the ends are the filter's


def test_loud_samples_are_clipped_and_quiet_ones_are_kept(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "loud.wav", np.array([2.0, -2.0] * 50), 8000, subtype="FLOAT")
    assert turn_audio(play(tmp_path / "loud.wav"), 8000).tolist() == [32767, -32768] * 50
    soundfile.write(tmp_path / "quiet.wav", np.zeros(100), 8000)
    assert turn_audio(play(tmp_path / "quiet.wav"), 8000).tolist() == [0] * 100


def test_a_recording_that_changes(tmp_path: Path) -> None:
    for level in (1000, 2000):
        soundfile.write(tmp_path / "a.wav", np.full(level, level, dtype=np.int16), 8000)
        found = turn_audio(play(tmp_path / "a.wav"), 8000)
        assert found.tolist() == [level] * level
    assert turn_audio(play(tmp_path / "a.wav"), 8000) is found  # decoded once for all runs


def test_recordings_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("no audio")
    with pytest.raises(UnusableAudio, match="unreadable"):
        turn_audio(play(tmp_path / "text.wav"), 8000)
    with pytest.raises(UnusableAudio, match="no audio file"):
        turn_audio(play(tmp_path / "nothing.wav"), 8000)


def test_silence_and_hanging_up() -> None:
    assert turn_audio(Turn("a", "silence", "caller", duration_ms=25), 8000).tolist() == [0] * 200  # 0.025 s x 8000 Hz
    assert turn_audio(Turn("a", "hangup", "caller"), 8000).tolist() == []


def test_durations_are_rounded_up() -> None:
    assert [duration_ms(np.zeros(n, np.int16), 8000) for n in (0, 1, 8, 9, 8000)] == [0, 1, 1, 2, 1000]


# Synthesis


def test_say(script: Path) -> None:
    found = turn_audio(say("Good day"), 8000, command(script, "{out}", "{text}", "{language}"))
    assert found.tolist() == [4096, -4096] * 320  # 8 characters, 80 samples each
    assert calls(script) == [["Good day", "en"]]


@pytest.mark.parametrize(
    "text", ["$(touch x); `y` | z & \"'", "{out}", "{text} {language} {x}", "-w", "--help", "one\ntwo", "¿qué? 你好"]
)
def test_text_is_one_argument_and_nothing_else(script: Path, text: str) -> None:
    turn_audio(say(text), 8000, command(script, "{out}", "{text}"))
    turn_audio(say(text), 8000, command(script, "{out}"))  # on standard input
    assert calls(script) == [[text], [text]]


def test_what_was_said_is_kept(script: Path) -> None:
    one = command(script, "{out}", "{text}", "{language}")
    other = command(script, "{out}", "{text}", "{language}", "loud")
    for turn, how in ((say("a"), one), (say("a"), one), (say("b"), one), (say("a", "es"), one), (say("a"), other)):
        turn_audio(turn, 8000, how)
    turn_audio(say("a"), 16000, one)
    assert calls(script) == [["a", "en"], ["b", "en"], ["a", "es"], ["a", "en", "loud"]]
    os.utime(script, ns=(1, 1))  # another script by the same name
    turn_audio(say("a"), 8000, one)
    assert len(calls(script)) == 5


def test_what_is_kept_can_be_lost(script: Path, tmp_path: Path) -> None:
    how, cache = command(script, "{out}", "{text}"), tmp_path / "kept"
    turn_audio(say("a"), 8000, how, cache=cache)
    [file] = cache.iterdir()
    file.write_bytes(file.read_bytes()[:50])  # cut off
    assert turn_audio(say("a"), 8000, how, cache=cache).tolist() == [4096, -4096] * 40
    turn_audio(say("a"), 8000, how, cache=cache)
    assert len(calls(script)) == 2
    assert list(cache.iterdir()) == [file]


def test_a_cache_that_cannot_be_written(script: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        turn_audio(say("a"), 8000, command(script, "{out}", "{text}"), cache=tmp_path / "file" / "kept")
    assert len(calls(script)) == 2


def test_default_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
    assert default_cache() == tmp_path / "speech"
    monkeypatch.delenv("TURNWISE_CACHE")
    assert default_cache().name == "speech"


def test_nothing_is_configured() -> None:
    with pytest.raises(UsageError) as caught:
        turn_audio(say("Hello"), 8000)
    for word in ("turn a", "--say-command", "TURNWISE_SAY_COMMAND", "espeak-ng", "flite", "ttspico"):
        assert word in caught.value.message
    with pytest.raises(UsageError, match="source_language of participant caller"):
        turn_audio(say("Hello", None), 8000, command("{out}", "{language}"))


def run(code: str, *words: str) -> Callable[[], object]:
    return lambda: turn_audio(say("Hello"), 8000, command("-c", code, "{out}", *words), timeout_s=20)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('no voice', file=sys.stderr); sys.exit(3)", ["exit code 3", "found: no voice"]),
        ("import sys; sys.exit(1)", ["exit code 1", "it printed nothing"]),
        ("import os; os.kill(os.getpid(), 9)", ["exit code -9"]),
        ("print('done')", ["wrote no speech: no audio file", "{out}"]),
        ("import sys; open(sys.argv[1], 'w').write('x' * 99)", ["wrote no speech: unreadable audio"]),
        ("import sys; sys.stderr.write('x' * 100000 + 'end'); sys.exit(2)", ["exit code 2", "xend"]),
    ],
)
def test_commands_that_fail(code: str, words: list[str]) -> None:
    with pytest.raises(TurnwiseError) as caught:
        run(code, "a-secret-key")()
    assert [word for word in ["turn a", "test", *words] if word not in caught.value.message] == []
    assert "a-secret-key" not in caught.value.message
    assert len(caught.value.message) < 3000


def test_speech_that_is_silent(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "quiet.wav", np.zeros(100), 8000)
    with pytest.raises(TurnwiseError, match="wrote no speech: silent audio"):
        run("import shutil, sys; shutil.copy(sys.argv[2], sys.argv[1])", str(tmp_path / "quiet.wav"))()


def test_a_command_that_takes_too_long(tmp_path: Path) -> None:
    """What it started is ended, too."""
    child = f"import time; time.sleep(3); open({str(tmp_path / 'alive')!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    began = time.monotonic()
    with pytest.raises(TurnwiseError, match="did not end within 1 s"):
        turn_audio(say("Hello"), 8000, command("-c", code, "{out}"), timeout_s=1)
    assert time.monotonic() - began < 30
    time.sleep(3)
    assert not (tmp_path / "alive").exists()


def test_programs_that_do_not_start(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    for program in ("no-such-program", str(tmp_path / "plain"), str(tmp_path)):
        how = SayCommand.parse([program, "{out}"], "--say-command")
        assert not how.installed
        with pytest.raises(TurnwiseError) as caught:
            turn_audio(say("Hello"), 8000, how)
        assert caught.value.exit_code == 1
        for word in ("cannot be started", program, "--say-command", "espeak-ng"):
            assert word in caught.value.message


# Who names the command


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("espeak '{out}", "cannot be split"),
        ("", "names no program"),
        ([], "names no program"),
        ("espeak {text}", "does not say where {out} goes"),
        ("espeak {out} {lang}", "has no {lang}"),
    ],
)
def test_commands_that_are_none(given: str | list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        SayCommand.parse(given, "--say-command")


def test_option_environment_scenario(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    turn = Turn("a", "say", "caller", text="Hi")
    scenario = Scenario("x", {"caller": Participant()}, (turn,), say_command=("c", "{out}"), path=tmp_path / "x.yaml")
    monkeypatch.delenv("TURNWISE_SAY_COMMAND", raising=False)
    assert configured_say_command() is None
    found = configured_say_command(scenario)
    assert found == SayCommand(("c", "{out}"), "say_command of scenario x", tmp_path)
    monkeypatch.setenv("TURNWISE_SAY_COMMAND", "b 'two words' {out}")
    assert configured_say_command(scenario) == SayCommand(("b", "two words", "{out}"), "TURNWISE_SAY_COMMAND")
    assert configured_say_command(scenario, "a {out}") == SayCommand(("a", "{out}"), "--say-command")


def test_a_command_of_a_scenario_runs_beside_it(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TURNWISE_SAY_COMMAND", raising=False)
    path = script.with_name("x.yaml")
    path.write_text(
        "id: x\nparticipants: {caller: }\nturns: [{id: a, type: say, text: Hi}, {id: b, type: hangup}]\n"
        f"say_command: [{sys.executable}, says.py, '{{out}}', '{{text}}']\n"
    )
    scenario = load_scenario(path)
    found = scenario_audio(scenario, 8000, configured_say_command(scenario))
    assert {name: len(samples) for name, samples in found.items()} == {"a": 160, "b": 0}


# The documentation


def blocks(language: str) -> list[str]:
    parts = DOCS.read_text(encoding="utf-8").split(f"```{language}\n")[1:]
    return [part.partition("```")[0] for part in parts]


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(blocks("yaml")[0], encoding="utf-8")
    scenario = load_scenario(path)
    assert [turn.type for turn in scenario.turns] == ["say", "say", "say", "silence", "hangup"]
    assert scenario.turns[2].barge_in
    assert scenario.turns[2].language == "es"


@pytest.mark.skipif(importlib.util.find_spec("ttspico") is None, reason="ttspico is not installed")
def test_the_script_of_the_documentation(tmp_path: Path) -> None:
    script = tmp_path / "say_pico.py"
    script.write_text(next(block for block in blocks("python") if "ttspico" in block), encoding="utf-8")
    how = command(script, "{language}", "{out}", "{text}")
    found = turn_audio(say("Good morning, how are you?"), 24000, how)
    assert 1000 < duration_ms(found, 24000) < 4000
    assert np.abs(found.astype(int)).max() > 1000
