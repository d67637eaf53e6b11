"""Records of EVA: an event log that says when each side's audio began and ended, in seconds since 1970.

Turn 0 is what the assistant says before the user. A user start opens a new turn if the assistant has spoken since the
last one, else it continues the turn; an assistant start belongs to the turn it falls into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.duplex.formats.base import Conversations, Entry, FileConversations
from turnwise.duplex.formats.files import json_lines, list_in, object_in, read_json, text_in
from turnwise.duplex.formats.listing import Listing
from turnwise.duplex.formats.spans import AGENT, USER, in_order, moment, moment_from_text
from turnwise.duplex.records import Segment, Timeline
from turnwise.kernel.errors import InputError

NAME = "eva"
EVENTS, AUDIT = "elevenlabs_events.jsonl", "audit_log.json"
ASSISTANT = "framework_agent"
START, END = "audio_start", "audio_end"
SPEECH = {"assistant_speech": AGENT, "user_speech": USER}

NO_END = "audio of the {} that does not end was closed at the next audio event"
NO_START = "an end of audio of the {} without a beginning was left out"
NO_AUDIO = "text of the {} without audio was left out"
SORTED = "events were not in order and were sorted"
BEFORE = "a tool call before the first audio was set to its beginning"


def looks_like(found: Listing) -> bool:
    """Whether there is an event log."""
    return bool(found.having(EVENTS))


def read(found: Listing) -> Conversations:
    """A record, or all records at any depth."""
    return Eva(found)


SINCE_1970 = 1e14
"""At most, in seconds or milliseconds: the log counts them from 1970."""


class Eva(FileConversations[Entry]):
    """Records, each a folder."""

    name = NAME

    def __init__(self, found: Listing) -> None:
        folders = [name.rpartition("/")[0] for name in found.having(EVENTS)]
        if not folders:
            raise InputError(
                "there is no record of EVA", where=str(found.path), expected=f"folders with {EVENTS}", remedy="check it"
            )
        super().__init__(found, [_entry(found.key(name), found.root / name) for name in folders])

    def _read(self, entry: Entry) -> Timeline:
        log = _Log(entry.files[0])
        if not log.audio[USER] and not log.audio[AGENT]:
            raise InputError(
                "there is no audio in the log", where=str(entry.files[0]), expected=f"events {START} and {END}"
            )
        user, agent = (in_order(log.segments(side), side) for side in (USER, AGENT))
        notes = [*log.notes, *user[1], *agent[1]]
        calls = _tool_calls(entry.files[1], log.origin, notes) if len(entry.files) > 1 else ()
        return Timeline(
            key=entry.key,
            user=user[0],
            agent=agent[0],
            tool_calls=calls,
            notes=tuple(dict.fromkeys(notes)),
            context=_context(log.audio),
        )


def _entry(key: str, folder: Path) -> Entry:
    files = (folder / EVENTS, folder / AUDIT)
    return Entry(key, tuple(path for path in files if path.name == EVENTS or path.is_file()))


def _tool_calls(path: Path, origin: float, notes: list[str]) -> tuple[float, ...]:
    where = str(path)
    entries = list_in(object_in(read_json(path), where, "the file").get("transcript") or [], where, "transcript")
    calls = []
    for place, one in enumerate(entries):
        here = f"{where}, transcript[{place}]"
        if object_in(one, here, "an entry").get("message_type") == "tool_call":
            stamp = one.get("timestamp")
            read_stamp = moment_from_text if isinstance(stamp, str) else moment
            calls.append(read_stamp(stamp, here, "timestamp", SINCE_1970) / 1000 - origin)
    if min(calls, default=0) < 0:
        notes.append(BEFORE)
    return tuple(sorted(max(0.0, call) for call in calls))


@dataclass(slots=True)
class _Audio:
    """A stretch of one side's audio."""

    start: float
    end: float
    """Infinite as long as it is not known."""
    text: str = ""


