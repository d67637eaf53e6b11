"""Scenarios: who speaks, what, and when, as data. `docs/scenarios.md` has the format of the files.

Here is what a scenario is and when its turns start; `scenario_read` reads and checks the files, `speech` has the audio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLAY_AUDIO, SILENCE, SAY, HANGUP = "play_audio", "silence", "say", "hangup"
TYPES = (PLAY_AUDIO, SILENCE, SAY, HANGUP)

START, END, FIRST_AUDIO, FIRST_TEXT, LAST_AUDIO = "start", "end", "first_audio", "first_text", "last_audio"
EVENTS = (FIRST_AUDIO, FIRST_TEXT, LAST_AUDIO, START, END)
"""What a turn can wait for: the first three are the system's answer to a turn, the others the turn's own speech."""
ANSWER_EVENTS = (FIRST_AUDIO, FIRST_TEXT, LAST_AUDIO)

TAIL_SILENCE_MS = 5000


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody on the call."""

    source_language: str | None = None
    """What they speak."""
    target_language: str | None = None
    """What it is translated into."""


@dataclass(frozen=True, slots=True)
class After:
    """A moment that is not known before the scenario runs."""

    turn: str
    event: str
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that a participant does. As read from a file, exactly one of `start_at_ms` and `after` is set."""

    id: str
    type: str
    participant: str
    audio_file: Path | None = None
    """Of `play_audio`."""
    text: str | None = None
    """Of `say`: what is synthesised."""
    duration_ms: int | None = None
    """Of `silence`."""
    start_at_ms: int | None = None
    """On the scenario's clock."""
    after: After | None = None
    barge_in: bool = False
    source_text: str | None = None
    """The words that are spoken; of `say` its text, unless the file has others."""
    expected_text: str | None = None
    """The answer, or translation, that would be right. The empty text: none."""
    expected_language: str | None = None
    """Its language; the participant's target language, unless the file has another."""
    language: str | None = None
    """What is spoken: the participant's source language."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that the file says about the turn, ready for JSON."""

    @property
    def speaks(self) -> bool:
        """Whether there is something to be heard, and so to be answered."""
        return self.type in (PLAY_AUDIO, SAY)


@dataclass(frozen=True, slots=True)
class Planned:
    """When a turn starts, as far as that is known before the scenario runs."""

    turn: Turn
    earliest_ms: int
    """No start can be earlier; the start itself, if it is fixed."""
    fixed: bool
    """Whether nothing that the system does can move the start."""
    duration_ms: int | None
    """Of the turn's own speech or silence; None where that takes the audio, which was not at hand."""

    @property
    def start_ms(self) -> int | None:
        """The start, where it is known."""
        return self.earliest_ms if self.fixed else None

    @property
    def earliest_end_ms(self) -> int:
        """No end can be earlier."""
        return self.earliest_ms + (self.duration_ms or 0)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation to be had with a live system."""

    id: str
    participants: Mapping[str, Participant]
    turns: tuple[Turn, ...]
    description: str = ""
    tags: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None
    """None: all of them."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    tail_silence_ms: int = TAIL_SILENCE_MS
    """How long to listen after the last turn."""
    say_command: tuple[str, ...] | None = None
    """What synthesises the turns of type `say`, unless an option or the environment names another command."""
    path: Path | None = None
    """The file; what is relative in it is relative to its folder."""

    def turn(self, turn_id: str) -> Turn:
        """The turn of that id."""
        return next(turn for turn in self.turns if turn.id == turn_id)

    def schedule(self, durations_ms: Mapping[str, int] | None = None) -> dict[str, Planned]:
        """By the ids of the turns, when each starts: fixed, or not before some time.

        Args:
            durations_ms: how long each turn speaks, by its id (`speech.duration_ms`). A turn that follows on the end
                of one that is not there is not fixed.
        """
        return {planned.turn.id: planned for planned in plan(self.turns, durations_ms or {})}


def plan(turns: Sequence[Turn], durations_ms: Mapping[str, int]) -> list[Planned]:
    """What `Scenario.schedule` gives, for turns alone. A turn that waits for none of those before it is not fixed."""
    planned: list[Planned] = []
    by_id: dict[str, Planned] = {}
    for turn in turns:
        duration = turn.duration_ms if turn.type == SILENCE else durations_ms.get(turn.id)
        if turn.type == HANGUP:
            duration = 0
        if turn.after is None:
            earliest, fixed = turn.start_at_ms or 0, True
        else:
            earliest, fixed = _following(turn.after, by_id.get(turn.after.turn))
        planned.append(Planned(turn, earliest, fixed, duration))
        by_id.setdefault(turn.id, planned[-1])
    return planned


def _following(after: After, other: Planned | None) -> tuple[int, bool]:
    """The earliest start of a turn that waits for another, and whether it is fixed."""
    if other is None:
        return after.delay_ms, False
    if after.event == END:
        return other.earliest_end_ms + after.delay_ms, other.fixed and other.duration_ms is not None
    # The answer to a turn may come while it is still being spoken, but not before it has begun.
    return other.earliest_ms + after.delay_ms, other.fixed and after.event == START


def load_scenario(path: str | Path, *, need_audio: bool = True) -> Scenario:
    """The scenario of a YAML file.

    Args:
        path: the file.
        need_audio: whether the recordings have to be there; scoring a capture does without.

    Raises:
        ScenarioError: an `InputError` with everything that is wrong with the file, by line.
    """
    from turnwise.live.scenario_problems import raise_problems
    from turnwise.live.scenario_read import read_scenario

    reading = read_scenario(Path(path), need_audio=need_audio)
    raise_problems(reading.problems)
    assert reading.scenario is not None
    return reading.scenario


def load_scenarios(paths: Sequence[str | Path], *, need_audio: bool = True) -> list[Scenario]:
    """The scenarios of files, and of all `.yaml` and `.yml` files in folders, at any depth.

    Raises:
        ScenarioError: with everything that is wrong with any of them; two scenarios of the same id are wrong, too.
        InputError: a path that does not exist, a folder without scenarios.
    """
    from turnwise.live.scenario_problems import raise_problems
    from turnwise.live.scenario_read import read_scenarios

    readings = read_scenarios(paths, need_audio=need_audio)
    raise_problems([problem for reading in readings for problem in reading.problems])
    return [reading.scenario for reading in readings if reading.scenario is not None]
