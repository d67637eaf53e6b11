"""turnwise JSONL: one exchange per line.

The file is read once to check every line and to note where each dialogue's lines are; exchanges are parsed again when
their dialogue's turn has come, so memory does not grow with the file.
"""

from __future__ import annotations

import hashlib
import os
import sys
from array import array
from collections import Counter
from pathlib import Path
from typing import IO, Any

from turnwise.dialogue.formats.base import BOM, Facts, HeldDialogues, Tally, broken_json, missing_file
from turnwise.dialogue.formats.fields import (
    SEE_FIELDS,
    acts_and_slots,
    goals_from,
    nested_state,
    real_intents,
    slot_pairs,
    text_or_none,
    texts,
    wrong_type,
)
from turnwise.dialogue.records import ACTIONS, OPERATIONS, Exchange
from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads

NAME = "jsonl"
_KNOWN = {
    "dialogue_id",
    "turn_id",
    "user",
    "response",
    "domain",
    "intents",
    "acts",
    "spans",
    "state",
    "requested",
    "action",
    "booked",
    "goal",
    "reward",
    "metadata",
    *OPERATIONS,
}


class JsonlDialogues:
    """A turnwise JSONL file, indexed by dialogue."""

    format = NAME

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts: dict[str, Facts] = {}
        self.tally = Tally()
        self._lines: dict[str, array[int]] = {}
        """Per dialogue, flat: byte offset, line number and length in lines of each stretch of its lines."""
        self._names: dict[tuple[str, str], str] = {}
        self._scattered: dict[str, set[str]] = {}
        self.sha256 = self._index()

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue, in the order of the file."""
        places = self._lines[dialogue_id]
        found = []
        try:
            with self.path.open("rb") as file:
                if _file_state(file) != self._state:
                    raise changed_file(self.path)
                for offset, first, lines in zip(places[::3], places[1::3], places[2::3], strict=True):
                    file.seek(offset)
                    found += [self._parse(file.readline(), number, None) for number in range(first, first + lines)]
        except OSError as error:
            raise missing_file(self.path, error) from error
        return found

    def _index(self) -> str:
        sha256 = hashlib.sha256()
        seen: set[str] = set()
        last: str | None = None
        offset = 0
        try:
            with self.path.open("rb") as file:
                self._state = _file_state(file)
                for number, line in enumerate(file, start=1):
                    sha256.update(line)
                    if line.removeprefix(BOM).strip():
                        exchange = self._parse(line, number, self.tally.notes)
                        if exchange.dialogue_id != last:
                            last = exchange.dialogue_id
                            seen = self._known_turns(last)
                        self._add(exchange, offset, number, seen)
                    offset += len(line)
        except OSError as error:
            raise missing_file(self.path, error) from error
        if not self.facts:
            raise InputError(
                "the file has no exchange",
                where=str(self.path),
                found="nothing but blank lines",
                expected="one JSON object per line",
                remedy=SEE_FIELDS,
            )
        return sha256.hexdigest()

    def _known_turns(self, dialogue_id: str) -> set[str]:
        """The turn ids a dialogue has so far: none, unless its lines are scattered over the file."""
        if dialogue_id not in self.facts:
            return set()
        if dialogue_id not in self._scattered:  # read again once; from now on they are remembered
            self._scattered[dialogue_id] = self._turns(dialogue_id)
        return self._scattered[dialogue_id]

    def _turns(self, dialogue_id: str) -> set[str]:
        return {exchange.turn_id for exchange in self.exchanges(dialogue_id) if exchange.turn_id is not None}

    def _add(self, exchange: Exchange, offset: int, number: int, seen: set[str]) -> None:
        dialogue_id = exchange.dialogue_id
        facts = self.facts.setdefault(dialogue_id, Facts())
        places = self._lines.setdefault(dialogue_id, array("q"))
        facts.add(exchange)
        check_turn(exchange, facts, seen, f"{self.path}, line {number}")
        if places and places[-2] + places[-1] == number:
            places[-1] += 1
        else:
            places.extend((offset, number, 1))
        self.tally.add(exchange)

    def _parse(self, line: bytes, number: int, notes: Counter[str] | None) -> Exchange:
        where = f"{self.path}, line {number}"
        try:
            raw = loads(line.removeprefix(BOM) if number == 1 else line)
        except JSONDecodeError as error:
            raise broken_json(error, str(self.path), line, number - 1) from error
        return exchange_from(raw, where, self._names, notes)


def _file_state(file: IO[bytes]) -> tuple[int, ...]:
    """What tells whether a file is still the one that was indexed."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def changed_file(path: Path) -> InputError:
    """The error for a file that changes while it is evaluated."""
    return InputError(
        "the file was changed while it was read",
        where=str(path),
        found="another size, time or file than at the beginning",
        expected="a file that nobody writes to",
        remedy="run it again on a copy",
    )


