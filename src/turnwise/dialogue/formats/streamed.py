"""Dialogues of a file with one exchange per row: read once, then dialogue by dialogue as somebody looks at them.

The first reading checks every row and notes where each dialogue's rows are; exchanges are parsed again when their
dialogue's turn has come, so memory does not grow with the file. What a row is, is the business of each format.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from turnwise.dialogue.formats.base import Tally
from turnwise.dialogue.formats.facts import Facts, FactTable, IdTable, facts_of
from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError

MOST_OPEN = 1_000
"""Dialogues whose rows are mixed are remembered for so many others; later ones are read again."""


class Stretch(NamedTuple):
    """Rows of a dialogue that follow each other."""

    offset: int
    """Where the first one begins, for formats that have to know."""
    first: int
    """The number of the first one."""
    rows: int


class StreamedDialogues:
    """A file of exchanges, indexed by dialogue."""

    format: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts = FactTable()
        self.index = IdTable()
        self.tally = Tally()
        self._stretches = Stretches()
        self._names: dict[tuple[str, str], str] = {}
        self.sha256 = self._index()

    def scanned(self) -> Iterator[tuple[int, int, Exchange]]:
        """Offset, number and exchange of every row, in order; what is noted goes into `tally.notes`."""
        raise NotImplementedError

    def read_stretches(self, stretches: Iterable[Stretch]) -> Iterator[list[Exchange]]:
        """The exchanges of each stretch."""
        raise NotImplementedError

    def hashed(self) -> str:
        """The SHA-256 of the file that was scanned."""
        raise NotImplementedError

    def where(self, number: int) -> str:
        """The place of a row, for messages."""
        raise NotImplementedError

    def at(self, places: Iterable[int]) -> Iterator[list[Exchange]]:
        """The exchanges of some dialogues, each in the order of the file."""
        ahead: deque[int] = deque()  # how many stretches each dialogue has that the format has heard of
        found = self.read_stretches(self._wanted(places, ahead))
        for first in found:
            exchanges = [*first, *(exchange for _ in range(ahead.popleft() - 1) for exchange in next(found))]
            names = {exchange.dialogue_id for exchange in exchanges}
            if len(names) != 1:
                raise same_fingerprint(self.path, names)
            yield exchanges

    def ids(self, places: Iterable[int] | None = None) -> Iterator[str]:
        """The ids of some dialogues, or of all."""
        chosen = range(len(self.facts)) if places is None else places
        first = (next(self._stretches.of(place))._replace(rows=1) for place in chosen)
        return (exchange.dialogue_id for (exchange,) in self.read_stretches(first))

    def exchanges(self, dialogue_id: str) -> list[Exchange]:
        """The exchanges of a dialogue, in the order of the file."""
        place = self.index.find(dialogue_id)
        if place < 0:
            raise KeyError(dialogue_id)
        return next(self.at([place]))

    def _wanted(self, places: Iterable[int], ahead: deque[int]) -> Iterator[Stretch]:
        for place in places:
            own = list(self._stretches.of(place))
            ahead.append(len(own))
            yield from own

    def _index(self) -> str:
        recent: dict[int, _Open] = {}
        now: _Open | None = None
        for offset, number, exchange in self.scanned():
            if now is None or exchange.dialogue_id != now.dialogue_id:
                now = self._turn_to(exchange.dialogue_id, now, recent)
            now.facts.add(exchange)
            check_turn(exchange, now.facts, now.turns, self.where(number))
            self._stretches.add(now.place, offset, number)
            self.tally.add(exchange)
        if now is None:
            raise InputError(
                "the file has no exchange",
                where=str(self.path),
                found="nothing",
                expected="at least one exchange",
                remedy=SEE_FIELDS,
            )
        self.facts.put(now.place, now.facts)
        return self.hashed()

    def _turn_to(self, dialogue_id: str, last: _Open | None, recent: dict[int, _Open]) -> _Open:
        """The dialogue that the next row belongs to; `recent` are those whose rows may still go on."""
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


class _Open(NamedTuple):
    """A dialogue while its rows are read."""

    dialogue_id: str
    place: int
    facts: Facts
    turns: set[str]
    """The turn ids so far."""


class Stretches:
    """Where the rows of each dialogue are."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self._numbers = array("q")
        self._lengths = array("I")
        self._more: dict[int, array[int]] = {}
        """Flat, for dialogues whose rows are scattered over the file."""

    def add(self, place: int, offset: int, number: int) -> None:
        """One more row of a dialogue."""
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

    def of(self, place: int) -> Iterator[Stretch]:
        """The stretches of a dialogue, in the order of the file."""
        yield Stretch(self._offsets[place], self._numbers[place], self._lengths[place])
        more = self._more.get(place)
        if more is not None:
            yield from map(Stretch, more[::3], more[1::3], more[2::3])


def same_fingerprint(path: Path, names: set[str]) -> InputError:
    """The error for the one pair of ids in 10^19 that cannot be told apart."""
    return InputError(
        "two dialogue ids have the same fingerprint",
        where=str(path),
        found=", ".join(sorted(names)),
        expected="ids that can be told apart by 64 bits",
        remedy="give one of the two another id, on both sides",
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
