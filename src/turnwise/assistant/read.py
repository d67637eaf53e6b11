"""Where turns come from. Every source gives rows with the names of the JSONL form; `turn_fields` makes turns of them.

A further source (a database) is one more class with `scan`, `read` and `where`, and one more line in `open_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from turnwise.assistant.turn_fields import FIELDS
from turnwise.engine.json_lines import JsonLines
from turnwise.engine.parquet_rows import ParquetRows, is_parquet
from turnwise.engine.rows import HeldRows
from turnwise.engine.table import Table
from turnwise.engine.text_lines import opened
from turnwise.kernel.errors import InputError, UsageError, near_misses
from turnwise.kernel.jsontext import JSONDecodeError, loads

Row = Mapping[str, Any]
EXPORT_HEADER = (
    *("Turn", "User Message", "ERA Response", "Improvement Notes", "Category"),
    *("Objective Score", "Subjective Score", "Overall Score", "Timestamp"),
)
"""The document's CSV export."""
EXAMPLE = '{"session_id": "abc-123", "turn": 1, "query": "...", "response": "..."}'
_NAMES = {
    "user message": "query",
    "session": "session_id",
    "prompt version": "version",
    "master prompt version": "version",
    "first response": "is_first_response",
    "objective score": "objective",
    "subjective score": "subjective",
    "overall score": "overall",
    **{name.replace("_", " "): name for name in FIELDS},
}
FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a cell begins that a spreadsheet may take for a formula, apostrophes that were put before it included."""


class TurnRows(Protocol):
    """A source of rows that can be gone through once and then read again by number."""

    def scan(self) -> Iterator[Row]:
        """Every row, in order."""
        ...

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows, by number."""
        ...

    def where(self, row: int) -> str:
        """The place of a row, for messages."""
        ...


def open_rows(turns: Path | str | Sequence[Row]) -> TurnRows:
    """The rows of a JSONL, CSV or Parquet file, of a PostgreSQL database, or of records in memory."""
    if isinstance(turns, str) and "://" in turns:
        return _open_database(turns)
    if isinstance(turns, str | Path):
        path = Path(turns)
        if is_parquet(path):
            return TurnTable(path)
        return ExportRows(path) if _is_table(path) else JsonLines(path, EXAMPLE)
    return HeldRows(turns)


def _open_database(address: str) -> TurnRows:
    scheme = address.partition("://")[0]
    if scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise UsageError(
            f"turns cannot be read from {scheme}://",
            expected="a JSONL or Parquet file, a CSV file in the form of the export, or postgresql://user@host/database",
        )
    from turnwise.assistant.database_rows import DatabaseRows

    return DatabaseRows(address)


def _is_table(path: Path) -> bool:
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        return True
    if kind in (".jsonl", ".ndjson", ".json"):
        return False
    with opened(path) as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \r\n\t")[:1] != b"{"


class TurnTable(ParquetRows):
    """A Parquet file with the fields of the JSONL form as columns; chunks may also be JSON text."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.require("session_id", "turn")

    def _row(self, row: dict[str, Any]) -> Row:
        return with_chunks(row)


class ExportRows:
    """A CSV file in the form of the document's export; further columns are understood by the names of the fields.

    The export has no column for the session: without one, the whole file is one session, called as the file is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._table = Table(path, EXPORT_HEADER, "\t" if path.suffix.lower() == ".tsv" else None)
        self._fields = {column: _field(column) for column in self._table.columns}
        self._check()

    def scan(self) -> Iterator[Row]:
        """Every row."""
        return (self._row(row) for row in self._table.scan())

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows."""
        return (self._row(row) for row in self._table.read(rows))

    def where(self, row: int) -> str:
        """File and line."""
        return self._table.where(row)

    def _row(self, row: Row) -> Row:
        found: dict[str, Any] = {self._fields[column]: cell_text(cell) for column, cell in row.items()}
        found = with_chunks(found)
        if not found.get("session_id"):
            found["session_id"] = self._path.stem
        return found

    def _check(self) -> None:
        fields = list(self._fields.values())
        for name, column in (("turn", "Turn"), ("response", "ERA Response")):
            if name not in fields:
                columns = self._table.columns
                raise InputError(
                    f"the column {column!r} is missing",
                    where=f"{self._path}, line 1",
                    found=", ".join(columns),
                    expected=", ".join(EXPORT_HEADER),
                    remedy=near_misses(column, columns) or "docs/assistant.md lists the columns",
                )
        twice = sorted({name for name in fields if fields.count(name) > 1})
        if twice:
            named = [column for column, name in self._fields.items() if name == twice[0]]
            raise InputError(
                "two columns mean the same", where=f"{self._path}, line 1", found=" and ".join(named), expected=twice[0]
            )


def _field(column: str) -> str:
    """The field of a column; the assistant's name may stand before `Response`."""
    name = " ".join(column.casefold().replace("_", " ").split())
    if name in _NAMES:
        return _NAMES[name]
    return "response" if name.endswith(" response") else column


def with_chunks(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table with the chunks that are JSON text in their cell.

    Where the JSON is broken the text stays, and is refused with its place.
    """
    cell = row.get("chunks")
    if not isinstance(cell, str) or not cell.lstrip().startswith(("[", "{")):
        return row
    try:
        return {**row, "chunks": loads(cell)}
    except JSONDecodeError:
        return row


def cell_text(cell: str) -> str:
    """The text of a cell: of one that was made safe for spreadsheets, the first apostrophe is not part of it."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
