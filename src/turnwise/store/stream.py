"""Rows of a query as they come from the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from sqlalchemy import Connection

CHUNK = 2_000
_cursor_numbers = count()


def stream(connection: Connection, query: Any) -> Iterator[Any]:
    """Plain tuples from the driver, one by one."""
    for rows in stream_chunks(connection, query):
        yield from rows


def stream_chunks(connection: Connection, query: Any) -> Iterator[Sequence[Any]]:
    """Plain tuples from the driver, as many at once as are fetched."""
    compiled = query.compile(dialect=connection.dialect)
    given = compiled.params
    if compiled.positiontup is not None:
        given = tuple(given[name] for name in compiled.positiontup)
    # PostgreSQL keeps the rows on its side only for a named cursor; SQLite always steps through them.
    named = {"name": f"turnwise_{next(_cursor_numbers)}"} if connection.dialect.name == "postgresql" else {}
    cursor = connection.connection.cursor(**named)
    try:
        cursor.execute(str(compiled), given)
        while rows := cursor.fetchmany(CHUNK):
            yield rows
    finally:
        cursor.close()