def check_turn(exchange: Exchange, facts: Facts, seen: set[str], where: str) -> None:
    """Every exchange of a dialogue has a turn id of its own, or none has one; `seen` are those before this one.

    The goal and the reward belong to the dialogue, so there is only one of each.
    """
    if facts.second is not None:
        raise InputError(
            f"dialogue {exchange.dialogue_id} has a second {facts.second}",
            where=where,
            found="another value than on an exchange before",
            expected=f"one {facts.second} per dialogue",
            remedy="write it on one exchange of the dialogue, or the same on all",
        )
    if 0 < facts.ids < facts.exchanges:
        raise InputError(
            f"dialogue {exchange.dialogue_id}: some exchanges have a turn_id and some have none",
            where=where,
            found=f"{facts.ids} of {facts.exchanges} with a turn_id",
            expected="all or none",
            remedy="give all of them one, or none (then their order counts)",
        )
    if exchange.turn_id in seen:
        raise InputError(
            f"exchange {exchange.turn_id} of dialogue {exchange.dialogue_id} is there twice",
            where=where,
            found=f"turn_id {exchange.turn_id} again",
            expected="one exchange per turn_id",
            remedy="give every exchange of a dialogue its own turn_id",
        )
    if exchange.turn_id is not None:
        seen.add(exchange.turn_id)


def held(records: list[dict[str, Any]], side: str) -> HeldDialogues:
    """Exchanges that are in memory already, in the form of the file."""
    tally = Tally()
    names: dict[tuple[str, str], str] = {}
    dialogues: dict[str, list[Exchange]] = {}
    facts: dict[str, Facts] = {}
    seen: dict[str, set[str]] = {}
    hashed = hashlib.sha256()
    for number, raw in enumerate(records):
        where = f"{side}[{number}]"
        exchange = exchange_from(raw, where, names, tally.notes)
        name = exchange.dialogue_id
        hashed.update(_checked_bytes(exchange, where))
        dialogues.setdefault(name, []).append(exchange)
        known = facts.setdefault(name, Facts())
        known.add(exchange)
        check_turn(exchange, known, seen.setdefault(name, set()), where)
    if not dialogues:
        what = f"{side} has no exchange"
        raise InputError(what, where=side, found="an empty list", expected="at least one exchange", remedy=SEE_FIELDS)
    return HeldDialogues(Path(f"<{side}>"), NAME, hashed.hexdigest(), dialogues, tally)


def _checked_bytes(exchange: Exchange, where: str) -> bytes:
    """The exchange as JSON; in memory there may be what no file can hold, such as half a character."""
    try:
        return dumps([exchange.dialogue_id, exchange.turn_id, exchange.content(), exchange.metadata]).encode()
    except (TypeError, ValueError) as error:
        raise InputError(
            "an exchange holds something that JSON cannot write",
            where=where,
            found=str(error),
            expected="text, numbers, lists and dictionaries",
            remedy=SEE_FIELDS,
        ) from error


