"""Simulations of tau-voice: both sides in ticks of equal length, each of which has speech or has none.

What the user did stands in the ticks, too: the action with which a stretch of speech begins, and the coughs and
asides that were put into the sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.duplex.formats.base import Conversations, Entry, FileConversations
from turnwise.duplex.formats.files import list_in, object_in, read_bytes, read_json, scalar_text, text_in
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.records import BACKCHANNEL, NON_DIRECTED, VOCAL_TIC, Label, Segment, Timeline, kind_named
from turnwise.kernel.errors import InputError, UsageError, shorten
from turnwise.kernel.jsontext import clean

NAME = "tau_voice"
RESULTS, SIMULATIONS = "results.json", "simulations"
TICK = 0.2
"""Seconds; where the results do not tell."""
FIRST_FILES = 3
"""JSON files that are looked into to tell the format."""

DROPPED = "speech of the user in the very last tick alone was left out"
UNKNOWN_INSERT = "sounds of an unknown type were left out"
GAPS = "ticks are not numbered 0, 1, 2 and so on; each is timed by its place"
NO_TICK = f"the length of a tick is not given; {TICK} s is taken"


Run = tuple[int, int]
"""The first tick and the one after the last."""


class Insert(NamedTuple):
    """A cough or an aside that was put into the user's sound."""

    kind: str
    text: str


def looks_like(found: Listing) -> bool:
    """Whether there are simulations with ticks, or the results that belong to some."""
    if _is_results(found):
        return True
    return any(b'"ticks"' in read_bytes(found.root / name) for name in _simulations(found)[:FIRST_FILES])


def read(found: Listing) -> Conversations:
    """All simulations at a path: an experiment, a folder of simulations, or one of them."""
    if _is_results(found):
        names = tuple(sorted(f"{SIMULATIONS}/{path.name}" for path in (found.root / SIMULATIONS).glob("*.json")))
        found = found._replace(names=names)
    return TauVoice(found)


def _is_results(found: Listing) -> bool:
    return found.lone and found.path.name == RESULTS and (found.root / SIMULATIONS).is_dir()


def _simulations(found: Listing) -> list[str]:
    """The files in folders called `simulations`; without any, all JSON files but the results."""
    names = [name for name in found.ending(".json") if name.rpartition("/")[2] != RESULTS]
    return [name for name in names if name.split("/")[-2:-1] == [SIMULATIONS]] or names


