"""Captures from their folders: `capture.json` and `events.jsonl`, checked, with everything that is odd counted.

The format is `turnwise drive`'s (docs/capture.schema.json); captures that another program wrote in it are read alike,
with no more than the fields that the metrics need.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from turnwise.interpreting.capture_events import EVENTS_FILE, content_of, events_of, is_time, lines_of
from turnwise.interpreting.plain_events import plain_events
from turnwise.interpreting.playback import name_of
from turnwise.interpreting.records import Call, Sent, Turn
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, clean, loads
from turnwise.kernel.unchanged import FileState, changed

FORMAT = "turnwise-capture/1"
CAPTURE_FILE = "capture.json"
Json = dict[str, Any]


def capture_folders(path: Path) -> list[tuple[str, Path]]:
    """The folder itself, or every capture below it, in the order of their names: as seen from the folder."""
    if not path.exists():
        raise InputError(f"{path} does not exist", expected="a capture, a folder of captures, or instances.log")
    if (path / CAPTURE_FILE).is_file():
        return [(path.name, path)]
    holding = [Path(inner) for inner, _, files in os.walk(path) if CAPTURE_FILE in files]
    found = sorted(folder for folder in holding if (folder / CAPTURE_FILE).is_file())
    if not found:
        raise InputError(
            f"{path} holds no capture",
            found=shorten(", ".join(sorted(inner.name for inner in path.iterdir())) or "an empty folder"),
            expected=f"folders with {CAPTURE_FILE} and {EVENTS_FILE}",
            remedy="turnwise drive SCENARIO... --url ws://... --out DIR makes them",
        )
    return [(folder.relative_to(path).as_posix(), folder) for folder in found]


def head_of(data: bytes, folder: Path, key: str) -> Call:
    """The call of a capture folder without its events, from what its `capture.json` holds.

    Raises:
        InputError: it is no JSON, or its turns cannot be used.
    """
    about = _object(data, folder / CAPTURE_FILE)
    where = f"{key}/{CAPTURE_FILE}"
    if about.get("format") != FORMAT:
        found = shorten(about.get("format"))
        raise InputError("not a capture that can be read", where=where, found=f"format: {found}", expected=FORMAT)
    turns = [_turn(turn, where) for turn in _list(about, "turns", where)]
    _check_ids(turns, where)
    metrics, reason, tags = about.get("metrics"), about.get("reason"), about.get("tags")
    return Call(
        key,
        clean(str(about.get("scenario_id") or key)),
        tuple(in_order(turns)),
        (),
        clean(str(about.get("protocol") or "")),
        _thresholds(about, where),
        None if metrics is None else frozenset(map(str, _list(about, "metrics", where))),
        _time(about, "ended_ms", where),
        None if reason is None else clean(str(reason)),
        _languages(about),
        clean(str(about.get("description") or "")),
        tuple(clean(str(tag)) for tag in tags) if isinstance(tags, list) else (),
    )


def read_capture(folder: Path, key: str, states: tuple[FileState, FileState]) -> Call:
    """The call of one capture folder; what cannot be used of its events is counted in its notes.

    Args:
        folder: of the capture.
        key: its name.
        states: of its two files when they were looked at first.

    Raises:
        InputError: as above, or a file is not the one that was looked at.
    """
    about, about_state = content_of(folder, CAPTURE_FILE)
    data, events_state = content_of(folder, EVENTS_FILE)
    if (about_state, events_state) != states:
        raise changed(folder)
    call = head_of(about, folder, key)
    notes: Counter[str] = Counter()
    events, sent = plain_events(data) or events_of(
        lines_of(data, notes), call.ended, {turn.id for turn in call.turns}, notes
    )
    told = tuple(note if count == 1 else f"{note} ({count} times)" for note, count in notes.items())
    return replace(call, turns=tuple(_with_sent(turn, sent) for turn in call.turns), events=tuple(events), notes=told)


def in_order(turns: list[Turn]) -> list[Turn]:
    """By their start; what never began comes last. Turns that begin together stay as the scenario has them."""
    return sorted(turns, key=lambda turn: math.inf if turn.start is None else turn.start)


# capture.json


def _object(data: bytes, path: Path) -> Json:
    try:
        found = loads(data)
    except (JSONDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON", where=str(path), found=str(error)) from error
    if not isinstance(found, dict):
        raise InputError(f"{path.name} is no object", where=str(path), found=shorten(found))
    return found


def _list(about: Json, name: str, where: str) -> list[Any]:
    found = about.get(name)
    if not isinstance(found, list):
        raise InputError(f"{name} is not a list", where=where, found=shorten(found), expected=f'"{name}": [...]')
    return found


def _time(about: Mapping[str, Any], name: str, where: str) -> float | None:
    value = about.get(name)
    if value is None:
        return None
    if not is_time(value):
        expected = "milliseconds on the scenario's clock, 0 or more"
        raise InputError(f"{name} is no time", where=where, found=shorten(value), expected=expected)
    return float(value)


def _turn(turn: Any, where: str) -> Turn:
    if not isinstance(turn, dict) or name_of(turn.get("turn_id")) is None:
        raise InputError("a turn without turn_id", where=where, found=shorten(turn), expected='{"turn_id": "..."}')
    name = clean(str(turn["turn_id"]))
    inside = f"{where}, turn {name}"
    start, end = _time(turn, "start_ms", inside), _time(turn, "end_ms", inside)
    if start is not None and end is not None and end < start:
        raise InputError("the turn ends before it starts", where=inside, found=f"{start:g} to {end:g} ms")
    barge_in = turn.get("barge_in")
    barge_in = False if barge_in is None else barge_in
    if not isinstance(barge_in, bool):
        raise InputError("barge_in is not true or false", where=inside, found=shorten(barge_in))
    metadata = turn.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = turn.get("type") or metadata.get("type") or "play_audio"
    return Turn(
        name,
        clean(str(turn.get("participant_id") or "")),
        start,
        end,
        barge_in,
        _text(turn, "source_text", inside),
        _text(turn, "expected_text", inside),
        _text(turn, "expected_language", inside),
        str(kind),
        metadata=metadata,
    )


def _text(turn: Json, name: str, where: str) -> str | None:
    value = turn.get(name)
    if value is None or isinstance(value, str):
        return None if value is None else clean(value)
    raise InputError(f"{name} is no text", where=where, found=shorten(value))


def _check_ids(turns: list[Turn], where: str) -> None:
    repeated = [name for name, count in Counter(turn.id for turn in turns).items() if count > 1]
    if repeated:
        raise InputError("two turns have the same id", where=where, found=repeated[0], expected="every turn_id once")


def _thresholds(about: Json, where: str) -> dict[str, float]:
    found = about.get("thresholds") or {}
    usable = isinstance(found, dict) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in found.values()
    )
    if not usable:
        expected = '{"barge_in": 70}'
        raise InputError("thresholds are not numbers by metric", where=where, found=shorten(found), expected=expected)
    return {str(name): float(value) for name, value in found.items()}


def _languages(about: Json) -> dict[str, dict[str, str]]:
    found = about.get("languages")
    if not isinstance(found, dict):
        return {}
    named = {str(who): given for who, given in found.items() if isinstance(given, dict)}
    return {who: {key: str(value) for key, value in given.items() if value} for who, given in named.items()}


def _with_sent(turn: Turn, sent: Mapping[str, list[Sent]]) -> Turn:
    own = sent.get(turn.id)
    if not own:
        return turn
    numbers = tuple(number for number, _ in own if number is not None)
    return replace(turn, first_sent=min(when for _, when in own), sent=numbers)