class _Log:
    """The audio of both sides as the events tell it."""

    def __init__(self, path: Path) -> None:
        self.audio: dict[str, list[_Audio]] = {USER: [], AGENT: []}
        self.notes: list[str] = []
        self.origin = 0.0
        """The first audio event: where the conversation's time begins."""
        events = self._in_order([_Event.read(event, where) for where, event in json_lines(path)])
        heard = [event.when for event in events if event.kind in (START, END)]
        if heard:
            self.origin = heard[0]
        for event in events:
            if event.kind == START:
                self.audio[event.side].append(_Audio(event.when, inf))
            elif event.kind == END:
                self._end(event.side, event.when)
            elif event.text:
                self._say(event.side, event.text)
        for side, audio in self.audio.items():
            for one in audio:
                if one.end == inf:
                    one.end = next((when for when in heard if when > one.start), max(events[-1].when, one.start))
                    self.notes.append(NO_END.format(side))

    def _in_order(self, events: list[_Event]) -> list[_Event]:
        audio = [event.when for event in events if event.kind in (START, END)]
        if audio != sorted(audio):
            self.notes.append(SORTED)
            return sorted(events, key=lambda event: event.when)
        return events

    def _end(self, side: str, when: float) -> None:
        audio = self.audio[side]
        if audio and audio[-1].end == inf:
            audio[-1].end = when
        else:
            self.notes.append(NO_START.format(side))

    def _say(self, side: str, text: str) -> None:
        """A text belongs to the audio of its side that began last."""
        audio = self.audio[side]
        if audio:
            audio[-1].text = f"{audio[-1].text} {text}".strip()
        else:
            self.notes.append(NO_AUDIO.format(side))

    def segments(self, side: str) -> Iterable[Segment]:
        """The audio of a side, from the beginning of the conversation."""
        return (Segment(one.start - self.origin, one.end - self.origin, one.text) for one in self.audio[side])


class _Event(NamedTuple):
    when: float
    """Seconds since 1970."""
    kind: str
    side: str = ""
    text: str = ""

    @staticmethod
    def read(event: dict[str, Any], where: str) -> _Event:
        kind = text_in(event.get("event_type") or event.get("type"), where, "the type of the event")
        if kind in (START, END):
            side = AGENT if text_in(event.get("user"), where, "user") == ASSISTANT else USER
            return _Event(moment(event.get("audio_timestamp"), where, "audio_timestamp", latest=SINCE_1970), kind, side)
        when = moment(event.get("timestamp"), where, "timestamp", latest=SINCE_1970) / 1000
        if kind in SPEECH:
            data = object_in(event.get("data") or {}, where, "data")
            return _Event(when, kind, SPEECH[kind], text_in(data.get("text"), where, "data.text"))
        return _Event(when, "")


# Turns


def _context(audio: Mapping[str, Sequence[_Audio]]) -> dict[str, Any]:
    """What EVA's own processing makes of the log, under its names."""
    turns: dict[str, dict[str, list[list[float]]]] = {USER: {}, AGENT: {}}
    interrupted: dict[str, list[int]] = {USER: [], AGENT: []}
    turn, answered = 0, False
    both = [(one, side) for side in (USER, AGENT) for one in audio[side]]
    for one, side in sorted(both, key=lambda found: found[0].start):
        if side == USER:
            turn += answered or not turns[USER]
        answered = side == AGENT
        turns[side].setdefault(str(turn), []).append([one.start, one.end])
        other = audio[AGENT if side == USER else USER]
        if any(it.start < one.start < it.end for it in other) and turn not in interrupted[side]:
            interrupted[side].append(turn)
    agent, user = turns[AGENT], turns[USER]
    replies = [name for name in user if name in agent]
    return {
        "audio_timestamps_assistant_turns": agent,
        "audio_timestamps_user_turns": user,
        "num_assistant_turns": len(agent),
        "num_user_turns": len(replies),
        "latency_assistant_turns": {name: round(agent[name][0][0] - user[name][-1][1], 6) for name in replies},
        "assistant_interrupted_turns": interrupted[AGENT],
        "user_interrupted_turns": interrupted[USER],
    }
