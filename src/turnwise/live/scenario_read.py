"""From the nodes of a YAML file to a scenario: every field as it has to be, and everything wrong with it at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from yaml.nodes import ScalarNode

from turnwise.kernel.errors import InputError, UsageError, near_misses, shorten
from turnwise.live.say_command import SayCommand
from turnwise.live.scenario import TAIL_SILENCE_MS, Participant, Scenario, Turn
from turnwise.live.scenario_fields import Fields, as_fields, is_name
from turnwise.live.scenario_problems import Problem, in_order
from turnwise.live.scenario_turns import read_turns
from turnwise.live.scenario_yaml import Problems, read_tree

SUFFIXES = (".yaml", ".yml")
SHAPE = "a scenario: id, participants, turns"
KEYS = ("id", "description", "participants", "turns", "tags", "metrics", "thresholds", "tail_silence_ms", "say_command")
ANYTHING = "x-"
"""Keys at the top that begin so are nobody's business: a place for anchors."""

_ID = re.compile(r"\w([\w .+-]{0,98}\w)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says, and what is wrong with it."""

    file: Path
    scenario: Scenario | None
    """None if anything is wrong."""
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where the fields are, e.g. `turns[2].audio_file`."""
    id: str | None = None
    turns: int | None = None
    """How many; of a file with problems those that could be told."""
    participants: tuple[str, ...] = ()


def read_scenarios(paths: Sequence[str | Path], *, need_audio: bool = True) -> list[Reading]:
    """Every scenario file of files and folders, in order; a file that is named twice is read once."""
    files = {file.resolve(): file for path in paths for file in _files(Path(path))}
    readings: list[Reading] = []
    first: dict[str, Path] = {}
    for file in files.values():
        reading = read_scenario(file, need_audio=need_audio)
        if reading.id is not None and reading.id in first:
            what = f"another file has the scenario {shorten(reading.id)}"
            found, expected = str(first[reading.id]), "an id of its own: captures are kept by it"
            line = reading.lines.get("id", 1)
            again = Problem(str(file), line, "id", what, found=found, expected=expected)
            ordered = tuple(in_order([*reading.problems, again]))
            reading = Reading(file, None, ordered, reading.lines, reading.id, reading.turns, reading.participants)
        elif reading.id is not None:
            first[reading.id] = file
        readings.append(reading)
    return readings


def read_scenario(file: Path, *, need_audio: bool = True) -> Reading:
    """One file.

    Raises:
        InputError: it cannot be read at all.
    """
    problems = Problems(file)
    root = read_tree(file, problems)
    fields = None if root is None else as_fields(root, "", problems, SHAPE)
    if fields is None:
        return Reading(file, None, tuple(in_order(list(problems.found))))
    scenario_id = _scenario_id(fields)
    participants = _participants(fields)
    turns = read_turns(fields, participants, file.parent, need_audio=need_audio)
    scenario = _scenario(fields, scenario_id or "", participants or {}, turns, file)
    wrong = tuple(in_order(list(problems.found)))
    known = None if wrong else scenario
    return Reading(file, known, wrong, problems.lines, scenario_id, len(turns), tuple(participants or ()))


def _scenario(
    fields: Fields, scenario_id: str, participants: Mapping[str, Participant], turns: tuple[Turn, ...], file: Path
) -> Scenario:
    tail = fields.milliseconds("tail_silence_ms")
    fields.refuse_others([*KEYS, *(name for name in fields.names if name.startswith(ANYTHING))], "a scenario")
    return Scenario(
        id=scenario_id,
        participants=participants,
        turns=turns,
        description=fields.text("description") or "",
        tags=fields.words("tags") or (),
        metrics=fields.words("metrics") or None,
        thresholds=_thresholds(fields),
        tail_silence_ms=TAIL_SILENCE_MS if tail is None else tail,
        say_command=_say_command(fields),
        path=file,
    )


def _scenario_id(fields: Fields) -> str | None:
    if fields.needed("id", "id: patient_correction") is None:
        return None
    found = fields.text("id")
    if found is not None and not _ID.fullmatch(found):
        expected = "at most 100 letters, digits and . _ + - or spaces: captures are kept in a folder of that name"
        fields.wrong("id", "id cannot be the name of a folder", found=shorten(found), expected=expected)
        return None
    return found


def _participants(fields: Fields) -> dict[str, Participant] | None:
    """Who is on the call; None if that cannot be told, so that not every turn is wrong, too."""
    shape = "participants: {caller: {source_language: en, target_language: es}}"
    if fields.needed("participants", shape) is None:
        return None
    people = fields.mapping("participants", shape)
    if people is None:
        return None
    if not people.names:
        fields.wrong("participants", "nobody takes part", found="an empty mapping", expected=shape)
        return None
    found: dict[str, Participant] = {}
    for name in people.names:
        if not is_name(name):
            people.wrong(name, "a participant needs a name", found=shorten(name), expected="one line of text")
        about = people.mapping(name, "{source_language: en, target_language: es}")
        if about is None:  # nothing is known about them, or what is there is wrong and has been noted
            found[name] = Participant()
            continue
        about.refuse_others(("source_language", "target_language"), "a participant")
        found[name] = Participant(about.language("source_language"), about.language("target_language"))
    return found


def _thresholds(fields: Fields) -> dict[str, float]:
    limits = fields.mapping("thresholds", "thresholds: {barge_in: 70}")
    found = {} if limits is None else {name: limits.number(name) for name in limits.names}
    return {name: value for name, value in found.items() if value is not None}


def _say_command(fields: Fields) -> tuple[str, ...] | None:
    """As `speech` takes it: one line that is split as a shell would, or a list of words."""
    node = fields.given("say_command")
    if node is None:
        return None
    one_line = isinstance(node, ScalarNode)
    given = fields.text("say_command") if one_line else fields.words("say_command", any_text=True)
    try:
        return None if given is None else SayCommand.parse(given, "say_command").words
    except UsageError as error:
        fields.wrong("say_command", error.what, found=error.found, expected=error.expected, remedy=error.remedy)
        return None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
            remedy = near_misses(path.name, beside) or "check the path"
            raise InputError(f"{path} does not exist", expected="a scenario file or a folder of them", remedy=remedy)
        return [path]
    visible = [one for one in path.rglob("*") if not any(p.startswith(".") for p in one.relative_to(path).parts)]
    files = sorted(one for one in visible if one.suffix.lower() in SUFFIXES and one.is_file())
    if not files:
        raise InputError(f"{path} has no scenario", expected="files that end in .yaml or .yml")
    return files
