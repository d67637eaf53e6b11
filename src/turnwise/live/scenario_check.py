"""Looking at scenarios before anybody is called: what the files say, whether the audio can be played, how long it is.

What is wrong stops `turnwise drive`, too; a warning is something that is allowed and seldom meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnwise.audio.wave import CLIPPED, SILENT, UnusableAudio, read_wave
from turnwise.kernel.errors import TurnwiseError, UsageError, shorten
from turnwise.live.say_command import INSTALL, SayCommand, configured_say_command
from turnwise.live.scenario import HANGUP, LAST_AUDIO, SAY, Planned, Scenario, Turn
from turnwise.live.scenario_problems import ERROR, WARNING, Problem, in_order
from turnwise.live.scenario_read import Reading, read_scenarios
from turnwise.live.speech import kept, said, wave_ms


@dataclass(frozen=True, slots=True)
class Checked:
    """One file, and all that was found."""

    reading: Reading
    problems: tuple[Problem, ...]
    """By line; errors and warnings."""
    planned: tuple[Planned, ...] = ()
    length_ms: int | None = None
    """Of the whole scenario, with the silence at its end; None if the file cannot be used."""
    length_is_least: bool = False
    """Whether it takes longer, if the system takes its time or text has yet to be synthesised."""

    @property
    def errors(self) -> int:
        """Problems that have to be repaired."""
        return sum(problem.level == ERROR for problem in self.problems)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        schedule = [
            {"turn_id": p.turn.id, "start_ms": p.start_ms, "earliest_ms": p.earliest_ms, "duration_ms": p.duration_ms}
            for p in self.planned
        ]
        return {
            "file": str(self.reading.file),
            "id": self.reading.id,
            "participants": list(self.reading.participants),
            "turns": self.reading.turns,
            "schedule": schedule,
            "length_ms": self.length_ms,
            "length_is_least": self.length_is_least,
            "problems": [problem.as_json() for problem in self.problems],
        }


def check_scenarios(
    paths: Sequence[str | Path], *, say_command: str | None = None, synthesise: bool = False
) -> list[Checked]:
    """Every scenario of files and folders.

    Args:
        paths: as `load_scenarios` takes them.
        say_command: what synthesises, before the environment and the scenario.
        synthesise: whether to synthesise now what is said. Otherwise its length is not known, unless it is kept.
    """
    recordings: dict[Path, _Heard] = {}
    return [_check(reading, say_command, synthesise, recordings) for reading in read_scenarios(paths)]


@dataclass(frozen=True, slots=True)
class _Heard:
    """A recording: how long, and what is the matter with it."""

    duration_ms: int | None
    trouble: UnusableAudio | None = None


def _check(reading: Reading, option: str | None, synthesise: bool, recordings: dict[Path, _Heard]) -> Checked:
    scenario = reading.scenario
    if scenario is None:
        return Checked(reading, reading.problems)
    notes = _Notes(reading)
    durations = _durations(scenario, notes, option, synthesise, recordings)
    planned = tuple(scenario.schedule(durations).values())
    _overlaps(planned, notes)
    for place, turn in enumerate(scenario.turns):
        if turn.barge_in and turn.after is not None and turn.after.event == LAST_AUDIO:
            what = "this turn barges in when the answer has been heard to its end"
            notes.warn(place, "after", what, found=LAST_AUDIO, remedy="first_audio and a delay_ms interrupt an answer")
    ends = [one.earliest_ms for one in planned if one.turn.type == HANGUP]
    last = ends[0] if ends else max(one.earliest_end_ms for one in planned) + scenario.tail_silence_ms
    least = any(not one.fixed or one.duration_ms is None for one in planned)
    return Checked(reading, tuple(in_order(notes.problems)), planned, last, least)


class _Notes:
    """What is found out about one file."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.problems: list[Problem] = []

    def warn(
        self,
        place: int,
        name: str,
        what: str,
        *,
        found: str | None = None,
        remedy: str | None = None,
        level: str = WARNING,
    ) -> None:
        """Note something about a field of a turn."""
        turn = f"turns[{place}]"
        lines = self.reading.lines
        line = lines.get(f"{turn}.{name}", lines.get(f"{turn}.id", 1))
        file = str(self.reading.file)
        self.problems.append(Problem(file, line, f"{turn}.{name}", what, found=found, remedy=remedy, level=level))


def _durations(
    scenario: Scenario, notes: _Notes, option: str | None, synthesise: bool, recordings: dict[Path, _Heard]
) -> dict[str, int]:
    command = configured_say_command(scenario, option)
    says = [place for place, turn in enumerate(scenario.turns) if turn.type == SAY]
    if says and command is not None and not command.installed and not synthesise:
        what = f"{command.words[0]}, which is to say this, is not installed"
        notes.warn(says[0], "text", what, found=command.origin, remedy=INSTALL)
    found: dict[str, int | None] = {}
    for place, turn in enumerate(scenario.turns):
        if turn.audio_file is not None:
            if turn.audio_file not in recordings:
                recordings[turn.audio_file] = _listen(turn.audio_file)
            heard = recordings[turn.audio_file]
            found[turn.id] = heard.duration_ms
            if heard.trouble is not None:
                level = ERROR if heard.duration_ms is None else WARNING
                notes.warn(place, "audio_file", heard.trouble.what, found=heard.trouble.found, level=level)
        elif turn.type == SAY:
            found[turn.id] = _say(turn, place, command, synthesise, notes)
    return {name: duration for name, duration in found.items() if duration is not None}


def _listen(file: Path) -> _Heard:
    try:
        return _Heard(wave_ms(read_wave(file, rate=None)))
    except UnusableAudio as error:
        if error.reason not in (SILENT, CLIPPED):
            return _Heard(None, error)
        return _Heard(wave_ms(read_wave(file, rate=None, tolerate=(SILENT, CLIPPED))), error)


def _say(turn: Turn, place: int, command: SayCommand | None, synthesise: bool, notes: _Notes) -> int | None:
    try:
        speech = said(turn, command) if synthesise else kept(turn, command)
        return None if speech is None else wave_ms(speech)
    except TurnwiseError as error:
        level = WARNING if isinstance(error, UsageError) and not synthesise else ERROR
        notes.warn(place, "text", error.what, found=error.found, remedy=error.remedy or error.expected, level=level)
        return None


def _overlaps(planned: Sequence[Planned], notes: _Notes) -> None:
    """Turns of one participant, of which a later one cuts an earlier one off, without barging in."""
    places = {one.turn.id: place for place, one in enumerate(planned)}
    known = [one for one in planned if one.fixed and one.turn.type != HANGUP]
    known.sort(key=lambda one: (one.earliest_ms, places[one.turn.id]))
    for at, late in enumerate(known):
        for early in known[:at]:
            if (
                early.turn.participant == late.turn.participant
                and late.earliest_ms < early.earliest_end_ms
                and not late.turn.barge_in
            ):
                what = f"{late.turn.participant} is still speaking: turn {shorten(early.turn.id)} is cut off"
                found = f"start at {late.earliest_ms} ms, turn {early.turn.id} lasts until {early.earliest_end_ms} ms"
                remedy = "start later, or say barge_in: true"
                name = "after" if late.turn.after is not None else "start_at_ms"
                notes.warn(places[late.turn.id], name, what, found=found, remedy=remedy)
                break
