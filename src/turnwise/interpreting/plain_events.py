"""The events of a capture with nothing odd about it, as almost all are: read in one go, or not at all.

msgspec checks the fields while it parses, and passes over the raw messages that make up most of a file (a
number in them that no computer can hold goes unnoticed). What is read here is what `capture_events` reads step by
step, with a note for everything that is odd.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated

import msgspec

from turnwise.interpreting.records import AUDIO, DELTA, LATEST, TEXT, TRANSLATION, Event, Sent

Time = Annotated[float, msgspec.Meta(ge=0, le=LATEST)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_NEW = tuple.__new__
"""Makes an `Event` of all its fields, in half the time that calling it takes."""


class _Audio(msgspec.Struct, gc=False):
    duration_ms: Time


class _Line(msgspec.Struct, gc=False):
    type: str
    seq: Number | None = None
    direction: str = "in"
    t_arrived_ms: Time | None = None
    t_sent_ms: Time | None = None
    participant_id: str = ""
    turn_id: str | None = None
    response_id: str = ""
    text: str = ""
    audio: _Audio | None = None
    t_audible_ms: Time | None = None
    audible_ms: Time | None = None


_DECODER = msgspec.json.Decoder(list[tuple[_Line]])


def plain_events(data: bytes) -> tuple[list[Event], dict[str, list[Sent]]] | None:
    """The translation as it came in, in order, and what was sent of each turn; None where anything is odd."""
    data = data.strip()
    try:
        data.decode()  # what is passed over is not looked at otherwise
        # All lines at once, each in brackets of its own: two halves of an object on two lines are none.
        lines = _DECODER.decode(b"[[" + data.replace(b"\n", b"\n],[") + b"]]")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if len(lines) != data.count(b"\n") + 1:  # a line with brackets of its own
        return None
    found: list[Event] = []
    sent: dict[str, list[Sent]] = {}
    for place, (line,) in enumerate(lines):
        number = place if line.seq is None else line.seq
        if line.direction == "out":
            if line.t_sent_ms is not None:
                sent.setdefault(str(line.turn_id), []).append((number, line.t_sent_ms))
            continue
        if line.direction != "in" or line.t_arrived_ms is None:
            return None
        if line.type in TRANSLATION:
            event = _event(line, number, line.t_arrived_ms)
            if event is None:
                return None
            found.append(event)
    found.sort(key=attrgetter("arrived"))  # the order of the lines decides where two things arrive at once
    return found, sent


def _event(line: _Line, number: int, arrived: float) -> Event | None:
    """A piece of the translation; None where the line is odd."""
    kind, participant, response = line.type, line.participant_id or None, line.response_id
    if not response or line.turn_id is not None:
        return None
    if kind == DELTA:
        return _NEW(Event, (number, DELTA, arrived, participant, None, response, line.text, None, None))
    text = line.text.strip() if line.text else ""
    if kind == TEXT:
        return _NEW(Event, (number, TEXT, arrived, participant, None, response, text, None, None))
    start, heard = line.t_audible_ms, line.audible_ms
    if line.audio is None or start is None or heard is None:
        return None
    return _NEW(Event, (number, AUDIO, arrived, participant, None, response, text, start, start + heard))
