"""Dialogues in frames: MultiWOZ 2.2 as published, and Schema-Guided Dialogue (SGD), which has the same layout.

A list of dialogues `{dialogue_id, services, turns}`, user and system in turn. The state stands in the frames of the
user turns, one frame per service. The system's acts stand in `dialog_acts.json` (MultiWOZ 2.2) or in its frames (SGD).
The other layout of MultiWOZ 2.2, `multiwoz22_rows`, ends in the same turns and frames.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from turnwise.dialogue.formats.base import (
    SEE_FIELDS,
    HeldDialogues,
    Tally,
    acts_and_slots,
    check_ids,
    read_json,
    text_or_none,
    text_values,
    texts,
    wrong_type,
)
from turnwise.dialogue.records import ActSlot, Exchange, State, domain_of, domains_of_names, folded_intent
from turnwise.kernel.errors import InputError, shorten

NAME = "multiwoz-2.2"
SGD = "sgd"
FILES = "dialogues_*.json"
ACTS = "dialog_acts.json"
SCHEMA = "schema.json"
SPEAKERS = ("USER", "SYSTEM")
NO_INTENT = ("", "NONE")
_NUMBERED = re.compile(r".+_\d+")
_LOOKED_AT = 1000
"""So many turns are looked at to tell SGD from MultiWOZ."""


class Frame(NamedTuple):
    """What a user turn says about one service."""

    service: str | None
    intent: str | None
    """None where the file does not say."""
    state: State
    requested: tuple[str, ...] | None


class Said(NamedTuple):
    """What a system turn does; None where nobody says."""

    acts: tuple[str, ...] | None = None
    act_slots: tuple[ActSlot, ...] | None = None
    spans: tuple[tuple[str, str], ...] | None = None


class Turn(NamedTuple):
    """One turn, whatever layout it was read from."""

    place: str
    speaker: str
    text: str | None
    frames: Sequence[Frame] = ()
    said: Said = Said()


# Which file it is


def looks_like(data: Any) -> bool:
    """Whether parsed JSON is MultiWOZ 2.2 as published."""
    return _in_frames(data) and not _is_sgd(data)


def looks_like_sgd(data: Any) -> bool:
    """Whether parsed JSON is Schema-Guided Dialogue."""
    return _in_frames(data) and _is_sgd(data)


def _in_frames(data: Any) -> bool:
    first = data[0] if isinstance(data, list) and data else None
    return isinstance(first, dict) and isinstance(first.get("turns"), list)


def _is_sgd(data: list[Any]) -> bool:
    """SGD numbers its services (`Hotels_2`), and its system turns have actions; MultiWOZ leaves those empty."""
    dialogues = (dialogue for dialogue in data if isinstance(dialogue, dict))
    turns = (turn for dialogue in dialogues for turn in _list(dialogue.get("turns")) if isinstance(turn, dict))
    for turn in islice(turns, _LOOKED_AT):
        for frame in (frame for frame in _list(turn.get("frames")) if isinstance(frame, dict)):
            if _NUMBERED.fullmatch(str(frame.get("service"))):
                return True
            if turn.get("speaker") == "SYSTEM" and frame.get("actions"):
                return True
    return False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read_folder(folder: Path) -> tuple[list[Any], str]:
    """The dialogues of all `dialogues_*.json` of a folder in their order, with one hash for all."""
    files = sorted(folder.glob(FILES), key=lambda file: (len(file.name), file.name))
    if not files:
        parts = sorted({file.parent.name for file in folder.glob(f"*/{FILES}")})
        raise InputError(
            f"{folder} is a folder, not a file" + (", and holds only other folders of dialogues" if parts else ""),
            where=str(folder),
            found=f"no {FILES} in it" + (f", but in {', '.join(parts)}" if parts else ""),
            expected=f"a readable file, or a folder with {FILES} (MultiWOZ 2.2, SGD)",
            remedy=f"name one of the folders: {folder / parts[0]}" if parts else "check the path",
        )
    dialogues: list[Any] = []
    hashes = []
    for file in files:
        data, sha256 = read_json(file)
        if not isinstance(data, list):
            raise wrong_type(str(file), "(whole file)", data, "a list of dialogues")
        dialogues += data
        hashes.append(sha256)
    return dialogues, _joined(hashes)


def _joined(hashes: Sequence[str]) -> str:
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _beside(path: Path, name: str) -> Path | None:
    """A file of that name in the folder (of the file) or the one above."""
    folder = (path if path.is_dir() else path.parent).resolve()
    return next((found for found in (folder / name, folder.parent / name) if found.is_file()), None)


# Reading


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of MultiWOZ 2.2, with the acts of the `dialog_acts.json` in their folder or the one above."""
    return _read(path, data, sha256, _beside(path, ACTS))


