"""An existing PostgreSQL database with the document's tables: how it is reached, and which of its columns mean what.

Applications name their columns in their own way, so each field has several names; the first one that is there counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, Inspector, create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from turnwise.assistant.turn_fields import FIELDS, SCORES
from turnwise.engine.plan import Finding
from turnwise.kernel.errors import InputError, StoreError, UsageError
from turnwise.kernel.extras import import_extra
from turnwise.store.connect import describe

TURNS, SESSIONS = "tuning_conversation_turns", "prompt_tuning_sessions"
METRICS = "metrics"
TURN_NAMES: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session_id", "tuning_session_id", "prompt_tuning_session_id"),
    "turn": ("turn_number", "turn", "turn_no"),
    "query": ("user_message", "user_query", "query", "message"),
    "response": ("era_response", "assistant_response", "response"),
    "chunks": ("search_context", "search_results", "retrieved_chunks", "chunks"),
    "processing_time_ms": ("processing_time_ms", "response_time_ms", "latency_ms"),
    "is_first_response": ("is_first_response",),
    "scenario": ("scenario",),
    "improvement_notes": ("improvement_notes", "improvement_note", "notes"),
    "category": ("category", "improvement_category", "note_category"),
    "timestamp": ("created_at", "timestamp"),
    "tester": ("tester",),
    "version": ("master_prompt_version", "prompt_version", "version"),
    "tokens": ("tokens", "total_tokens"),
    "cost": ("cost",),
    METRICS: (METRICS,),
}
"""Field of a turn, and the columns that may hold it."""
SESSION_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "session_id"),
    "version": ("master_prompt_version", "prompt_version", "version"),
    "tester": ("tester", "tester_name", "created_by"),
    "scenario": ("scenario",),
}
_EXPECTED = "postgresql://user@host/database"
_SCHEMES = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class Tables:
    """What was found."""

    turns: Mapping[str, str]
    """Field to column."""
    sessions: Mapping[str, str]
    """The same of the table of sessions; empty where there is no such table."""
    key: str | None
    """The column that tells the turns apart."""
    metrics_type: str | None
    """Of the column `metrics`; None where there is none."""
    is_view: bool
    dimensions: tuple[str, ...]
    """Further columns of turns with short texts: what turns can be sliced by."""
    others: tuple[str, ...]
    """Columns of turns that are not read."""

    @property
    def findings(self) -> list[Finding]:
        """Which columns are read as what, and which are not."""
        read = [f"{TURNS}.{column} ({field})" for field, column in self.turns.items() if field != METRICS]
        read += [f"{SESSIONS}.{column} ({field})" for field, column in self.sessions.items() if field != "id"]
        read += [f"{TURNS}.{column}" for column in self.dimensions]
        found = [Finding("input", f"columns that are read: {', '.join(read)}", len(read))]
        if self.others:
            found.append(Finding("input", f"columns that are not read: {', '.join(self.others)}", len(self.others)))
        if not self.sessions:
            found.append(Finding("input", f"there is no table {SESSIONS}: versions are read from {TURNS}, if at all"))
        if "turn" not in self.turns:
            found.append(Finding("input", f"turns have no number: they are numbered by {self.turns['timestamp']}"))
        return found


def is_database(text: str) -> bool:
    """Whether a text is the address of a PostgreSQL database."""
    return text.partition("://")[0].partition("+")[0] in _SCHEMES and "://" in text


def parse_address(text: str) -> URL:
    """The address, checked."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise UsageError(
            "this is not the address of a database", found=text.split("@")[-1], expected=_EXPECTED
        ) from error
    return url.set(drivername="postgresql+psycopg")


def without_password(text: str) -> str:
    """An address as it may be kept: whoever uses it again brings the password."""
    url = parse_address(text)
    secret = {"password", "sslpassword"}
    query = {name: value for name, value in url.query.items() if name not in secret}
    bare = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    return bare.render_as_string(hide_password=False)


def open_engine(text: str) -> Engine:
    """An engine on the database; nothing is asked yet."""
    import_extra("psycopg", "postgres", "PostgreSQL")
    return create_engine(parse_address(text), poolclass=NullPool, connect_args={"connect_timeout": 10})


@contextmanager
def clear_errors(url: URL) -> Iterator[None]:
    """Whatever the driver says, in words that help and without the password."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(
            "the database refuses",
            where=describe(url),
            found=str(error.orig).strip().splitlines()[0],
            remedy="check address, user and rights; the password may be in the address, in PGPASSWORD or in ~/.pgpass",
        ) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that sees one state of the database and cannot change it."""
    with clear_errors(engine.url), engine.connect() as connection:
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with connection.execution_options(**options).begin():
            yield connection


def find_tables(connection: Connection) -> Tables:
    """The document's tables and what their columns mean."""
    look = inspect(connection)
    columns = _columns(look, TURNS)
    if not columns:
        raise InputError(
            f"the database has no table {TURNS}",
            where=describe(connection.engine.url),
            found=", ".join(sorted([*look.get_table_names(), *look.get_view_names()])[:20]) or "no table at all",
            expected=f"{TURNS} and {SESSIONS}",
            remedy="name the database, or its schema with ?options=-csearch_path%3DSCHEMA",
        )
    sessions = _chosen(_columns(look, SESSIONS), SESSION_NAMES)
    turns = _chosen(columns, TURN_NAMES)
    _require(turns, columns, connection)
    primary = look.get_pk_constraint(TURNS)["constrained_columns"]
    key = primary[0] if len(primary) == 1 else "id" if "id" in columns else None
    further = [name for name in columns if name not in {*turns.values(), key}]
    dimensions = [name for name in further if _is_dimension(name, columns[name])]
    return Tables(
        turns=turns,
        sessions=sessions if "id" in sessions else {},
        key=key,
        metrics_type=columns.get(METRICS),
        is_view=TURNS in look.get_view_names(),
        dimensions=tuple(dimensions),
        others=tuple(name for name in further if name not in dimensions),
    )


def _columns(look: Inspector, table: str) -> dict[str, str]:
    """The columns of a table or view with their types; none where there is no such table."""
    if not look.has_table(table):
        return {}
    return {one["name"]: str(one["type"]).lower() for one in look.get_columns(table)}


def _chosen(columns: Mapping[str, str], names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    folded = {name.lower(): name for name in columns}
    found = {field: next((folded[one] for one in known if one in folded), None) for field, known in names.items()}
    if "response" in names and found["response"] is None:  # whatever the assistant is called
        named = [low for low in folded if low.endswith("_response") and low != "is_first_response"]
        found["response"] = folded[named[0]] if len(named) == 1 else None
    return {field: column for field, column in found.items() if column is not None}


def _is_dimension(name: str, kind: str) -> bool:
    """Whether a column that is no field can be sliced by; ids and times cannot."""
    if name in FIELDS or name in SCORES or name.lower().endswith("_id"):
        return False
    return kind.startswith(("text", "varchar", "char", "boolean"))


def _require(turns: Mapping[str, str], columns: Mapping[str, str], connection: Connection) -> None:
    for field in ("session_id", "response", "turn"):
        if field in turns or (field == "turn" and "timestamp" in turns):
            continue
        raise InputError(
            f"no column of {TURNS} is the {field}",
            where=describe(connection.engine.url),
            found=", ".join(columns),
            expected=" or ".join(TURN_NAMES[field]),
            remedy="make a view with these names, in a schema that comes first in the search path",
        )
