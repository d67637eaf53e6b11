"""The examples of live interpreting: made again to the byte, sound as scenarios, and heard as they are meant."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnwise.audio.wave import read_wave
from turnwise.live.behaviours import behaviour_named
from turnwise.live.interpreter import LOUD, PAUSE_MS
from turnwise.live.rehearsal import rehearse
from turnwise.live.scenario import FIRST_AUDIO, LAST_AUDIO, Scenario, Turn, load_scenarios
from turnwise.live.scenario_check import check_scenarios

EXAMPLES = Path(__file__).parents[2] / "examples" / "interpreting"
RECORDINGS = EXAMPLES / "recordings"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
NAMES = ["doctor_interrupts", "fast_exchange", "long_monologue", "no_barge_in", "patient_correction"]
SCENARIOS = {scenario.id: scenario for scenario in load_scenarios([EXAMPLES])}
TURNS = [(scenario, turn) for scenario in SCENARIOS.values() for turn in scenario.turns]
IDS = [f"{scenario.id}-{turn.id}" for scenario, turn in TURNS]

LARGEST_BYTES = 2_000_000
FRAME_MS = 20
LONGEST_PAUSE_MS = 350
APART_MS = 500
NEAR_MS = 150.0
"""Machines that run tests are busy."""


def heard_ms(turn: Turn) -> list[int]:
    """Where the frames begin in which the simulator hears speech."""
    assert turn.audio_file is not None
    samples = read_wave(turn.audio_file, None).samples
    frames = samples.reshape(-1, 16 * FRAME_MS)
    return [FRAME_MS * int(n) for n in np.flatnonzero(np.sqrt(np.mean(frames**2, axis=1)) >= LOUD)]


def seconds(turn: Turn) -> float:
    assert turn.audio_file is not None
    return read_wave(turn.audio_file, None).seconds


# How they are made


@pytest.mark.skipif(not find_spec("ttspico"), reason="SVOX Pico is not installed")
def test_the_recordings_are_made_again_to_the_byte(tmp_path: Path) -> None:
    script = [sys.executable, "-B", str(EXAMPLES / "make_examples.py"), "--into", str(tmp_path)]
    subprocess.run(script, check=True, capture_output=True, timeout=300)
    assert [path.name for path in tmp_path.iterdir()] == ["recordings"]
    made = {path.name: path.read_bytes() for path in (tmp_path / "recordings").iterdir()}
    assert made == {path.name: path.read_bytes() for path in RECORDINGS.iterdir()}


# The scenarios


def test_they_are_sound() -> None:
    checked = check_scenarios([EXAMPLES])
    assert [one.reading.id for one in checked] == NAMES
    assert [problem.text for one in checked for problem in one.problems] == []


def test_every_recording_is_played_once() -> None:
    played = [turn.audio_file for _, turn in TURNS]
    assert sorted(path.name for path in RECORDINGS.iterdir()) == sorted(path.name for path in played if path)
    assert all(
        path is not None and path.name == f"{s.id}_{t.id}.wav" for path, (s, t) in zip(played, TURNS, strict=True)
    )
    assert sum(path.stat().st_size for path in RECORDINGS.iterdir()) < LARGEST_BYTES


@pytest.mark.parametrize(("scenario", "turn"), TURNS, ids=IDS)
def test_what_is_said_and_what_is_expected(scenario: Scenario, turn: Turn) -> None:
    who = scenario.participants[turn.participant]
    assert turn.source_text
    assert turn.expected_text
    assert turn.source_text != turn.expected_text
    assert who.source_language in ("en", "es", "de")
    assert turn.language == who.source_language
    assert turn.expected_language == who.target_language in ("no", "en", "es", "de")
    assert scenario.tags
    assert scenario.description


def test_who_interrupts_whom() -> None:
    """The turn before a barge-in is the same participant's, or another's; it is interrupted while it is translated."""
    kinds = {}
    for scenario in SCENARIOS.values():
        for before, turn in pairwise(scenario.turns):
            if turn.barge_in:
                assert turn.after is not None
                assert (turn.after.turn, turn.after.event) == (before.id, FIRST_AUDIO)
                assert scenario.thresholds == {"barge_in": 70}
                kinds[scenario.id] = "itself" if turn.participant == before.participant else "another"
    assert kinds == {"patient_correction": "itself", "doctor_interrupts": "another"}
    assert len({turn.participant for turn in SCENARIOS["fast_exchange"].turns}) == 2


# The recordings


@pytest.mark.parametrize("turn", [turn for _, turn in TURNS], ids=IDS)
def test_the_sound(turn: Turn) -> None:
    assert turn.audio_file is not None
    assert turn.source_text is not None
    wave = read_wave(turn.audio_file, None)
    assert (wave.rate, wave.channels, wave.encoding, wave.clipped_share) == (16000, 1, "WAV PCM_16", 0)
    assert len(wave.samples) % (16 * FRAME_MS) == 0
    assert 1.4 < len(turn.source_text.split()) / wave.seconds < 5.5  # words per second, as people speak
    heard = heard_ms(turn)
    assert heard[0] == 0  # the turn starts with its first sound, so that times from either are the same
    assert heard[-1] == len(wave.samples) / 16 - FRAME_MS
    assert max(after - before - FRAME_MS for before, after in pairwise(heard)) < LONGEST_PAUSE_MS < PAUSE_MS


def starts_ms(scenario: Scenario, response_ms: float, answer_ms: float) -> dict[str, float]:
    """When each turn starts if answers begin so long after their turn does and are heard to the end.

    Nothing waits for the end of an answer to a turn of more than 4 s, so that all of them last `answer_ms`.
    """
    starts: dict[str, float] = {}
    for turn in scenario.turns:
        if turn.after is None:
            starts[turn.id] = turn.start_at_ms or 0
            continue
        lasts = 1000 * seconds(scenario.turn(turn.after.turn))
        later = {FIRST_AUDIO: response_ms, LAST_AUDIO: response_ms + answer_ms, "end": lasts}[turn.after.event]
        starts[turn.id] = starts[turn.after.turn] + later + turn.after.delay_ms
    return starts


@pytest.mark.parametrize("name", NAMES)
def test_turns_of_one_participant_lie_apart(name: str) -> None:
    scenario, good = SCENARIOS[name], behaviour_named("good")
    starts = starts_ms(scenario, good.response_ms, good.answer_ms)
    for participant in scenario.participants:
        own = [turn for turn in scenario.turns if turn.participant == participant]
        for before, turn in pairwise(own):
            assert starts[turn.id] - starts[before.id] - 1000 * seconds(before) >= APART_MS > PAUSE_MS
    lasts = 1000 * seconds(scenario.turns[-1])
    # The last answer is heard to its end: 800 + 6000 ms after the turn's start, or 2000 ms longer than the turn.
    assert (good.answer_ms, good.longer_ms) == (6000, 2000)
    assert lasts + scenario.tail_silence_ms >= good.response_ms + max(6000, lasts + 2000)


def test_a_correction_comes_while_its_translation_is_heard() -> None:
    # 500 + 800 is when the translation is first heard, 1600 later the patient corrects themselves; 1560 is what they
    # had said before: 500 + 800 + 1600 - (500 + 1560) = 840 ms of silence.
    scenario = SCENARIOS["patient_correction"]
    starts = starts_ms(scenario, 800, 6000)
    assert starts == {"statement": 500, "correction": 2900}
    assert starts["correction"] - 500 - 1000 * seconds(scenario.turns[0]) == 840


# Heard by the simulator


def answers(events: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """By response, when it was first and last heard."""
    found: dict[str, tuple[float, float]] = {}
    for event in events:
        if event.get("audible_ms", 0.0) > 0:
            start, end = event["t_audible_ms"], event["t_audible_ms"] + event["audible_ms"]
            found[event["response_id"]] = (found.get(event["response_id"], (start, end))[0], end)
    return found


def test_every_turn_is_one_utterance_and_is_answered(tmp_path: Path) -> None:
    # Answers of 3 s are long enough to be interrupted after 1.6 s, and the waiting is over sooner.
    good = replace(behaviour_named("good"), answer_ms=3000)
    short = [replace(scenario, tail_silence_ms=1500) for scenario in SCENARIOS.values()]
    driven = {one.scenario.id: one for one in rehearse(short, good, "acs", tmp_path, parallel=len(short))}
    assert {name: one.capture.reason for name, one in driven.items()} == dict.fromkeys(NAMES)
    for one in driven.values():
        played = one.capture.header.turns
        starts = [turn.start_ms for turn in played if turn.start_ms is not None]
        assert len(starts) == len(played)
        first_heard = sorted(start for start, _ in answers(one.capture.events).values())
        assert first_heard == pytest.approx([start + good.response_ms for start in sorted(starts)], abs=NEAR_MS)
    correction = driven["patient_correction"].capture
    (_, cut), _ = answers(correction.events).values()
    start = correction.turn("correction").start_ms
    assert start == pytest.approx(2900, abs=NEAR_MS)
    assert good.cutoff_ms == 200
    assert cut == pytest.approx(start + 200, abs=NEAR_MS)


# README


def test_the_readme_says_what_there_is() -> None:
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in README.splitlines() if row.startswith("| `")
    ]
    said = {row[0].strip("`"): (row[1], int(row[3]), int(row[4])) for row in rows}
    assert said.keys() == SCENARIOS.keys()
    for name, (languages, turns, barge_ins) in said.items():
        scenario = SCENARIOS[name]
        assert (turns, barge_ins) == (len(scenario.turns), sum(turn.barge_in for turn in scenario.turns))
        spoken = dict.fromkeys(f"{turn.language} → {turn.expected_language}" for turn in scenario.turns)
        assert languages == ", ".join(spoken)
    count, total = re.search(r"(\d+) files in `recordings/`, ([\d.]+) s", README).groups()  # type: ignore[union-attr]
    assert int(count) == len(TURNS)
    assert float(total) == pytest.approx(sum(seconds(turn) for _, turn in TURNS), abs=0.05)
