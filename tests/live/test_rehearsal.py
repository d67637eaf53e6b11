"""Scenarios against the simulated system in one process: times that are set are the times that are captured."""

from __future__ import annotations

import socket
import sys
import threading
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.live.behaviours import Behaviour, behaviour_named
from turnwise.live.drive import Driven
from turnwise.live.rehearsal import LOOPBACK, listening, rehearse
from turnwise.live.scenario import Scenario, load_scenario
from turnwise.live.simulator import Simulator
from turnwise.live.transports import TRANSPORTS, transport_named

NEAR_MS = 150.0
"""Machines that run tests are busy."""
RESPONSE_MS, CUTOFF_MS, ANSWER_MS = 500.0, 300.0, 2000.0
GAP_MS = 100.0
"""An answer is cut off after 300 ms and the next begins after 500."""
QUICK = Behaviour("quick", response_ms=RESPONSE_MS, cutoff_ms=CUTOFF_MS, answer_ms=ANSWER_MS)
SPOKEN_S, DELAY_MS = 0.5, 800
"""What is said is over 0.5 s after it began; the next is said 500 + 800 ms after that."""
SCENARIO = """
id: {id}
participants:
  caller: {{source_language: en, target_language: no}}
turns:
  - {{id: first, type: play_audio, audio_file: tone.wav, start_at_ms: 100, expected_text: det første}}
  - id: second
    type: play_audio
    audio_file: tone.wav
    barge_in: true
    after: {{turn: first, event: first_audio, delay_ms: {delay_ms}}}
    expected_text: noe annet
tail_silence_ms: 2000
"""


def scenario(folder: Path, name: str = "correction") -> Scenario:
    tone = 0.3 * np.sin(2 * np.pi * 220 * np.arange(round(SPOKEN_S * 16000)) / 16000)
    with wave.open(str(folder / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes((tone * 32767).astype("<i2").tobytes())
    path = folder / f"{name}.yaml"
    path.write_text(SCENARIO.format(id=name, delay_ms=DELAY_MS), encoding="utf-8")
    return load_scenario(path)


def answers(driven: Driven) -> list[dict[str, Any]]:
    """What was heard without a gap, and the text that came with it; not every protocol says what belongs together."""
    found: list[dict[str, Any]] = []
    for event in driven.capture.events:
        if event.get("audible_ms", 0.0) > 0:
            start = event["t_audible_ms"]
            if not found or start - found[-1]["end"] > GAP_MS:
                found.append({"start": start, "end": start, "text": ""})
            found[-1]["end"] = start + event["audible_ms"]
        elif event["type"] == "translated_delta" and found:
            found[-1]["text"] += event["text"]
    return found


@pytest.mark.parametrize("protocol", TRANSPORTS)
def test_an_answer_is_heard_and_cut_off_when_it_is_said_to_be(protocol: str, tmp_path: Path) -> None:
    [driven] = rehearse([scenario(tmp_path)], QUICK, protocol, tmp_path / "out")
    assert driven.capture.reason is None
    first, second = (driven.capture.turn(name) for name in ("first", "second"))
    before, after = answers(driven)
    assert first.start_ms == pytest.approx(100, abs=NEAR_MS)
    assert before["start"] == pytest.approx(first.start_ms + RESPONSE_MS, abs=NEAR_MS)
    assert second.start_ms == pytest.approx(before["start"] + DELAY_MS, abs=NEAR_MS)
    # The answer would last 2000 ms; it is cut off 800 + 300 ms after it began, and the next begins at 500.
    assert before["end"] == pytest.approx(second.start_ms + CUTOFF_MS, abs=NEAR_MS)
    assert after["start"] == pytest.approx(second.start_ms + RESPONSE_MS, abs=NEAR_MS)
    assert after["end"] - after["start"] == pytest.approx(ANSWER_MS, abs=NEAR_MS)
    if protocol != "twilio":  # it has no text
        assert (before["text"].split(), after["text"].split()) == (["det", "første"], ["noe", "annet"])
    assert (tmp_path / "out" / "correction" / "capture.json").is_file()


def test_a_system_that_does_not_answer_an_interruption(tmp_path: Path) -> None:
    silent = replace(behaviour_named("no_response"), answer_ms=ANSWER_MS)
    [driven] = rehearse([scenario(tmp_path)], silent, "acs", tmp_path / "out")
    assert driven.capture.reason is None
    assert len(answers(driven)) == 1


def test_several_at_a_time_each_with_texts_of_its_own(tmp_path: Path) -> None:
    one, other = scenario(tmp_path, "one"), scenario(tmp_path, "other")
    assert other.path is not None
    other.path.write_text(other.path.read_text(encoding="utf-8").replace("det første", "noe tredje"), encoding="utf-8")
    heard: list[tuple[str, int, str]] = []
    driven = rehearse(
        [one, other],
        QUICK,
        "acs",
        tmp_path / "out",
        repeat=2,
        parallel=4,
        told=lambda scenario, number, what: heard.append((scenario.id, number, what)),
    )
    runs = [("one", 0), ("other", 0), ("one", 1), ("other", 1)]
    assert [(run.scenario.id, run.folder.name) for run in driven] == [
        (name, f"{name}-{number + 1:02}") for name, number in runs
    ]
    assert sorted(heard) == sorted((*run, what) for run in runs for what in ("started", "done"))
    assert [answers(run)[0]["text"].strip() for run in driven] == ["det første", "noe tredje"] * 2


def test_the_system_is_there_as_long_as_it_is_wanted() -> None:
    before = threading.active_count()
    with listening(Simulator(transport_named("acs"), QUICK)) as port:
        socket.create_connection((LOOPBACK, port), timeout=5).close()
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, port), timeout=5)


def test_the_system_ends_when_its_caller_fails() -> None:
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), listening(Simulator(transport_named("acs"), QUICK)):
        _ = 1 / 0
    assert threading.active_count() == before


def test_loopback_that_cannot_be_listened_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Simulator, "serve", refused)
    refusal = pytest.raises(TurnwiseError, match=r"127\.0\.0\.1 cannot be listened on")
    with refusal as caught, listening(Simulator(transport_named("acs"), QUICK)):
        pass
    assert caught.value.found == "Permission denied"


def test_a_protocol_that_there_is_none_of(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no protocol 'asc'"):
        rehearse([scenario(tmp_path)], QUICK, "asc", tmp_path / "out")


@pytest.mark.parametrize(
    ("half", "purpose"), [("server", "simulating a live system"), ("client", "calling a live system")]
)
def test_what_is_missing_is_named_with_its_remedy(
    half: str, purpose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"websockets.asyncio.{half}", None)
    with pytest.raises(TurnwiseError, match=purpose) as caught:
        rehearse([scenario(tmp_path)], QUICK, "acs", tmp_path / "out")
    assert caught.value.remedy == 'pip install "turnwise[live]"'
    assert not (tmp_path / "out").exists()  # nothing was begun
