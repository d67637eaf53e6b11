"""turnwise JSONL: one exchange per line; the file is never held (`streamed.py`)."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from turnwise.dialogue.formats.base import BOM, HeldDialogues, Tally, broken_json, missing_file
from turnwise.dialogue.formats.exchange import exchange_from
from turnwise.dialogue.formats.facts import Facts
from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.formats.streamed import StreamedDialogues, Stretch, check_turn
from turnwise.dialogue.records import Exchange
from turnwise.engine.json_lines import not_json
from turnwise.engine.text_lines import decoded
from turnwise.kernel.errors import InputError
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads
from turnwise.kernel.unchanged import changed, state_of

NAME = "jsonl"


class JsonlDialogues(StreamedDialogues):
    """A turnwise JSONL file, indexed by dialogue."""

    format = NAME

    def scanned(self) -> Iterator[tuple[int, int, Exchange]]:
        """Offset, number and exchange of every line that is not blank."""
        self._hash = hashlib.sha256()
        offset = 0
        try:
            with self.path.open("rb") as file:
                self._state = state_of(os.fstat(file.fileno()))
                for number, line in enumerate(file, start=1):
                    self._hash.update(line)
                    if line.removeprefix(BOM).strip():
                        yield offset, number, self._parse(line, number, self.tally.notes)
                    offset += len(line)
        except OSError as error:
            raise missing_file(self.path, error) from error

    def read_stretches(self, stretches: Iterable[Stretch]) -> Iterator[list[Exchange]]:
        """The exchanges of each stretch of lines."""
        with self._opened() as file:
            for offset, first, lines in stretches:
                file.seek(offset)
                yield [self._parse(file.readline(), number, None) for number in range(first, first + lines)]

    def hashed(self) -> str:
        """The SHA-256 of the bytes that were scanned."""
        return self._hash.hexdigest()

    def where(self, number: int) -> str:
        """The file and a line, from 1."""
        return f"{self.path}, line {number}"

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("rb") as file:
                if state_of(os.fstat(file.fileno())) != self._state:
                    raise changed(self.path)
                yield file
        except OSError as error:
            raise missing_file(self.path, error) from error

    def _parse(self, line: bytes, number: int, notes: Counter[str] | None) -> Exchange:
        try:
            raw = loads(line.removeprefix(BOM) if number == 1 else line)
        except JSONDecodeError as error:
            if line.endswith(b"\n"):  # not the last line: nothing was cut off behind it
                text = decoded(line.rstrip(b"\r\n"), self.where(number))
                raise not_json(error, text, self.where(number), "one JSON object per line") from error
            raise broken_json(error, str(self.path), line, number - 1) from error
        return exchange_from(raw, self.where(number), self._names, notes)


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
