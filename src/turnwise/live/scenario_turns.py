"""The turns of a scenario file: each by itself, then what they say about each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, SequenceNode

from turnwise.kernel.errors import near_misses, shorten
from turnwise.live.scenario import (
    ANSWER_EVENTS,
    END,
    EVENTS,
    HANGUP,
    PLAY_AUDIO,
    SAY,
    SILENCE,
    TYPES,
    After,
    Participant,
    Planned,
    Turn,
    plan,
)
from turnwise.live.scenario_fields import Fields
from turnwise.live.scenario_yaml import as_json, described, members

KEYS = (
    *("id", "type", "participant", "audio_file", "text", "duration_ms", "start_at_ms", "after", "barge_in"),
    *("source_text", "expected_text", "expected_language", "metadata"),
)
AFTER_KEYS = ("turn", "event", "delay_ms")

SHAPE = "turns: [{id: greeting, type: say, participant: caller, text: Good morning}]"
_AFTER_SHAPE = "after: {turn: greeting, event: first_audio, delay_ms: 700}"
_OWN = {
    PLAY_AUDIO: ("audio_file", "audio_file: greeting.wav"),
    SAY: ("text", "text: Good morning"),
    SILENCE: ("duration_ms", "duration_ms: 2000"),
}
"""What a turn of a type needs, and no other type has."""
_INSTEAD = {
    "audio_file": "a recording is played by type: play_audio",
    "text": "text is spoken by type: say; the words of a recording are its source_text",
    "duration_ms": "how long nothing is said is told by type: silence",
}


@dataclass(frozen=True, slots=True)
class _Read:
    """A turn and where it came from; of a broken turn, what could be read."""

    turn: Turn
    fields: Fields


def read_turns(
    fields: Fields, participants: Mapping[str, Participant] | None, folder: Path, *, need_audio: bool
) -> tuple[Turn, ...]:
    """The turns, with every default filled in. Where there are problems, the turns may be nonsense."""
    node = fields.needed("turns", SHAPE)
    if isinstance(node, SequenceNode) and not node.value:
        fields.wrong("turns", "there are no turns", found="an empty list", expected=SHAPE)
    read: list[_Read] = []
    for about in fields.items("turns", SHAPE):
        read.append(_Read(_turn(about, participants, read, folder, need_audio), about))
    turns = tuple(one.turn for one in read)
    _check_ids(read)
    _check_waits(read)
    planned = plan(turns, {})
    _check_barge_ins(read, planned)
    _check_hangups(read, planned)
    return turns


# One turn


def _turn(
    about: Fields, participants: Mapping[str, Participant] | None, before: list[_Read], folder: Path, need_audio: bool
) -> Turn:
    about.needed("id", "id: greeting")
    about.needed("type", f"type: one of {', '.join(TYPES)}")
    kind = about.one_of("type", TYPES) or ""
    _check_own(about, kind)
    previous = before[-1].turn if before else None
    name = _participant(about, kind, participants, previous)
    speaker = (participants or {}).get(name) if kind in (PLAY_AUDIO, SAY) else None
    person = speaker or Participant()
    start_at_ms, after = _start(about, previous)
    text, source_text = about.text("text"), about.text("source_text")
    if kind == SAY and text is not None and not text.strip():
        about.wrong("text", "there is nothing to say", found=shorten(text), expected="text")
    expected_language = about.language("expected_language")
    return Turn(
        id=about.name("id") or f"[{len(before)}]",
        type=kind,
        participant=name,
        audio_file=_audio_file(about, folder, need_audio and kind == PLAY_AUDIO),
        text=text,
        duration_ms=about.milliseconds("duration_ms", least=1),
        start_at_ms=start_at_ms,
        after=after,
        barge_in=about.flag("barge_in") or False,
        source_text=text if source_text is None and kind == SAY else source_text,
        expected_text=about.text("expected_text"),
        expected_language=expected_language or person.target_language,
        language=person.source_language,
        metadata=_metadata(about),
    )


def _check_own(about: Fields, kind: str) -> None:
    if not kind:
        return
    own, example = _OWN.get(kind, (None, ""))
    if own is not None:
        about.needed(own, example)
    for name, remedy in _INSTEAD.items():
        node = about.given(name)
        if name != own and node is not None:
            about.wrong(name, f"a turn of type {kind} has no {name}", found=described(node), remedy=remedy)


def _participant(
    about: Fields, kind: str, participants: Mapping[str, Participant] | None, previous: Turn | None
) -> str:
    name = about.name("participant")
    if participants is None:
        return name or ""
    if name is not None and name not in participants:
        remedy = near_misses(name, participants) or "name them under participants"
        what, expected = f"there is no participant {shorten(name)}", ", ".join(participants)
        about.wrong("participant", what, found=shorten(name), expected=expected, remedy=remedy)
    if about.given("participant") is not None:
        return name or ""
    if len(participants) > 1 and kind in (PLAY_AUDIO, SAY):
        expected = f"participant: one of {', '.join(participants)}"
        about.wrong("participant", "participant is missing: several take part", expected=expected)
        return ""
    return previous.participant if previous and previous.participant in participants else next(iter(participants))


def _start(about: Fields, previous: Turn | None) -> tuple[int | None, After | None]:
    """When the turn starts: at a time, after an event, or when the turn before has ended."""
    at, waits = about.milliseconds("start_at_ms"), about.mapping("after", _AFTER_SHAPE)
    if about.given("start_at_ms") is not None and about.given("after") is not None:
        what = "a turn has start_at_ms or after, not both"
        about.wrong("after", what, found=f"start_at_ms in line {about.line('start_at_ms')}", remedy="keep one of them")
    if waits is not None:
        waits.refuse_others(AFTER_KEYS, "after")
        waits.needed("turn", _AFTER_SHAPE)
        waits.needed("event", f"event: one of {', '.join(EVENTS)}")
        turn, event = waits.name("turn"), waits.one_of("event", EVENTS)
        return None, After(turn or "", event or "", waits.milliseconds("delay_ms") or 0)
    if at is not None:
        return at, None
    return (0, None) if previous is None else (None, After(previous.id, END))


def _audio_file(about: Fields, folder: Path, needed: bool) -> Path | None:
    given = about.text("audio_file")
    if given is None:
        return None
    file = folder / given
    if not needed:
        return file
    try:
        there, is_folder = file.is_file(), file.is_dir()
    except OSError as error:  # a name too long for any file, a folder that may not be entered
        about.wrong("audio_file", "the recording cannot be read", found=error.strerror or str(error))
        return file
    if not there:
        beside = [one.name for one in file.parent.iterdir()] if file.parent.is_dir() else []
        found = f"a folder, {shorten(str(file))}" if is_folder else f"nothing at {shorten(str(file), 200)}"
        remedy = near_misses(file.name, beside) or "paths are relative to the scenario file"
        about.wrong(
            "audio_file", "there is no such recording", found=found, expected="a WAV or FLAC file", remedy=remedy
        )
    return file


def _metadata(about: Fields) -> dict[str, Any]:
    """`metadata`, and keys that nobody knows; one that looks like a known one is a typing error."""
    found: dict[str, Any] = {}
    for name in about.names:
        node = about.given(name)
        if name == "metadata":
            if isinstance(node, MappingNode):
                found |= {key: as_json(value) for key, (_, value) in members(node).items()}
            elif node is not None:
                about.wrong(name, "metadata is not a mapping", found=described(node), expected="metadata: {ward: 3}")
        elif name not in KEYS:
            close = near_misses(name, KEYS)
            if close:
                remedy = f"{close} What is meant to be kept goes under metadata"
                about.wrong(name, f"a turn has no {shorten(name)}", expected=", ".join(KEYS), remedy=remedy)
            found.setdefault(name, None if node is None else as_json(node))
    return found


# Turns together


def _check_ids(read: Sequence[_Read]) -> None:
    first: dict[str, Fields] = {}
    for one in read:
        name = one.turn.id
        if name and name in first:
            found = f"turn {shorten(name)} in line {first[name].line('id')}, too"
            one.fields.wrong("id", "two turns have the same id", found=found, expected="an id of its own")
        first.setdefault(name, one.fields)


def _check_waits(read: Sequence[_Read]) -> None:
    places = {one.turn.id: place for place, one in reversed(list(enumerate(read)))}
    for place, one in enumerate(read):
        after = one.turn.after
        waits = one.fields.mapping("after", _AFTER_SHAPE)
        if after is None or waits is None or not after.turn:
            continue
        other = places.get(after.turn)
        earlier = ", ".join(dict.fromkeys(before.turn.id for before in read[:place]))
        expected = f"the id of an earlier turn: {earlier}" if earlier else "the first turn cannot wait"
        found = shorten(after.turn)
        if other is None:
            remedy = near_misses(after.turn, [before.turn.id for before in read[:place]]) or None
            waits.wrong("turn", f"there is no turn {found}", found=found, expected=expected, remedy=remedy)
        elif other == place:
            waits.wrong("turn", "a turn cannot wait for itself", found=found, expected=expected)
        elif other > place:
            circle = _circle(read, places, place)
            what = f"turns wait for each other: {circle}" if circle else f"turn {found} comes later"
            waits.wrong("turn", what, found=f"{found}, in line {read[other].fields.line('id')}", expected=expected)
        elif after.event in ANSWER_EVENTS and read[other].turn.type in (SILENCE, HANGUP):
            what = f"nobody answers a turn of type {read[other].turn.type}"
            waits.wrong("event", what, found=after.event, expected="start or end, or a turn that speaks")


def _circle(read: Sequence[_Read], places: Mapping[str, int], place: int) -> str:
    """The turns that lead back to one that waits for a later one, as text; empty if none do."""
    names, at = [read[place].turn.id], place
    while (after := read[at].turn.after) is not None and after.turn in places and len(names) <= len(read):
        at = places[after.turn]
        names.append(read[at].turn.id)
        if at == place:
            return shorten(" -> ".join(names), 120).strip("'\"")
    return ""


def _check_barge_ins(read: Sequence[_Read], planned: Sequence[Planned]) -> None:
    """Somebody has to have spoken before, in time and not only in the file."""
    speeches = [(one.earliest_ms, at) for at, one in enumerate(planned) if one.turn.type not in (SILENCE, HANGUP)]
    first = min(speeches, default=(0, 0))
    for at, (one, own) in enumerate(zip(read, planned, strict=True)):
        if not one.turn.barge_in:
            continue
        if one.turn.type in (SILENCE, HANGUP):
            what = f"a turn of type {one.turn.type} cannot barge in"
            one.fields.wrong("barge_in", what, found="true", expected="a turn that speaks: play_audio or say")
        elif own.fixed and first == (own.earliest_ms, at):
            what = "the first turn cannot barge in: nothing has been said before it"
            remedy = "leave barge_in out, or let the turn start later"
            one.fields.wrong("barge_in", what, found="true", expected="an earlier turn that speaks", remedy=remedy)


def _check_hangups(read: Sequence[_Read], planned: Sequence[Planned]) -> None:
    """The call is over when somebody hangs up; only a turn that is sure to start before may stand after it."""
    over: tuple[_Read, Planned] | None = None
    for one, own in zip(read, planned, strict=True):
        if over is not None:
            last, end = over
            if not (own.fixed and own.earliest_ms < end.earliest_ms):
                what = "the call is over before this turn"
                found = f"turn {shorten(last.turn.id)} hangs up, in line {last.fields.line('id')}"
                one.fields.wrong("id", what, found=found, remedy="hang up last")
        elif one.turn.type == HANGUP:
            over = (one, own)
