"""turnwise JSONL: one exchange per line.

The file is read once to check every line and to note where each dialogue's lines are; exchanges are parsed again when
their dialogue's turn has come, so memory does not grow with the file.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from turnwise.dialogue.formats.base import BOM, HeldDialogues, Tally, broken_json, missing_file
from turnwise.dialogue.formats.exchange import exchange_from
from turnwise.dialogue.formats.facts import Facts, FactTable, IdTable, facts_of
from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads

NAME = "jsonl"
MOST_OPEN = 1_000
"""Dialogues whose lines are mixed are remembered for so many others; later ones are read again."""


class JsonlDialogues:
    """A turnwise JSONL file, indexed by dialogue."""

    format = NAME

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts = FactTable()
        self.index = IdTable()
        self.tally = Tally()
        self._lines = Stretches()
        self._names: dict[tuple[str, str], str] = {}
        self.sha256 = self._index()

    def at(self, places: Iterable[int]) -> Iterator[list[Exchange]]:
        """The exchanges of some dialogues, each in the order of the file."""
        with self._opened() as file:
            for place in places:
                yield self._read(file, place)

    def ids(self, places: Iterable[int] | None = None) -> Iterator[str]:
        """The ids of some dialogues, or of all."""
        with self._opened() as file:
            for place in range(len(self.facts)) if places is None else places:
                offset, number, _ = next(self._lines.of(place))
                file.seek(offset)
                yield self._parse(file.readline(), number, None).dialogue_id

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue, in the order of the file."""
        place = self.index.find(dialogue_id)
        if place < 0:
            raise KeyError(dialogue_id)
        return next(self.at([place]))

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("rb") as file:
                if _file_state(file) != self._state:
                    raise changed_file(self.path)
                yield file
        except OSError as error:
            raise missing_file(self.path, error) from error

    def _read(self, file: IO[bytes], place: int) -> list[Exchange]:
        found: list[Exchange] = []
        for offset, first, lines in self._lines.of(place):
            file.seek(offset)
            found += [self._parse(file.readline(), number, None) for number in range(first, first + lines)]
        names = {exchange.dialogue_id for exchange in found}
        if len(names) != 1:
            raise same_fingerprint(self.path, names)
        return found

    def _index(self) -> str:
        sha256 = hashlib.sha256()
        recent: dict[int, _Open] = {}
        now: _Open | None = None
        offset = 0
        try:
            with self.path.open("rb") as file:
                self._state = _file_state(file)
                for number, line in enumerate(file, start=1):
                    sha256.update(line)
                    if line.removeprefix(BOM).strip():
                        exchange = self._parse(line, number, self.tally.notes)
                        if now is None or exchange.dialogue_id != now.dialogue_id:
                            now = self._turn_to(exchange.dialogue_id, now, recent)
                        now.facts.add(exchange)
                        check_turn(exchange, now.facts, now.turns, f"{self.path}, line {number}")
                        self._lines.add(now.place, offset, number)
                        self.tally.add(exchange)
                    offset += len(line)
        except OSError as error:
            raise missing_file(self.path, error) from error
        if now is None:
            raise InputError(
                "the file has no exchange",
                where=str(self.path),
                found="nothing but blank lines",
                expected="one JSON object per line",
                remedy=SEE_FIELDS,
            )
        self.facts.put(now.place, now.facts)
        return sha256.hexdigest()

    def _turn_to(self, dialogue_id: str, last: _Open | None, recent: dict[int, _Open]) -> _Open:
        """The dialogue that the next line belongs to; `recent` are those whose lines may still go on."""
        if last is not None:
            self.facts.put(last.place, last.facts)
            recent[last.place] = last
            if len(recent) > MOST_OPEN:
                del recent[next(iter(recent))]
        place = self.index.find(dialogue_id)
        if place < 0:
            return _Open(dialogue_id, self.index.add(dialogue_id), Facts(), set())
        if (known := recent.pop(place, None)) is None:
            (exchanges,) = self.at([place])
            turns = {exchange.turn_id for exchange in exchanges if exchange.turn_id is not None}
            known = _Open(exchanges[0].dialogue_id, place, facts_of(exchanges), turns)
        if known.dialogue_id != dialogue_id:
            raise same_fingerprint(self.path, {known.dialogue_id, dialogue_id})
        return known

    def _parse(self, line: bytes, number: int, notes: Counter[str] | None) -> Exchange:
        where = f"{self.path}, line {number}"
        try:
            raw = loads(line.removeprefix(BOM) if number == 1 else line)
        except JSONDecodeError as error:
            raise broken_json(error, str(self.path), line, number - 1) from error
        return exchange_from(raw, where, self._names, notes)


class _Open(NamedTuple):
    """A dialogue while its lines are read."""

    dialogue_id: str
    place: int
    facts: Facts
    turns: set[str]
    """The turn ids so far."""


class Stretches:
    """Where the lines of each dialogue are: byte offset, line number and length in lines of each stretch of them."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self._numbers = array("q")
        self._lengths = array("I")
        self._more: dict[int, array[int]] = {}
        """Flat, for dialogues whose lines are scattered over the file."""

    def add(self, place: int, offset: int, number: int) -> None:
        """One more line of a dialogue."""
        if place == len(self._offsets):
            self._offsets.append(offset)
            self._numbers.append(number)
            self._lengths.append(1)
        elif (more := self._more.get(place)) is not None:
            if more[-2] + more[-1] == number:
                more[-1] += 1
            else:
                more.extend((offset, number, 1))
        elif self._numbers[place] + self._lengths[place] == number:
            self._lengths[place] += 1
        else:
            self._more[place] = array("q", (offset, number, 1))

    def of(self, place: int) -> Iterator[tuple[int, int, int]]:
        """The stretches of a dialogue, in the order of the file."""
        yield self._offsets[place], self._numbers[place], self._lengths[place]
        more = self._more.get(place)
        if more is not None:
            yield from zip(more[::3], more[1::3], more[2::3], strict=True)


def same_fingerprint(path: Path, names: set[str]) -> InputError:
    """The error for the one pair of ids in 10^19 that cannot be told apart."""
    return InputError(
        "two dialogue ids have the same fingerprint",
        where=str(path),
        found=", ".join(sorted(names)),
        expected="ids that can be told apart by 64 bits",
        remedy="give one of the two another id, on both sides",
    )


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
