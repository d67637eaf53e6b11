"""The events of a capture, `events.jsonl`: the translation as it arrived and as it is heard, and what was sent.

What cannot be used is counted, never dropped silently.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections import Counter
from hashlib import sha256
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeGuard

from turnwise.interpreting.playback import heard, name_of, stops
from turnwise.interpreting.records import AUDIO, DELTA, LATEST, TRANSLATION, Event, Sent
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads
from turnwise.kernel.unchanged import FileState, state_of

EVENTS_FILE = "events.jsonl"
NO_LENGTH = "audio without a length: only its arrival is known"
Times = tuple[float, float] | tuple[None, None]
"""From when to when something is heard; it may not be, or not be known."""
_NOT_HEARD: Times = (None, None)
_KINDS = {kind: kind for kind in TRANSLATION}
Json = dict[str, Any]


def content_of(folder: Path, name: str) -> tuple[bytes, FileState]:
    """What a file of a folder holds, without a byte order mark, and what tells whether it is still the same."""
    try:
        # Making a `Path` of it would take as long as reading it.
        with open(f"{folder}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            state = state_of(os.fstat(file.fileno()))
            return file.read().removeprefix(BOM_UTF8), state
    except FileNotFoundError:
        raise InputError(f"{name} is missing", where=str(folder)) from None
    except OSError as error:
        raise InputError(f"{folder / name} cannot be read", found=error.strerror or str(error)) from error


def is_time(value: object) -> TypeGuard[float]:
    """Whether a value is milliseconds on the scenario's clock."""
    # Most times are floats, and there are many.
    is_number = type(value) is float or (isinstance(value, int | float) and not isinstance(value, bool))
    return is_number and 0 <= value <= LATEST  # type: ignore[operator]


def check_events(folder: Path) -> tuple[str, FileState]:
    """See that the events are there, and that at least one can be read if there are any; a hash of them, their state.

    Raises:
        InputError: they are not.
    """
    data, state = content_of(folder, EVENTS_FILE)
    first, _, rest = data.strip().partition(b"\n")
    usable = isinstance(_parsed(first), dict) or any(isinstance(_parsed(line), dict) for line in rest.split(b"\n"))
    if first and not usable:
        where, found = f"{folder.name}/{EVENTS_FILE}", shorten(first.decode("utf-8", "replace"))
        raise InputError(f"no line of {EVENTS_FILE} is a JSON object", where=where, found=found)
    return hash_of(data), state


def hash_of(data: bytes) -> str:
    """A short hash of what a file holds."""
    return sha256(data).hexdigest()[:16]


def lines_of(data: bytes, notes: Counter[str]) -> list[Json]:
    """The events that can be read; what cannot is counted."""
    data = data.strip()
    found = [_parsed(line) for line in data.split(b"\n") if line.strip()]
    usable = [event for event in found if isinstance(event, dict)]
    if len(usable) < len(found):
        notes[f"a line of {EVENTS_FILE} that is no JSON object, left out"] += len(found) - len(usable)
    for number, event in enumerate(usable):
        if event.get("seq") is None:
            event["seq"] = number
    return usable


def _parsed(line: bytes) -> Any:
    try:
        return loads(line)
    except (JSONDecodeError, ValueError, RecursionError):
        return None


