"""MultiWOZ 2.2 as Hugging Face gives it (`multi_woz_v22`): one row per dialogue, its turns as parallel lists.

Rows come as JSONL, as a JSON list or as parquet. Some writers turn parallel lists into lists of objects; both are read
at every level. What the turns mean is settled in `frames`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from turnwise.dialogue.formats.base import BOM, HeldDialogues, broken_json, file_sha256, read_bytes
from turnwise.dialogue.formats.fields import scalar_text, span_of, text_or_none, texts, wrong_type
from turnwise.dialogue.formats.frames import (
    Frame,
    FrameNotes,
    Said,
    Turn,
    dialogues_in,
    exchanges_of,
    one_value,
    speaker_of,
)
from turnwise.dialogue.records import ActSlot, Exchange
from turnwise.engine.parquet_rows import ParquetRows
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, loads

NAME = "multiwoz-2.2-rows"


def looks_like(data: Any) -> bool:
    """Whether parsed rows have this format."""
    first = data[0] if isinstance(data, list) and data else None
    turns = first.get("turns") if isinstance(first, dict) else None
    if isinstance(turns, dict):
        return True
    turns = [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    frames = [frame for turn in turns if isinstance(turn.get("frames"), list) for frame in turn["frames"]]
    states = [frame.get("state") for frame in frames if isinstance(frame, dict)]
    return any("dialogue_acts" in turn or isinstance(turn.get("frames"), dict) for turn in turns) or any(
        isinstance(state, dict) and "slots_values" in state for state in states
    )


def is_row(first: Any) -> bool:
    """Whether the first line of a file is a whole dialogue, not an exchange."""
    return isinstance(first, dict) and isinstance(first.get("turns"), list | dict)


def read_lines(path: Path) -> tuple[list[Any], str]:
    """The rows of a JSONL file, with its hash."""
    data = read_bytes(path)
    rows = []
    for number, line in enumerate(data.splitlines()):
        if line.removeprefix(BOM).strip():
            try:
                rows.append(loads(line.removeprefix(BOM)))
            except JSONDecodeError as error:
                raise broken_json(error, str(path), line, number) from error
    return rows, hashlib.sha256(data).hexdigest()


def is_row_table(path: Path) -> bool:
    """Whether the rows of a parquet file are whole dialogues, not exchanges."""
    return "turns" in ParquetRows(path).columns


def read_parquet(path: Path) -> tuple[list[Any], str]:
    """The rows of a parquet file, with its hash."""
    rows = list(ParquetRows(path).scan())
    return rows, file_sha256(path)


def read(path: Path, data: Any, sha256: str) -> HeldDialogues:
    """All dialogues of parsed rows."""
    notes = FrameNotes(path, complete=True)
    held = {}
    swapped = 0
    for dialogue_id, raw, where in dialogues_in(data, path):
        turns = []
        for number, turn in enumerate(_objects(raw, where, "turns")):
            turns.append(_turn(turn, f"{where}, turn {number}"))
            swapped += _swapped(turns[-1].said)
        held[dialogue_id] = exchanges_of(dialogue_id, turns, where, notes)
    notes.write()
    if swapped > 0:
        message = "acts have their slots under slot_value and their values under slot_name; read the other way round"
        notes.tally.notes[message] += 1
        held = {dialogue_id: [_turned(exchange) for exchange in exchanges] for dialogue_id, exchanges in held.items()}
    return HeldDialogues(path, NAME, sha256, held, notes.tally)


def _swapped(said: Said) -> int:
    """How much in a turn says that names and values of its acts are exchanged, less what says they are not.

    Older exports have them the other way round (huggingface/datasets issue 2128). The marked spans never do, and `?`
    is no slot.
    """
    spans = set(said.spans or ())
    score = 0
    for act, slot, value in said.act_slots or ():
        score += (span_of(act, value, slot) in spans) - (span_of(act, slot, value) in spans)
        score += (slot == "?") - (value == "?")
    return score


def _turned(exchange: Exchange) -> Exchange:
    slots = exchange.act_slots
    return exchange if slots is None else replace(exchange, act_slots=tuple(ActSlot(a, v, s) for a, s, v in slots))


def _objects(raw: Any, where: str, name: str) -> list[dict[str, Any]]:
    """A list of objects, also where it is written as an object of parallel lists."""
    if isinstance(raw, list) and all(isinstance(one, dict) for one in raw):
        return raw
    if not isinstance(raw, dict) or not all(isinstance(column, list) for column in raw.values()):
        raise wrong_type(where, name, raw, "an object of parallel lists, or a list of objects")
    lengths = {key: len(column) for key, column in raw.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"the parallel lists of {name!r} differ in length",
            where=where,
            found=", ".join(f"{key}: {n}" for key, n in lengths.items()),
            expected="one entry per list for each",
            remedy="export the rows again",
        )
    return [dict(zip(raw, row, strict=True)) for row in zip(*raw.values(), strict=True)]


def _turn(raw: dict[str, Any], place: str) -> Turn:
    speaker = speaker_of(raw.get("speaker"), place)
    text = text_or_none(raw.get("utterance"), place, "utterance")
    frames = _objects(raw.get("frames"), place, "frames")
    if speaker == "USER":
        return Turn(place, speaker, text, [_frame(frame, f"{place}, frame {i}") for i, frame in enumerate(frames)])
    return Turn(place, speaker, text, said=_said(raw.get("dialogue_acts"), place))


def _frame(raw: dict[str, Any], place: str) -> Frame:
    state = raw.get("state")
    if not isinstance(state, dict):
        raise wrong_type(place, "state", state, "an object {active_intent, requested_slots, slots_values}")
    slots: dict[str, str | list[str]] = {}
    for pair in _objects(state.get("slots_values"), place, "slots_values"):
        slot = pair.get("slots_values_name")
        if not isinstance(slot, str):
            raise wrong_type(place, "slots_values_name", slot, "the name of a slot")
        slots[slot] = one_value(pair.get("slots_values_list"), place, f"slots_values_list of {slot}")
    return Frame(
        text_or_none(raw.get("service"), place, "service"),
        text_or_none(state.get("active_intent"), place, "active_intent"),
        slots,
        texts(state.get("requested_slots"), place, "requested_slots"),
    )


def _said(raw: Any, place: str) -> Said:
    if raw is None:
        return Said()
    if not isinstance(raw, dict) or "dialog_act" not in raw:
        raise wrong_type(place, "dialogue_acts", raw, "an object {dialog_act, span_info}")
    acts: dict[str, None] = {}
    slots: list[ActSlot] = []
    for act in _objects(raw["dialog_act"], place, "dialog_act"):
        name = _text(act, "act_type", place)
        acts[name] = None
        for pair in _objects(act.get("act_slots"), place, "act_slots"):
            slots.append(ActSlot(name, _text(pair, "slot_name", place), _text(pair, "slot_value", place)))
    spans = None if raw.get("span_info") is None else _objects(raw["span_info"], place, "span_info")
    keys = ("act_type", "act_slot_name", "act_slot_value")
    marked = None if spans is None else tuple(span_of(*(_text(span, key, place) for key in keys)) for span in spans)
    return Said(tuple(acts), tuple(slots), marked)


def _text(raw: dict[str, Any], name: str, place: str) -> str:
    if raw.get(name) is None:
        raise wrong_type(place, name, None, "text")
    return scalar_text(raw[name], place, name)
