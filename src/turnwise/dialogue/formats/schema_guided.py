"""Dialogues in frames: MultiWOZ 2.2 as published, and Schema-Guided Dialogue (SGD), which has the same layout.

A list of dialogues `{dialogue_id, services, turns}`, user and system in turn. The state stands in the frames of the
user turns, one frame per service. The system's acts stand in `dialog_acts.json` (MultiWOZ 2.2) or in its frames (SGD).
The other layout of MultiWOZ 2.2, `multiwoz22_rows`, ends in the same turns and frames.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from turnwise.dialogue.formats.base import HeldDialogues, Tally, read_json
from turnwise.dialogue.formats.fields import acts_and_slots, marked_spans, text_or_none, texts, wrong_type
from turnwise.dialogue.formats.frames import (
    Frame,
    FrameNotes,
    Said,
    Turn,
    beside,
    dialogues_in,
    exchanges_of,
    one_value,
    speaker_of,
)
from turnwise.dialogue.records import ActSlot
from turnwise.kernel.errors import InputError, shorten

NAME = "multiwoz-2.2"
SGD = "sgd"
FILES = "dialogues_*.json"
ACTS = "dialog_acts.json"
_NUMBERED = re.compile(r".+_\d+")
_LOOKED_AT = 1000
"""So many turns are looked at to tell SGD from MultiWOZ."""


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


# Reading


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of MultiWOZ 2.2, with the acts of the `dialog_acts.json` in their folder or the one above."""
    return _read(path, data, sha256, beside(path, ACTS))


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
        return Said(*acts_and_slots(acts, place, "dialog_act"), marked_spans(raw.get("span_info"), place))


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
