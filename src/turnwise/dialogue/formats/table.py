"""Exchanges in a table, CSV or Parquet: the columns are the fields of turnwise JSONL, and the file is never held.

Fields with something inside (a state, acts, a goal) are JSON text in their cell, or in Parquet also structs, maps and
lists. An empty cell of a CSV file and a NULL are fields that are missing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from turnwise.dialogue.formats.base import file_sha256
from turnwise.dialogue.formats.exchange import KNOWN, exchange_from
from turnwise.dialogue.formats.fields import SEE_FIELDS
from turnwise.dialogue.formats.streamed import StreamedDialogues, Stretch
from turnwise.dialogue.records import OPERATIONS, Exchange
from turnwise.engine.parquet_rows import ParquetRows
from turnwise.engine.rows import Row
from turnwise.engine.table import SEPARATORS, Table
from turnwise.kernel.errors import InputError, near_misses, shorten
from turnwise.kernel.jsontext import JSONDecodeError, loads

CSV = "csv"
PARQUET = "parquet"
CSV_SUFFIXES = (".csv", ".tsv")
ID = "dialogue_id"
_NAMES = frozenset({"domain", "intents", "acts", "requested", "booked"})
"""Fields of one name or several: a cell may hold the one as it is."""
_INSIDE = frozenset({"spans", "state", "goal", "metadata", "reward", *OPERATIONS})
"""Fields whose cell is always JSON; a number is JSON, too."""


class TableDialogues(StreamedDialogues):
    """Exchanges in a table, indexed by dialogue."""

    format: str
    empty_is_missing = False
    """Whether an empty text is no text: CSV cannot write both."""

    def __init__(self, path: Path) -> None:
        self._rows = self.open(path)
        columns = self._rows.columns
        if ID not in columns:
            raise InputError(
                f"the column {ID!r} is missing",
                where=str(path),
                found=shorten(", ".join(columns)),
                expected=f"the fields of an exchange as columns: {ID}, turn_id, user, response, state, ...",
                remedy=near_misses(ID, columns) or SEE_FIELDS,
            )
        super().__init__(path)

    def open(self, path: Path) -> Table | ParquetRows:
        """The rows of the file."""
        raise NotImplementedError

    def scanned(self) -> Iterator[tuple[int, int, Exchange]]:
        """Every row: numbers are counted from 0, and nobody needs an offset."""
        for number, row in enumerate(self._rows.scan()):
            yield 0, number, self._exchange(row, number, self.tally.notes)

    def read_stretches(self, stretches: Iterable[Stretch]) -> Iterator[list[Exchange]]:
        """The exchanges of each stretch of rows."""
        ahead: deque[Stretch] = deque()  # stretches that the file has heard of
        found = self._rows.read(_numbers(stretches, ahead))
        for row in found:
            _, first, rows = ahead.popleft()
            own = [row, *islice(found, rows - 1)]
            yield [self._exchange(one, number, None) for number, one in enumerate(own, start=first)]

    def hashed(self) -> str:
        """The SHA-256 of the file."""
        return file_sha256(self.path)

    def where(self, number: int) -> str:
        """The place of a row, for messages."""
        return self._rows.where(number)

    def _exchange(self, row: Row, number: int, notes: Counter[str] | None) -> Exchange:
        where = self._rows.where(number)
        return exchange_from(self._fields(row, where), where, self._names, notes)

    def _fields(self, row: Row, where: str) -> dict[str, Any]:
        """The fields that a row has, those with something inside parsed."""
        found = {}
        for name, cell in row.items():
            parsed = name in _INSIDE or name in _NAMES
            if cell is None or (cell == "" and (parsed or self.empty_is_missing)):
                continue
            found[name] = _parsed(name, cell, where) if parsed and isinstance(cell, str) else cell
        return found


class CsvDialogues(TableDialogues):
    """A table of exchanges with a header and a separator."""

    format = CSV
    empty_is_missing = True

    def open(self, path: Path) -> Table:
        """The rows of the file."""
        return Table(path, KNOWN, "\t" if path.suffix.lower() == ".tsv" else None)


class ParquetDialogues(TableDialogues):
    """A Parquet file of exchanges."""

    format = PARQUET

    def open(self, path: Path) -> ParquetRows:
        """The rows of the file."""
        return ParquetRows(path)


def is_header(line: bytes) -> bool:
    """Whether the first line of a file is the header of a table of exchanges."""
    if line.startswith((b"{", b"[")):
        return False
    text = line.decode(errors="replace")
    return any(ID in (cell.strip().strip('"') for cell in text.split(separator)) for separator in SEPARATORS)


def _numbers(stretches: Iterable[Stretch], ahead: deque[Stretch]) -> Iterator[int]:
    for stretch in stretches:
        ahead.append(stretch)
        yield from range(stretch.first, stretch.first + stretch.rows)


def _parsed(name: str, cell: str, where: str) -> Any:
    """What a cell with JSON holds."""
    text = cell.strip()
    if name in _NAMES and not text.startswith(("[", "{", '"')) and text != "null":
        return cell
    try:
        return loads(text)
    except JSONDecodeError as error:
        number = name == "reward" or name in OPERATIONS
        raise InputError(
            f"the cell of {name!r} is not " + ("a number" if number else "JSON"),
            where=where,
            found=shorten(text) if number else f"{error.msg}, at {shorten(text[error.pos : error.pos + 40])}",
            expected="a number, with a point" if number else 'JSON, e.g. {"hotel-area": "north"} or ["find_hotel"]',
            remedy="leave the cell empty where it is not known" if number else "write it with json.dumps",
        ) from error
