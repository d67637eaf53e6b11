"""Views for people who ask the database in SQL: the turns of the assistant room, and the two tables of its document.

The statements lie beside the migrations, in a folder per version, one file per view and, where they differ, database.
"""

from __future__ import annotations

import re
from importlib import resources

from sqlalchemy import Connection, inspect

OWN = ("assistant_turns", "assistant_turn_names")
"""Views that no application has."""
DOCUMENT = ("tuning_conversation_turns", "prompt_tuning_sessions")
"""Views on those, under names that an application's tables may have."""
VERSION = "0002"
"""The newest version of the statements."""

_JSON_TEXT = re.compile(r"json_text\((\S+), '(\w+)'\)")
_AS_TEXT = {"postgresql": r"(\1::json ->> '\2')", "sqlite": r"json_extract(\1, '$.\2')"}
"""The text under a key of a JSON text, in each database's words."""


def create_views(connection: Connection, version: str = VERSION) -> list[str]:
    """Create the views and return which; a name that something else has is left to it.

    The document's two stand or fall together: one of them beside a table of the other's name would mix two sources.
    """
    look = inspect(connection)
    if any(map(look.has_table, OWN)):
        return []
    wanted = OWN if any(map(look.has_table, DOCUMENT)) else (*OWN, *DOCUMENT)
    for name in wanted:
        connection.exec_driver_sql(_statement(name, version, connection.dialect.name))
    return list(wanted)


def drop_views(connection: Connection) -> None:
    """Drop what `create_views` made, nothing else of these names; a migration that changes the tables does so first."""
    look = inspect(connection)
    there = set(look.get_view_names())
    if not there.issuperset(OWN):
        return
    made = DOCUMENT[0] in there and OWN[0] in look.get_view_definition(DOCUMENT[0])
    for name in reversed((*OWN, *DOCUMENT) if made else OWN):
        connection.exec_driver_sql(f"DROP VIEW {name}")


def _statement(name: str, version: str, dialect: str) -> str:
    folder = resources.files("turnwise.store") / "migrations" / "views" / version
    common = folder / f"{name}.sql"
    chosen = common if common.is_file() else folder / f"{name}.{dialect}.sql"
    return _JSON_TEXT.sub(_AS_TEXT[dialect], chosen.read_text(encoding="utf-8"))
