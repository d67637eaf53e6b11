"""Turns read from an existing PostgreSQL database, once and in one transaction that cannot change anything.

What was read is kept in a temporary file until the run is over: it can be gone through again, whatever happens to the
database in the meantime.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, Text, cast, column, func, select, table
from sqlalchemy.sql.expression import TableClause

from turnwise.assistant.postgres import SESSIONS, TURNS, Tables, find_tables, open_engine, reading
from turnwise.kernel.errors import InputError, shorten
from turnwise.kernel.jsontext import JSONDecodeError, dumps, loads
from turnwise.store.connect import describe

Row = Mapping[str, Any]
KEY = "key"
"""The label of the column that tells the turns apart."""
_PORTION = 1000


class DatabaseRows:
    """The turns of a database, in the order of sessions and turns; a source of rows as in `read.py`."""

    def __init__(self, address: str) -> None:
        self._engine = open_engine(address)
        self.place = describe(self._engine.url)
        with reading(self._engine) as connection:
            self._tables = find_tables(connection)
        self.findings = self._tables.findings
        self._kept = _Kept()
        self._names: list[str] = []
        self._read = False

    def scan(self) -> Iterator[Row]:
        """Every row."""
        if not self._read:
            with reading(self._engine) as connection:
                self._fill(connection)
            self._read = True
        return (self._kept.row(number) for number in range(len(self._names)))

    def read(self, rows: Iterable[int]) -> Iterator[Row]:
        """Some of the rows."""
        return (self._kept.row(number) for number in rows)

    def where(self, row: int) -> str:
        """Which row of the table."""
        return f"{self.place}, {TURNS}, {self._names[row]}"

    def _fill(self, connection: Connection) -> None:
        options = {"stream_results": True, "max_row_buffer": _PORTION}
        with connection.execute(turns_query(self._tables), execution_options=options) as result:
            for found in result.mappings():
                row = {name: _plain(value) for name, value in found.items() if name != KEY}
                known = f"{self._tables.key} {found[KEY]}" if self._tables.key else f"turn {len(self._names) + 1}"
                self._names.append(known)
                row["chunks"] = _decoded(row.get("chunks"), f"{self.place}, {TURNS}, {known}")
                self._kept.add(row)


def turns_query(tables: Tables) -> Select[Any]:
    """Every turn with the names of the JSONL form, in the order of sessions and turns."""
    turns = table(TURNS, *map(column, {*tables.turns.values(), *tables.dimensions, *filter(None, [tables.key])}))
    session = cast(turns.c[tables.turns["session_id"]], Text)
    number = turn_number(tables, turns)
    fields: dict[str, ColumnElement[Any]] = {
        **{name: turns.c[name] for name in tables.dimensions},
        **{field: turns.c[name] for field, name in tables.turns.items()},
        "session_id": session,
        "turn": number,
    }
    source: Any = turns
    if tables.sessions:
        sessions = table(SESSIONS, *map(column, set(tables.sessions.values())))
        source = turns.outerjoin(sessions, cast(sessions.c[tables.sessions["id"]], Text) == session)
        for field, name in tables.sessions.items():
            if field != "id":  # what a turn says of itself counts before what its session says
                own = fields.get(field)
                fields[field] = sessions.c[name] if own is None else func.coalesce(own, sessions.c[name])
    if tables.key:
        fields[KEY] = turns.c[tables.key]
    chosen = select(*(one.label(name) for name, one in fields.items())).select_from(source)
    return chosen.order_by(session, number)


def turn_number(tables: Tables, turns: TableClause) -> ColumnElement[Any]:
    """The number of a turn: its column, or its place in time within the session."""
    if "turn" in tables.turns:
        return turns.c[tables.turns["turn"]]
    order = [turns.c[tables.turns["timestamp"]], *(turns.c[name] for name in [tables.key] if name)]
    return func.row_number().over(partition_by=turns.c[tables.turns["session_id"]], order_by=order)


def _plain(value: Any) -> Any:
    """A value of the driver as JSON can hold it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | UUID):
        return str(value)
    return value


def _decoded(value: Any, where: str) -> Any:
    """What was retrieved; some keep JSON in a column of text."""
    if not isinstance(value, str) or not value.strip():
        return value
    try:
        return loads(value)
    except JSONDecodeError as error:
        raise InputError(
            "what was retrieved is not JSON", where=where, found=shorten(value), expected='[{"text": "..."}, ...]'
        ) from error


class _Kept:
    """Rows in a temporary file that nobody else sees, read back by number."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the object)
        self._starts = array("q", [0])
        weakref.finalize(self, self._file.close)

    def add(self, row: Row) -> None:
        line = dumps(row).encode()
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))

    def row(self, number: int) -> Row:
        start, end = self._starts[number], self._starts[number + 1]
        self._file.seek(start)
        found: Row = loads(self._file.read(end - start))
        return found