def exchange_from(
    raw: Any, where: str, names: dict[tuple[str, str], str] | None = None, notes: Counter[str] | None = None
) -> Exchange:
    """An exchange from its JSON object, every field checked; unknown columns become metadata and are noted."""
    if not isinstance(raw, dict):
        raise InputError(
            "an exchange is not a JSON object", where=where, found=shorten(raw), expected="{...}", remedy=SEE_FIELDS
        )
    domains = texts(raw.get("domain"), where, "domain")
    booked = texts(raw.get("booked"), where, "booked")
    state, goal = raw.get("state"), raw.get("goal")
    acts, act_slots = acts_and_slots(raw.get("acts"), where)
    action, action_domain = _action(raw.get("action"), where)
    return Exchange(
        dialogue_id=_id(raw, "dialogue_id", where) or _missing_id(where, raw),
        turn_id=_id(raw, "turn_id", where),
        domains=None if domains is None else tuple(domain.strip().lower() for domain in domains if domain.strip()),
        state=None if state is None else nested_state(state, where, {} if names is None else names),
        action=action,
        action_domain=action_domain,
        operations={name: _number(raw[name], where, name) for name in OPERATIONS if raw.get(name) is not None},
        metadata=_metadata(raw, where, notes),
        user=text_or_none(raw.get("user"), where, "user"),
        response=text_or_none(raw.get("response"), where, "response"),
        intents=real_intents(texts(raw.get("intents"), where, "intents")),
        acts=acts,
        act_slots=act_slots,
        spans=_spans(raw.get("spans"), where),
        requested=texts(raw.get("requested"), where, "requested"),
        booked=None if booked is None else tuple(domain.strip().lower() for domain in booked),
        goal=None if goal is None else goals_from(goal, where),
        rewards=_rewards(raw.get("reward"), where),
    )


def _id(raw: dict[str, Any], name: str, where: str) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise wrong_type(where, name, value, "text or a whole number")
    text = str(value)
    if not text.strip() or "\x00" in text:
        raise InputError(
            f"field {name!r} is empty or has a NUL character",
            where=where,
            found=shorten(value),
            expected="readable text",
            remedy=SEE_FIELDS,
        )
    return text


def _missing_id(where: str, raw: dict[str, Any]) -> str:
    found = ", ".join(list(raw)[:8]) or "an empty object"
    raise InputError(
        "field 'dialogue_id' is missing",
        where=where,
        found=found,
        expected="text or a whole number",
        remedy=SEE_FIELDS,
    )


def _action(value: Any, where: str) -> tuple[str | None, str | None]:
    """One of the actions, and the domain it names: `book_hotel`, `find_train`; `request_info` names none."""
    text = text_or_none(value, where, "action")
    if text is None:
        return None, None
    first, _, rest = text.strip().lower().partition("_")
    action = "search" if first == "find" else first
    if action not in ACTIONS:
        raise InputError(
            "field 'action' has an unknown value",
            where=where,
            found=shorten(text),
            expected=" | ".join(ACTIONS),
            remedy=near_misses(text, ACTIONS) or SEE_FIELDS,
        )
    return action, rest if rest not in ("", "info") else None


def _spans(raw: Any, where: str) -> tuple[tuple[str, str], ...] | None:
    """`[[slot, value], ...]` or `[{"slot": ..., "value": ...}, ...]`."""
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise wrong_type(where, "spans", raw, "a list of [slot, value] pairs")
    pairs = [[span.get("slot"), span.get("value")] if isinstance(span, dict) else span for span in raw]
    return tuple(slot_pairs(pairs, where, "spans"))


def _rewards(raw: Any, where: str) -> tuple[float, ...] | None:
    """One number, or one per trial."""
    if raw is None:
        return None
    rewards = tuple(_number(one, where, "reward") for one in (raw if isinstance(raw, list) else [raw]))
    if max(rewards, default=0) > 1:
        raise InputError(
            "field 'reward' is out of range",
            where=where,
            found=shorten(raw),
            expected="between 0 (failed) and 1 (solved)",
            remedy="divide by the highest reward there is",
        )
    return rewards


def _number(value: Any, where: str, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(where, name, value, "a number")
    if not 0 <= value <= sys.float_info.max:
        raise InputError(
            f"field {name!r} is out of range",
            where=where,
            found=shorten(value),
            expected="0 or more, finite",
            remedy="leave it out where it is not known",
        )
    return float(value)


def _metadata(raw: dict[str, Any], where: str, notes: Counter[str] | None) -> dict[str, str]:
    given = raw.get("metadata") or {}
    if not isinstance(given, dict):
        raise wrong_type(where, "metadata", given, "an object of texts")
    others = {name: value for name, value in raw.items() if name not in _KNOWN}
    scalars = {name: value for name, value in {**given, **others}.items() if isinstance(value, str | int | float)}
    if notes is not None:
        for name in (name for name in others if name in scalars):
            notes[f"column {name!r} is not a field of an exchange; it is kept as metadata to slice by"] += 1
        for name in (name for name in {**given, **others} if name not in scalars):
            notes[f"column {name!r} is left out: it is not text or a number"] += 1
    return {name: str(value) for name, value in scalars.items()}