class TauVoice(FileConversations[Entry]):
    """Simulations, each a file."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        entries = [Entry(name.removesuffix(".json"), (found.root / name,)) for name in _simulations(found)]
        if not entries:
            raise InputError(
                "there is no simulation",
                where=str(found.path),
                expected=f"{SIMULATIONS}/*.json beside {RESULTS}, or files with ticks",
                remedy="check the path, or use another --format",
            )
        folders = {entry.files[0].parent for entry in entries}
        results = {folder: path for folder in folders if (path := _results(folder))}
        self._about = {folder: _about(results.get(folder)) for folder in folders}
        super().__init__(found, entries, results.values())

    def _read(self, entry: Entry) -> Timeline:
        path = entry.files[0]
        where = str(path)
        simulation = object_in(read_json(path), where, "the simulation")
        about = self._about[path.parent]
        ticks = [object_in(one, where, "a tick") for one in list_in(simulation.get("ticks"), where, "ticks")]
        users, agents = (_chunks(ticks, side, where) for side in ("user_chunk", "agent_chunk"))
        notes = list(about.notes)
        if any(one.get("tick_id", place) != place for place, one in enumerate(ticks)):
            notes.append(GAPS)
        user_runs = list(_runs(users, where))
        if user_runs and user_runs[-1] == (len(ticks) - 1, len(ticks)):
            user_runs.pop()
            notes.append(DROPPED)
        inserts = [_insert(chunk, where, notes) for chunk in users]
        labels = [*_labels_of(user_runs, users, inserts, where), *_labels_outside(user_runs, inserts)]
        named = {"task_id": simulation.get("task_id"), "trial": simulation.get("trial"), "domain": about.domain}
        key = scalar_text(simulation.get("id")) or path.stem
        return Timeline(
            key=clean(key),
            user=tuple(Segment(*about.seconds(run)) for run in user_runs),
            agent=tuple(Segment(*about.seconds(run)) for run in _runs(agents, where)),
            labels=tuple(
                Label(*about.seconds(run), insert.kind, insert.text, directed)
                for run, insert, directed in sorted(labels, key=lambda label: label[0])
            ),
            tick=about.tick,
            seconds=len(ticks) * about.tick,
            metadata={name: text for name, value in named.items() if (text := scalar_text(value))},
            notes=tuple(notes),
        )


# The experiment


class About(NamedTuple):
    """What the results say about the simulations beside them."""

    tick: float
    domain: str | None
    notes: tuple[str, ...]

    def seconds(self, run: Run) -> tuple[float, float]:
        """The times of a run of ticks."""
        return run[0] * self.tick, run[1] * self.tick


def _results(folder: Path) -> Path | None:
    return next((path for path in (folder / RESULTS, folder.parent / RESULTS) if path.is_file()), None)


def _about(path: Path | None) -> About:
    if path is None:
        return About(TICK, None, (NO_TICK,))
    where = str(path)
    info = object_in(object_in(read_json(path), where, "the file").get("info") or {}, where, "info")
    config = object_in(info.get("audio_native_config") or {}, where, "info.audio_native_config")
    environment = object_in(info.get("environment_info") or {}, where, "info.environment_info")
    tick = config.get("tick_duration_seconds")
    if tick is not None and (isinstance(tick, bool) or not isinstance(tick, int | float) or not 0 < tick < 60):
        raise InputError(
            "tick_duration_seconds is not a length of time",
            where=f"{path}, info.audio_native_config",
            found=shorten(tick),
            expected="seconds above 0, e.g. 0.2",
        )
    return About(float(tick or TICK), scalar_text(environment.get("domain_name")), () if tick else (NO_TICK,))


# Ticks


def _chunks(ticks: Sequence[dict[str, Any]], side: str, where: str) -> list[dict[str, Any]]:
    """What one side does in each tick; a side may be missing from a tick."""
    return [object_in(one.get(side) or {}, f"{where}, ticks[{place}]", side) for place, one in enumerate(ticks)]


def _runs(chunks: Sequence[dict[str, Any]], where: str) -> Iterator[Run]:
    """Runs of ticks with speech."""
    place = 0
    for speaks, run in groupby(chunks, lambda chunk: chunk.get("contains_speech") or False):
        if not isinstance(speaks, bool):
            raise InputError(
                "contains_speech has the wrong type",
                where=f"{where}, ticks[{place}]",
                found=shorten(speaks),
                expected="true or false",
            )
        length = sum(1 for _ in run)
        if speaks:
            yield place, place + length
        place += length


def _insert(chunk: Mapping[str, Any], where: str, notes: list[str]) -> Insert | None:
    """What was put into a tick; of two, a cough comes first."""
    found = []
    for effects in ("speech_effects", "source_effects"):
        given = object_in(chunk.get(effects) or {}, where, effects).get("speech_insert")
        if not given:
            continue
        insert = object_in(given, where, f"{effects}.speech_insert")
        kind = _kind(text_in(insert.get("type"), where, "the type of speech_insert"))
        if kind in (VOCAL_TIC, NON_DIRECTED):
            found.append(Insert(kind, text_in(insert.get("text"), where, "the text of speech_insert")))
        elif UNKNOWN_INSERT not in notes:
            notes.append(UNKNOWN_INSERT)
    return min(found, key=lambda insert: insert.kind != VOCAL_TIC, default=None)


def _kind(name: str) -> str | None:
    try:
        return kind_named(name)
    except UsageError:
        return None


def _labels_of(
    runs: Sequence[Run], chunks: Sequence[dict[str, Any]], inserts: Sequence[Insert | None], where: str
) -> Iterator[tuple[Run, Insert, bool]]:
    """What a whole stretch of the user's speech is: a sign of listening, or speech with a cough or an aside in it."""
    for run in runs:
        inside = [insert for insert in inserts[run[0] : run[1]] if insert]
        if _action(chunks[run[0]], where) == BACKCHANNEL:
            yield run, Insert(BACKCHANNEL, ""), False
        elif inside:
            yield run, min(inside, key=lambda insert: insert.kind != VOCAL_TIC), True


def _labels_outside(runs: Sequence[Run], inserts: Sequence[Insert | None]) -> Iterator[tuple[Run, Insert, bool]]:
    """Coughs and asides while the user does not speak; neighbouring ticks with the same one are one."""
    spoken = {place for run in runs for place in range(*run)}
    alone = [(None if place in spoken else insert) for place, insert in enumerate(inserts)]
    place = 0
    for insert, run in groupby(alone):
        length = sum(1 for _ in run)
        if insert:
            yield (place, place + length), insert, False
        place += length


def _action(chunk: Mapping[str, Any], where: str) -> str:
    action = chunk.get("turn_taking_action")
    return text_in(action.get("action") if isinstance(action, dict) else action, where, "turn_taking_action")
