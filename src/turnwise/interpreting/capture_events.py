"""The events of a capture, `events.jsonl`: the translation as it arrived and as it is heard, and what was sent.

What cannot be used is counted, never dropped silently.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeGuard

from turnwise.interpreting.playback import heard, stops
from turnwise.interpreting.records import AUDIO, DELTA, TRANSLATION, Event
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

EVENTS_FILE = "events.jsonl"
LATEST = 1e10
"""Milliseconds: no call lasts four months, and times since 1970 are meant to be something else."""
NO_LENGTH = "audio without a length: only its arrival is known"
_NOT_HEARD = (None, None)
Json = dict[str, Any]


def bytes_of(path: Path) -> bytes:
    """What a file holds, without a byte order mark."""
    try:
        return path.read_bytes().removeprefix(BOM_UTF8)
    except FileNotFoundError:
        raise InputError(f"{path.name} is missing", where=str(path.parent)) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read", found=error.strerror or str(error)) from error


def is_time(value: object) -> TypeGuard[float]:
    """Whether a value is milliseconds on the scenario's clock."""
    # Most times are floats, and there are many.
    is_number = type(value) is float or (isinstance(value, int | float) and not isinstance(value, bool))
    return is_number and 0 <= value <= LATEST  # type: ignore[operator]


def check_events(folder: Path) -> str:
    """See that the events are there, and that at least one can be read if there are any; a hash of them.

    Raises:
        InputError: they are not.
    """
    data = bytes_of(folder / EVENTS_FILE)
    first, _, rest = data.strip().partition(b"\n")
    usable = isinstance(_parsed(first), dict) or any(isinstance(_parsed(line), dict) for line in rest.split(b"\n"))
    if first and not usable:
        where, found = f"{folder.name}/{EVENTS_FILE}", shorten(first.decode("utf-8", "replace"))
        raise InputError(f"no line of {EVENTS_FILE} is a JSON object", where=where, found=found)
    return sha256(data).hexdigest()[:16]


def lines_of(path: Path, notes: Counter[str]) -> list[Json]:
    """The events that can be read; what cannot is counted."""
    data = bytes_of(path)
    lines = data.strip().split(b"\n")
    try:
        found = loads(b"[" + b",".join(lines) + b"]")  # all at once, which is faster
        if len(found) != len(lines):
            raise ValueError("a line holds several values")
    except (JSONDecodeError, ValueError, RecursionError):
        found = [_parsed(line) for line in lines if line.strip()]
    usable = [event for event in found if isinstance(event, dict)]
    if len(usable) < len(found):
        notes[f"a line of {EVENTS_FILE} that is no JSON object, left out"] += len(found) - len(usable)
    for number, event in enumerate(usable):
        event.setdefault("seq", number)
    return usable


def _parsed(line: bytes) -> Any:
    try:
        return loads(line)
    except (JSONDecodeError, ValueError, RecursionError):
        return None


def events_of(
    lines: list[Json], ended: float | None, turns: set[str], notes: Counter[str]
) -> tuple[list[Event], dict[str, list[Json]]]:
    """The translation as it came in, in order; and what was sent of each turn."""
    inbound: list[Json] = []
    sent: dict[str, list[Json]] = {}
    for event in lines:
        direction, kind = event.get("direction", "in"), event.get("type")
        if direction == "out":
            if is_time(event.get("t_sent_ms")):
                sent.setdefault(str(event.get("turn_id")), []).append(event)
        elif direction != "in" or not isinstance(kind, str):
            odd = "without a type" if direction == "in" else "that goes neither in nor out"
            notes[f"an event {odd}, left out"] += 1
        elif kind in TRANSLATION or stops(event):
            if is_time(event.get("t_arrived_ms")):
                inbound.append(event)
            else:
                odd = "without t_arrived_ms" if event.get("t_arrived_ms") is None else "whose t_arrived_ms is no time"
                notes[f"an event {odd}, left out"] += 1
    # The order of the lines decides where two things arrive at once.
    inbound.sort(key=itemgetter("t_arrived_ms"))
    times = _audible(inbound, ended, notes)
    found = [
        _event(event, times.get(place, _NOT_HEARD), turns, notes)
        for place, event in enumerate(inbound)
        if event["type"] in TRANSLATION
    ]
    return found, sent


def _audible(inbound: list[Json], ended: float | None, notes: Counter[str]) -> dict[int, tuple[float, float]]:
    """From when to when audio is heard: as the capture says, or worked out for all of it."""
    said: dict[int, tuple[float, float]] = {}
    says_all = True
    for place, event in enumerate(inbound):
        if event["type"] != AUDIO:
            continue
        audio = event.get("audio")
        length = audio.get("duration_ms") if isinstance(audio, dict) else None
        if not is_time(length):
            notes[NO_LENGTH] += 1
            event["audio"] = {"duration_ms": 0.0}
        start, heard_ms = event.get("t_audible_ms"), event.get("audible_ms", length)
        if is_time(start) and is_time(heard_ms):
            said[place] = (start, start + heard_ms)
        else:
            says_all = False
    return said if says_all else heard(inbound, ended)


def _event(event: Json, times: tuple[float | None, float | None], turns: set[str], notes: Counter[str]) -> Event:
    turn, response = _name(event.get("turn_id")), _name(event.get("response_id")) or _name(event.get("item_id"))
    if turn is None and response is None and isinstance(event.get("raw"), dict):
        raw = event["raw"]
        turn, response = _name(raw.get("turn_id")), _name(raw.get("response_id")) or _name(raw.get("item_id"))
    if turn is not None and turn not in turns:
        notes["an event names a turn that is not in the capture"] += 1
        turn = None
    text = event.get("text") or ""
    if not isinstance(text, str):
        notes["an event whose text is no text"] += 1
        text = ""
    number, kind = event["seq"], event["type"]
    return Event(
        number if isinstance(number, int) else 0,
        kind,
        event["t_arrived_ms"],
        _name(event.get("participant_id")),
        turn,
        response,
        text if kind == DELTA else text.strip(),
        *times,
    )


def _name(value: object) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
