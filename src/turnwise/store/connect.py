"""Opening a database: from a path, a URL or nothing to a checked SQLAlchemy engine.

A new database gets the tables at once; an existing one must be of this version, and the error says how to bring it
there.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
from sqlalchemy.pool import StaticPool

from turnwise.kernel.errors import StoreError, UsageError
from turnwise.store.schema import HEAD, metadata
from turnwise.store.views import create_views

BUSY_SECONDS = 60
CACHE_KIB = 32 * 1024
LOG_PAGES = 8_000
"""32 MB each: with SQLite's own 2 and 4, ids in no order make writing the slower the more there are (docs/scale.md)."""
MEMORY = ":memory:"
_CREATE_LOCK = 7_231_877  # any constant: the advisory lock under which PostgreSQL tables are created


def database_url(db: str | None) -> URL:
    """The URL of `--db`: nothing (the user's data directory), a path, or a `postgresql://` URL."""
    if db is not None and not db.strip():
        raise UsageError("--db names no database", found=repr(db), expected=_EXPECTED)
    db = db or os.environ.get("TURNWISE_DB") or str(default_path())
    if db == MEMORY:
        return URL.create("sqlite")
    if "://" not in db:
        return URL.create("sqlite", database=str(Path(db).expanduser()))
    try:
        url = make_url(db)
    except (ArgumentError, ValueError) as error:
        raise UsageError("--db is not a database URL", found=db.split("@")[-1], expected=_EXPECTED) from error
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and not url.host and not url.query:
        return url
    raise UsageError(f"--db: {url.drivername} is not supported", expected=_EXPECTED)


_EXPECTED = "a file path, or postgresql://user:password@host/database"


def default_path() -> Path:
    """`turnwise.sqlite` in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("turnwise", appauthor=False) / "turnwise.sqlite"


def connect(db: str | None, *, check: bool = True) -> Engine:
    """An engine on the database, whose tables are there and of this version (unless `check` is off)."""
    url = database_url(db)
    with clear_errors(url):
        engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)
        try:
            if check:
                _ensure_tables(engine)
            else:
                engine.connect().close()
        except BaseException:
            engine.dispose()
            raise
    return engine


@contextmanager
def clear_errors(url: URL) -> Iterator[None]:
    """Whatever the driver says about the database, in words that help."""
    try:
        yield
    except (OperationalError, sqlite3.OperationalError) as error:
        raise unreachable(url, error) from error
    except (DatabaseError, sqlite3.DatabaseError) as error:
        raise StoreError(
            "this is not a turnwise database",
            where=describe(url),
            found=str(getattr(error, "orig", error)),
            expected="a file that turnwise made, or a new one",
            remedy="choose another file with --db",
        ) from error


def describe(url: URL) -> str:
    """The database as it may be printed: without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or "in memory"
    return url.set(drivername="postgresql", query=_shown(url)).render_as_string(hide_password=True)


def _shown(url: URL) -> dict[str, str | tuple[str, ...]]:
    return {key: value for key, value in url.query.items() if key != "password"}


def unreachable(url: URL, error: Exception) -> StoreError:
    """The error for a database that does not answer, or not in time."""
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    busy = "locked" in reason
    if "disk is full" in reason or "No space left" in reason:
        return StoreError(
            "there is no room for the database",
            where=describe(url),
            found=reason,
            remedy="make room, or choose another place with --db",
        )
    return StoreError(
        "the database is busy" if busy else "the database cannot be opened",
        where=describe(url),
        found=reason,
        remedy="another process holds it for long: try again, or use PostgreSQL"
        if busy
        else "check --db (or TURNWISE_DB), that the folder is writable, that the server runs: turnwise doctor",
    )


def _sqlite(url: URL) -> Engine:
    memory = not url.database
    if url.database:
        path = Path(url.database)
        if path.is_dir():
            raise StoreError("--db is a folder", where=str(path), expected="a file, e.g. runs.sqlite")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unreachable(url, error) from error
    pool = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}} if memory else {}
    engine = create_engine(url, **pool)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun by the listener below, not guessed by the driver
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        if not memory:
            _set_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its lock at once: upgrading a read lock later is what makes SQLite give up under load.
        if memory and connection.connection.in_transaction:
            return  # a database in memory has one connection, which whoever reads already uses
        write = connection.get_execution_options().get("turnwise_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _set_wal(connection: Any) -> None:
    """Switch to write-ahead logging; several processes may try at once, and SQLite does not wait for this one."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _postgres(url: URL) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    except ModuleNotFoundError as error:
        raise StoreError(
            "PostgreSQL needs an extra that is not installed", remedy='pip install "turnwise[postgres]"'
        ) from error


def _ensure_tables(engine: Engine) -> None:
    version = current_version(engine)
    if version is None:
        with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_CREATE_LOCK})"))
            create_tables(connection)
        version = current_version(engine)
    if version != HEAD:
        raise StoreError(
            "the database was written by another version of turnwise",
            where=describe(engine.url),
            found=f"schema {version}",
            expected=f"schema {HEAD}",
            remedy="turnwise db upgrade (or a newer turnwise, if the schema is newer than this one)",
        )


def create_tables(connection: Connection) -> None:
    """Create what is missing and note the version, as the migrations would, without loading alembic."""
    found = inspect(connection)
    if not found.has_table("alembic_version"):
        taken = sorted(set(found.get_table_names()) & set(metadata.tables))
        if taken:
            raise StoreError(
                "the database belongs to another program",
                where=describe(connection.engine.url),
                found=f"a table {taken[0]} that turnwise did not make",
                expected="an empty database, or one that turnwise made",
                remedy="choose another database with --db",
            )
        metadata.create_all(connection)
        create_views(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})


def current_version(engine: Engine) -> str | None:
    """The schema version of a database; nothing where it has none."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return str(found) if found is not None else None
