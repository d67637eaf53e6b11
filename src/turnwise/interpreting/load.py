"""From files to a checked source: captures with what their scenarios say, or the instances of a SimulEval log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from turnwise.engine.later import Later
from turnwise.engine.plan import Finding
from turnwise.interpreting.batch import InterpretingBatch
from turnwise.interpreting.capture_events import EVENTS_FILE, check_events, content_of, hash_of
from turnwise.interpreting.capture_files import CAPTURE_FILE, capture_folders, head_of, in_order, read_capture
from turnwise.interpreting.instance_source import InstanceSource
from turnwise.interpreting.records import CAPTURE, KIND, LANGUAGE, PARTICIPANT, PROTOCOL, SCENARIO, Call, Turn
from turnwise.interpreting.shown import TERMS
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import clean
from turnwise.kernel.signature import digest
from turnwise.kernel.unchanged import FileState
from turnwise.live.scenario import Scenario, load_scenarios

BATCH_OF_CALLS = 32
NAMED = 3
"""Captures that a finding names; the rest are counted."""


@dataclass
class CaptureSource:
    """Captures of calls; an engine source."""

    paths: Sequence[Path]
    scenarios: Mapping[str, Scenario]
    wants_all: bool
    sent_whole: bool = False
    """Whether captures are read here: workers on other machines may not reach the files."""
    unit = CAPTURE
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._folders: dict[str, Folder] = {}
        self._scenario_of: dict[str, str] = {}
        self._carried: Counter[str] = Counter()
        self._asked: list[str] = []
        self._played: set[str] = set()
        self._too_early: list[str] = []
        self._files: list[tuple[str, str]] = []
        self.protocols: set[str] = set()
        self._scan()
        self.n_items = len(self._folders)

    def _scan(self) -> None:
        """Look at every capture once: who can be read, what they carry, and a hash of every file."""
        refused: list[tuple[str, InputError]] = []
        for key, folder in self._named():
            try:
                data, state = content_of(folder, CAPTURE_FILE)
                call = with_scenario(head_of(data, folder, key), self.scenarios)
                events, events_state = check_events(folder)
                self._files += [(f"{key}/{CAPTURE_FILE}", hash_of(data)), (f"{key}/{EVENTS_FILE}", events)]
            except InputError as error:
                refused.append((key, error))
                continue
            if key in self._folders:
                raise InputError("two captures have the same name", found=f"{self._folders[key].path} and {folder}")
            self._folders[key] = Folder(folder, (state, events_state))
            if call.scenario in self.scenarios:
                self._scenario_of[key] = call.scenario
            self._look_at(call)
        if refused and not self._folders:
            raise refused[0][1]
        for what, names in _grouped(refused).items():
            self.findings.append(Finding("skipped", f"left out, {what}: {_some(names)}", len(names)))
        about = {
            "scenarios of which there is no capture": sorted(self.scenarios.keys() - self._played),
            "captures of scenarios that are not among the files": sorted(
                self._played - self.scenarios.keys() if self.scenarios else ()
            ),
            "captures whose first turn barges in, which has nothing to interrupt": self._too_early,
        }
        for message, names in about.items():
            if names:
                self.findings.append(Finding("input", f"{message}: {_some(names)}", len(names)))

    def _named(self) -> Iterator[tuple[str, Path]]:
        """Every capture by its name: its folder, as seen from the folder that was named."""
        for path in self.paths:
            for name, folder in capture_folders(path):
                yield clean(name or "capture"), folder

    def _look_at(self, call: Call) -> None:
        self.protocols.add(call.protocol)
        turns = [turn for turn in call.turns if turn.speaks]
        self._carried["capture"] += 1
        self._carried["emission"] += 1
        self._carried["expected_text"] += any(turn.expected_text is not None for turn in turns)
        self._carried["source_text"] += any(turn.source_text for turn in turns)
        self._carried[TERMS] += any(turn.metadata.get(TERMS) for turn in turns)
        self._carried["expected_language"] += any(turn.expected_language for turn in turns)
        self._carried["barge_in"] += any(turn.barge_in for turn in turns)
        asked = [(turn.id, turn.participant, turn.source_text, turn.expected_text, turn.barge_in) for turn in turns]
        self._asked.append(repr((call.scenario, call.key, asked)))
        self._played.add(call.scenario)
        if (spoken := call.spoken) and spoken[0].barge_in:
            self._too_early.append(call.key)

    @property
    def dataset_fingerprint(self) -> str:
        """What was said and what should have come; systems that were asked the same can be compared."""
        return digest(sorted(self._asked))

    @property
    def input_fingerprint(self) -> str:
        """Every file, and what the scenarios add."""
        return digest([*map(list, self._files), self.dataset_fingerprint, BATCH_OF_CALLS])

    @property
    def fields(self) -> dict[str, int]:
        """How many captures carry what."""
        names = ("capture", "emission", "expected_text", "expected_language", "barge_in", "source_text", TERMS)
        return {name: self._carried[name] for name in names}

    @property
    def dimensions(self) -> set[str]:
        """Scenario, protocol, who speaks, the language asked for, and what kind of barge-in it is."""
        return {SCENARIO, PROTOCOL, PARTICIPANT, LANGUAGE, KIND}

    @property
    def coverage(self) -> dict[str, int]:
        """How many captures can be read."""
        return {"captures": self.n_items}

    def batches(self, done: Set[int] = frozenset()) -> Iterator[InterpretingBatch]:
        """The batches that are not done yet, read where they are measured."""
        names = sorted(self._folders)
        for index, start in enumerate(range(0, len(names), BATCH_OF_CALLS)):
            if index not in done:
                folders = {key: self._folders[key] for key in names[start : start + BATCH_OF_CALLS]}
                named = {self._scenario_of[key] for key in folders if key in self._scenario_of}
                calls = Calls(folders, {name: self.scenarios[name] for name in named})
                yield InterpretingBatch(index, list(calls) if self.sent_whole else calls, wants_all=self.wants_all)


class Folder(NamedTuple):
    """Where a capture lies, and the states of its two files when they were looked at."""

    path: Path
    states: tuple[FileState, FileState]


class Calls(Later[Call]):
    """The calls of some captures, by name, with what their scenarios say."""

    def __init__(self, folders: Mapping[str, Folder], scenarios: Mapping[str, Scenario]) -> None:
        self._folders, self._scenarios = folders, scenarios

    def _make(self) -> list[Call]:
        calls = (read_capture(folder.path, key, folder.states) for key, folder in self._folders.items())
        return [with_scenario(call, self._scenarios) for call in calls]

    def __len__(self) -> int:
        return len(self._folders)


def with_scenario(call: Call, scenarios: Mapping[str, Scenario]) -> Call:
    """A call with what the scenario of its name says, if there is one."""
    scenario = scenarios.get(call.scenario)
    return with_languages(call if scenario is None else from_scenario(call, scenario))


def from_scenario(call: Call, scenario: Scenario) -> Call:
    """A call with what its scenario says now: texts, languages, barge-ins, thresholds, metrics."""
    planned = {turn.id: turn for turn in scenario.turns}
    turns = []
    for turn in call.turns:
        plan = planned.get(turn.id)
        if plan is not None:
            turn = replace(
                turn,
                type=plan.type,
                participant=plan.participant,
                barge_in=plan.barge_in,
                source_text=plan.source_text or plan.text or turn.source_text,
                expected_text=turn.expected_text if plan.expected_text is None else plan.expected_text,
                expected_language=plan.expected_language or turn.expected_language,
                metadata={**turn.metadata, **plan.metadata},
            )
        turns.append(turn)
    played = {turn.id for turn in call.turns}
    turns += [
        Turn(
            plan.id,
            plan.participant,
            None,
            None,
            plan.barge_in,
            plan.source_text or plan.text,
            plan.expected_text,
            type=plan.type,
        )
        for plan in scenario.turns
        if plan.id not in played
    ]
    notes = [f"turn {turn.id} is not in the scenario" for turn in call.turns if turn.id not in planned]
    return replace(
        call,
        turns=tuple(in_order(turns)),
        thresholds=dict(scenario.thresholds) or call.thresholds,
        metrics=call.metrics if scenario.metrics is None else frozenset(scenario.metrics),
        description=scenario.description or call.description,
        notes=(*call.notes, *notes),
    )


def with_languages(call: Call) -> Call:
    """A call whose turns expect their participant's target language, where they name none themselves."""
    targets = {who: given.get("target_language") for who, given in call.languages.items()}
    if not any(targets.get(turn.participant) for turn in call.turns if not turn.expected_language):
        return call
    turns = [
        turn if turn.expected_language else replace(turn, expected_language=targets.get(turn.participant))
        for turn in call.turns
    ]
    return replace(call, turns=tuple(turns))


def load(
    paths: Sequence[Path], scenarios: Path | None, *, wants_all: bool, sent_whole: bool = False
) -> CaptureSource | InstanceSource:
    """Captures of folders, or a log if a file is named."""
    if len(paths) == 1 and paths[0].is_file() and paths[0].name != CAPTURE_FILE:
        return InstanceSource(paths[0])
    known = load_scenarios([scenarios], need_audio=False) if scenarios is not None else []
    folders = [path.parent if path.name == CAPTURE_FILE and path.is_file() else path for path in paths]
    return CaptureSource(folders, {scenario.id: scenario for scenario in known}, wants_all, sent_whole)


def _grouped(refused: Sequence[tuple[str, InputError]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, error in refused:
        found.setdefault(error.what, []).append(f"{key} ({error.found})" if error.found else key)
    return found


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return f"{shown} and {len(names) - NAMED} more" if len(names) > NAMED else shown