def read_predictions(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """The same for predictions. Acts beside them may be those of the references: only a folder has acts of its own."""
    return _read(path, data, sha256, path / ACTS if (path / ACTS).is_file() else None)


def _read(path: Path, data: Any, sha256: str, acts_path: Path | None) -> HeldDialogues:
    notes = FrameNotes(path, complete=True)
    acts = None if acts_path is None else _DialogActs(acts_path, notes.tally)
    if acts is None:
        notes.tally.notes[f"no {ACTS} belongs to the file; acts, their slots and spans are not known"] += 1
    held = {}
    for dialogue_id, raw, where in dialogues_in(data, path):
        turns = [_turn(turn, f"{where}, turn {i}") for i, turn in enumerate(_turns(raw, where))]
        if acts is not None:
            ids = [str(raw_turn.get("turn_id", i)) for i, raw_turn in enumerate(raw)]
            turns = [turn._replace(said=acts.said(dialogue_id, i, turn)) for i, turn in zip(ids, turns, strict=True)]
        held[dialogue_id] = exchanges_of(dialogue_id, turns, where, notes)
    notes.write()
    if acts is not None:
        sha256 = _joined([sha256, acts.sha256])
    return HeldDialogues(path, NAME, sha256, held, notes.tally)


def read_sgd(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of Schema-Guided Dialogue."""
    notes = FrameNotes(path)
    held = {}
    for dialogue_id, raw, where in dialogues_in(data, path):
        places = ((f"{where}, turn {i}", turn) for i, turn in enumerate(_turns(raw, where)))
        turns = [_turn(turn, place, by_service=True) for place, turn in places]
        held[dialogue_id] = exchanges_of(dialogue_id, turns, where, notes)
    notes.write()
    return HeldDialogues(path, SGD, sha256, held, notes.tally)


def dialogues_in(data: Any, path: Path) -> Iterator[tuple[str, Any, str]]:
    """The id, the turns as they are and the place of every dialogue of a list."""
    if not isinstance(data, list):
        raise wrong_type(str(path), "(whole file)", data, "a list of dialogues {dialogue_id, services, turns}")
    seen = set()
    for number, dialogue in enumerate(data):
        place = f"{path}, dialogue number {number + 1}"
        if not isinstance(dialogue, dict):
            raise wrong_type(place, "(dialogue)", dialogue, "an object {dialogue_id, services, turns}")
        given = dialogue.get("dialogue_id")
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise wrong_type(place, "dialogue_id", given, "text or a whole number")
        dialogue_id = str(given)
        check_ids([dialogue_id], place)
        if dialogue_id in seen:
            raise InputError(
                f"dialogue {dialogue_id} is there twice",
                where=place,
                found=shorten(dialogue_id),
                expected="an id of its own for every dialogue",
                remedy="leave one of the two out, or give it another id",
            )
        seen.add(dialogue_id)
        yield dialogue_id, dialogue.get("turns"), f"{path}, dialogue {dialogue_id}"


def _turns(raw: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(raw, list):
        raise wrong_type(where, "turns", raw, "a list of turns")
    ids = []
    for i, turn in enumerate(raw):
        if not isinstance(turn, dict):
            raise wrong_type(f"{where}, turn {i}", "(turn)", turn, "an object {speaker, utterance, frames, turn_id}")
        given = turn.get("turn_id", i)
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise wrong_type(f"{where}, turn {i}", "turn_id", given, "text or a whole number")
        ids.append(str(given))
    twice = [turn_id for turn_id, n in Counter(ids).items() if n > 1]
    if twice:
        raise InputError(
            "a turn_id is there twice",
            where=where,
            found=shorten(twice[0]),
            expected="an id of its own for every turn of a dialogue",
            remedy="number the turns 0, 1, 2 ...",
        )
    return raw


def _turn(raw: dict[str, Any], place: str, by_service: bool = False) -> Turn:
    speaker = speaker_of(raw.get("speaker"), place)
    frames = raw.get("frames")
    if not isinstance(frames, list) or not all(isinstance(frame, dict) for frame in frames):
        raise wrong_type(place, "frames", frames, "a list of frames {service, state, ...}; [] where there is none")
    text = text_or_none(raw.get("utterance"), place, "utterance")
    if speaker == "USER":
        read_frames = [_frame(frame, f"{place}, frame {i}", by_service) for i, frame in enumerate(frames)]
        return Turn(place, speaker, text, read_frames)
    return Turn(place, speaker, text, said=_actions(frames, text or "", place) if by_service else Said())


def speaker_of(raw: Any, place: str) -> str:
    """`USER` or `SYSTEM`; also as the class numbers 0 and 1."""
    if isinstance(raw, int) and not isinstance(raw, bool) and raw in (0, 1):
        return SPEAKERS[raw]
    if isinstance(raw, str) and raw.upper() in SPEAKERS:
        return raw.upper()
    raise InputError(
        "field 'speaker' has an unknown value",
        where=place,
        found=shorten(raw),
        expected="USER or SYSTEM",
        remedy=SEE_FIELDS,
    )


def _frame(raw: dict[str, Any], place: str, by_service: bool) -> Frame:
    service = text_or_none(raw.get("service"), place, "service")
    if by_service and not service:
        raise wrong_type(place, "service", service, "the name of the service: slots are named by it")
    state = raw.get("state")
    if not isinstance(state, dict):
        raise wrong_type(place, "state", state, "an object {active_intent, requested_slots, slot_values}")
    values = state.get("slot_values")
    if not isinstance(values, dict):
        raise wrong_type(place, "state.slot_values", values, "an object: slot to a list of values")
    found = {
        _named(slot, service if by_service else None): one_value(value, place, f"slot_values.{slot}")
        for slot, value in values.items()
    }
    requested = texts(state.get("requested_slots"), place, "requested_slots")
    if requested is not None:
        requested = tuple(_named(slot, service if by_service else None) for slot in requested)
    return Frame(service, text_or_none(state.get("active_intent"), place, "active_intent"), found, requested)


def _named(slot: str, service: str | None) -> str:
    """The slot with its service in front, where the data name slots within their service."""
    return slot if service is None or slot.startswith(f"{service}-") else f"{service}-{slot}"


def one_value(raw: Any, where: str, name: str) -> str | list[str]:
    """A text, or a list where there are alternatives."""
    values = text_values(raw, where, name)
    return values[0] if isinstance(values, list) and len(values) == 1 else values


# The system's side


class _DialogActs:
    """`dialog_acts.json`: dialogue id to turn id to acts and spans."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path, self._notes = path, tally.notes
        self._acts, self.sha256 = read_json(path)
        if not isinstance(self._acts, dict):
            raise wrong_type(str(path), "(whole file)", self._acts, "an object: dialogue id to turn id to acts")

    def said(self, dialogue_id: str, turn_id: str, turn: Turn) -> Said:
        """The acts of a system turn."""
        if turn.speaker != "SYSTEM":
            return turn.said
        place = f"{self.path}, dialogue {dialogue_id}, turn {turn_id}"
        dialogue = self._acts.get(dialogue_id)
        if not isinstance(dialogue, dict | None):
            raise wrong_type(place, "(dialogue)", dialogue, "an object: turn id to acts")
        raw = (dialogue or {}).get(turn_id)
        if raw is None:
            self._notes[f"system turns that are not in {self.path.name}; their acts are not known"] += 1
            return Said()
        acts = raw.get("dialog_act") if isinstance(raw, dict) else raw
        if not isinstance(acts, dict):
            raise wrong_type(place, "dialog_act", acts, "an object: act to [slot, value] pairs")
        return Said(*acts_and_slots(acts, place, "dialog_act"), _marked(raw.get("span_info"), place))


def _marked(raw: Any, place: str) -> tuple[tuple[str, str], ...] | None:
    """`[[act, slot, value, start, end], ...]` as slots and values."""
    if raw is None:
        return None
    if not isinstance(raw, list) or not all(isinstance(span, list) and len(span) >= 3 for span in raw):
        raise wrong_type(place, "span_info", raw, "a list of [act, slot, value, start, end]")
    return tuple(span_of(str(act), str(slot), str(value)) for act, slot, value, *_ in raw)


def span_of(act: str, slot: str, value: str) -> tuple[str, str]:
    """`Hotel-Inform`, `area` and `north` as (`hotel-area`, `north`)."""
    return f"{domain_of(act)}-{slot.lower()}", value


def _actions(frames: list[dict[str, Any]], text: str, place: str) -> Said:
    """The acts in the frames of an SGD system turn, `Service-ACT`, and the slots marked in its text."""
    acts: dict[str, None] = {}
    slots: list[ActSlot] = []
    spans: list[tuple[str, str]] = []
    for number, frame in enumerate(frames):
        where, service = f"{place}, frame {number}", frame.get("service")
        if not isinstance(service, str):
            raise wrong_type(where, "service", service, "the name of the service: acts are named by it")
        for action in _objects(frame.get("actions"), where, "actions", "{act, slot, values}"):
            name, slot = action.get("act"), text_or_none(action.get("slot"), where, "actions.slot")
            if not isinstance(name, str) or not name:
                raise wrong_type(where, "actions.act", name, "the type of the act, e.g. INFORM")
            acts[f"{service}-{name}"] = None
            values = texts(action.get("values"), where, "actions.values") or ("",)
            slots += [ActSlot(f"{service}-{name}", slot, value) for value in values if slot]
        for mark in _objects(frame.get("slots"), where, "slots", "{slot, start, exclusive_end}"):
            slot, start, end = (mark.get(key) for key in ("slot", "start", "exclusive_end"))
            if not isinstance(slot, str) or not isinstance(start, int) or not isinstance(end, int):
                raise wrong_type(where, "slots", mark, "an object {slot, start, exclusive_end}")
            spans.append((_named(slot, service), text[start:end]))
    if frames and not any("actions" in frame for frame in frames):
        return Said()
    return Said(tuple(acts), tuple(slots), tuple(spans))


def _objects(raw: Any, where: str, name: str, what: str) -> list[dict[str, Any]]:
    if raw is None:
        return []
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        raise wrong_type(where, name, raw, f"a list of objects {what}")
    return raw


# From turns to exchanges


class FrameNotes:
    """What is worth saying about the frames of a file, gathered while its dialogues are read."""

    def __init__(self, path: Path, *, complete: bool = False) -> None:
        self.tally = Tally()
        self._complete = complete
        """Whether every user turn should have a frame for every service, as in MultiWOZ."""
        self._schema = _schema(path, self.tally)
        self._unknown: dict[tuple[str | None, str], list[str]] = {}
        self._idle_frames = 0
        self._lost: list[str] = []

    def intent(self, frame: Frame, place: str) -> str | None:
        """The intent of a frame in the schema's spelling; noted if the schema does not know it."""
        intent = frame.intent
        if intent is None or intent in NO_INTENT:
            return intent
        if folded_intent(intent) != intent.strip().lower():
            self.tally.notes[f"intent {intent} is read as {folded_intent(intent)}, its name in the schema"] += 1
            intent = folded_intent(intent)
        services = [frame.service] if frame.service is not None else self._schema or ()
        if self._schema is not None and not any(intent in self._schema.get(service, ()) for service in services):
            self._unknown.setdefault((frame.service, intent), []).append(place)
        return intent

    def dialogue(self, users: Iterable[Turn]) -> None:
        """Look for slots that vanish because their service has no frame any more."""
        filled: set[str] = set()
        for turn in users:
            self._idle_frames += sum(frame.intent in NO_INTENT for frame in turn.frames)
            present = {domain_of(slot) for frame in turn.frames for slot in frame.state}
            here = present | {frame.service.lower() for frame in turn.frames if frame.service}
            if filled - here:
                self._lost.append(turn.place)
            filled |= present

    def write(self) -> None:
        """Put what was found into the tally."""
        for (service, intent), places in self._unknown.items():
            of = "" if service is None else f" of service {service}"
            message = f"intent {intent}{of} is not in {SCHEMA}; kept as it is, first in {places[0]}"
            self.tally.notes[message] += len(places)
        if self._complete and self._lost and not self._idle_frames:
            message = (
                "states are incomplete, this looks like an active_only export: frames without an intent are missing, "
                f"and with them the slots of earlier domains, first in {self._lost[0]}; use the export with all frames"
            )
            self.tally.notes[message] += len(self._lost)


def _schema(path: Path, tally: Tally) -> dict[str, set[str]] | None:
    """Intents by service, from the `schema.json` that belongs to the file."""
    found = _beside(path, SCHEMA)
    if found is None:
        return None
    services, _ = read_json(found)
    try:
        return {service["service_name"]: {intent["name"] for intent in service["intents"]} for service in services}
    except (TypeError, KeyError):
        tally.notes[f"{found} is not a list of services with intents; intents are not checked against it"] += 1
        return None


def exchanges_of(dialogue_id: str, turns: Sequence[Turn], where: str, notes: FrameNotes) -> list[Exchange]:
    """User turns with the system turns that answer them."""
    order = "user and system in turn, the user first"
    if not turns:
        raise InputError(
            "the dialogue has no turn", where=where, found="[]", expected=order, remedy="leave the dialogue out"
        )
    for number, turn in enumerate(turns):
        if turn.speaker != SPEAKERS[number % 2]:
            raise InputError(
                f"two {turn.speaker.lower()} turns in a row" if number else "the dialogue begins with a system turn",
                where=turn.place,
                found=f"{turn.speaker}: {shorten(turn.text)}",
                expected=order,
                remedy="join turns of the same speaker, or leave the dialogue out",
            )
    if len(turns) % 2:
        notes.tally.notes["dialogues end with a user turn that no system turn answers; that turn is left out"] += 1
    pairs = list(zip(turns[::2], turns[1::2], strict=False))  # the last user turn may have no answer
    notes.dialogue(user for user, _ in pairs)
    return [_exchange(dialogue_id, index, user, system, notes) for index, (user, system) in enumerate(pairs)]


def _exchange(dialogue_id: str, index: int, user: Turn, system: Turn, notes: FrameNotes) -> Exchange:
    read_intents = [(frame, notes.intent(frame, user.place)) for frame in user.frames]
    unknown = bool(user.frames) and all(intent is None for _, intent in read_intents)
    active = [(frame, intent) for frame, intent in read_intents if intent is not None and intent not in NO_INTENT]
    domains = [
        domain
        for frame, intent in active
        for domain in ((frame.service.lower(),) if frame.service else domains_of_names((intent,), "_"))
    ]
    asked = [frame.requested for frame in user.frames if frame.requested is not None]
    return Exchange(
        dialogue_id=dialogue_id,
        turn_id=str(index),
        user=user.text,
        response=system.text,
        domains=None if unknown else tuple(dict.fromkeys(domains)),
        intents=None if unknown else tuple(dict.fromkeys(intent for _, intent in active)),
        acts=system.said.acts,
        act_slots=system.said.act_slots,
        spans=system.said.spans,
        state=_state(user),
        requested=tuple(dict.fromkeys(slot for slots in asked for slot in slots)) if asked or not user.frames else None,
    )


def _state(user: Turn) -> State:
    """The slots of all frames, also of those without an intent."""
    state: dict[str, str | list[str]] = {}
    for frame in user.frames:
        for slot, value in frame.state.items():
            if state.setdefault(slot, value) != value:
                raise InputError(
                    f"two frames of a turn give slot {slot!r} different values",
                    where=user.place,
                    found=f"{shorten(state[slot])} and {shorten(value)}",
                    expected="a slot in one frame only; a list where there are alternatives",
                    remedy="join the two frames",
                )
    return state