def events_of(
    lines: list[Json], ended: float | None, turns: set[str], notes: Counter[str]
) -> tuple[list[Event], dict[str, list[Sent]]]:
    """The translation as it came in, in order; and what was sent of each turn."""
    found: list[Event] = []
    inbound: list[Json] = []
    sent: dict[str, list[Sent]] = {}
    says_all = True
    left_out, no_length, odd = Counter[str](), Counter[str](), Counter[str]()  # told in this order
    for event in lines:
        kind, arrived = event.get("type"), event.get("t_arrived_ms")
        if kind not in TRANSLATION or not is_time(arrived) or event.get("direction", "in") != "in":
            if _is_stop(event, sent, left_out):
                inbound.append(event)
            continue
        inbound.append(event)
        times = _audible(event, no_length) if kind == AUDIO else _NOT_HEARD
        says_all = says_all and (kind != AUDIO or times is not _NOT_HEARD)
        found.append(_event(event, _KINDS[kind], times, turns, odd))
    for some in (left_out, no_length, odd):
        notes.update(some)
    # The order of the lines decides where two things arrive at once.
    found.sort(key=attrgetter("arrived"))
    if not says_all:
        inbound.sort(key=itemgetter("t_arrived_ms"))
        anew = heard(inbound, ended)
        places = (place for place, event in enumerate(inbound) if event["type"] in TRANSLATION)
        found = [_at(event, anew.get(place, _NOT_HEARD)) for event, place in zip(found, places, strict=True)]
    return found, sent


def _is_stop(event: Json, sent: dict[str, list[Sent]], notes: Counter[str]) -> bool:
    """Whether an event that is no piece of the translation stops one; what was sent, and what is odd, is noted."""
    direction, kind = event.get("direction", "in"), event.get("type")
    if direction == "out":
        if is_time(when := event.get("t_sent_ms")):
            number = event["seq"]
            own = number if isinstance(number, int) else None
            sent.setdefault(str(event.get("turn_id")), []).append((own, float(when)))
    elif direction != "in" or not isinstance(kind, str):
        odd = "without a type" if direction == "in" else "that goes neither in nor out"
        notes[f"an event {odd}, left out"] += 1
    elif kind in TRANSLATION or stops(event):
        if is_time(event.get("t_arrived_ms")):
            return True
        odd = "without t_arrived_ms" if event.get("t_arrived_ms") is None else "whose t_arrived_ms is no time"
        notes[f"an event {odd}, left out"] += 1
    return False


def _audible(event: Json, notes: Counter[str]) -> Times:
    """From when to when a piece of audio is heard, where the capture says so."""
    audio = event.get("audio")
    length = audio.get("duration_ms") if isinstance(audio, dict) else None
    if not is_time(length):
        notes[NO_LENGTH] += 1
        event["audio"] = {"duration_ms": 0.0}
    start, heard_ms = event.get("t_audible_ms"), event.get("audible_ms", length)
    return (float(start), float(start + heard_ms)) if is_time(start) and is_time(heard_ms) else _NOT_HEARD


def _event(event: Json, kind: str, times: Times, turns: set[str], notes: Counter[str]) -> Event:
    turn, response = event.get("turn_id"), event.get("response_id")
    if turn is not None or type(response) is not str or not response:  # else it is plain, as most are
        turn, response = _belongs_to(event, turns, notes)
    participant, text, number = event.get("participant_id"), event.get("text"), event["seq"]
    start, end = times
    text = "" if text is None else text
    if not isinstance(text, str):
        notes["an event whose text is no text"] += 1
        text = ""
    return Event(
        number if isinstance(number, int) else 0,
        kind,
        float(event["t_arrived_ms"]),
        participant if participant and type(participant) is str else name_of(participant),
        turn,
        response,
        text if kind is DELTA or not text else text.strip(),
        start,
        end,
    )


def _at(event: Event, times: Times) -> Event:
    """The same event, heard at other times."""
    return event._replace(audible_from=times[0], audible_to=times[1])


def _belongs_to(event: Json, turns: set[str], notes: Counter[str]) -> tuple[str | None, str | None]:
    """The turn and the response that an event names, or else the message behind it."""
    turn, response = name_of(event.get("turn_id")), name_of(event.get("response_id")) or name_of(event.get("item_id"))
    if turn is None and response is None and isinstance(event.get("raw"), dict):
        raw = event["raw"]
        turn, response = name_of(raw.get("turn_id")), name_of(raw.get("response_id")) or name_of(raw.get("item_id"))
    if turn is not None and turn not in turns:
        notes["an event names a turn that is not in the capture"] += 1
        turn = None
    return turn, response
