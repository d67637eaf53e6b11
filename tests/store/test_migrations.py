"""The tables that a new database gets at once are those that the migrations make; `turnwise db upgrade` runs them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from turnwise.cli import main
from turnwise.kernel.errors import StoreError
from turnwise.store import schema
from turnwise.store.connect import connect, create_tables, current_version, describe
from turnwise.store.run import BatchRows, Run
from turnwise.store.store import Store
from turnwise.store.upgrade import upgrade_database
from turnwise.store.views import DOCUMENT, OWN, drop_views

WAYS = ("create_tables", "migrations")


def make(db: str, way: str) -> Engine:
    """A database whose tables were made one way or the other."""
    if way == "migrations":
        upgrade_database(db)
        return connect(db, check=False)
    engine = connect(db, check=False)
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        create_tables(connection)
    return engine


def described(engine: Engine) -> dict[str, Any]:
    """Every table and view as the database itself describes it."""
    look = inspect(engine)
    found: dict[str, Any] = {}
    for view in sorted(look.get_view_names()):
        found[view] = look.get_view_definition(view)
    for table in sorted(look.get_table_names()):
        if table == "alembic_version":  # alembic names its primary key in its own way
            found[table] = (
                [c["name"] for c in look.get_columns(table)],
                look.get_pk_constraint(table)["constrained_columns"],
            )
            continue
        found[table] = {
            "columns": [{k: str(v) for k, v in sorted(c.items())} for c in look.get_columns(table)],
            "primary key": look.get_pk_constraint(table),
            "foreign keys": look.get_foreign_keys(table),
            "indexes": sorted(look.get_indexes(table), key=str),
            "unique": sorted(look.get_unique_constraints(table), key=str),
            "checks": sorted(look.get_check_constraints(table), key=str),
            "options": look.get_table_options(table),
        }
    return found


def test_both_ways_make_the_same_schema(db: str) -> None:
    found = []
    for way in WAYS:
        engine = make(db, way)
        found.append(described(engine))
        with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
            drop_views(connection)
            schema.metadata.drop_all(connection)
            connection.execute(text("DROP TABLE alembic_version"))
        engine.dispose()
    by_hand, by_migrations = found
    assert set(by_hand) == {*schema.metadata.tables, "alembic_version", *OWN, *DOCUMENT}
    for table in by_hand:
        assert by_hand[table] == by_migrations[table], table


@pytest.mark.parametrize("way", WAYS)
def test_alembic_sees_no_difference_to_the_tables_in_code(db: str, way: str) -> None:
    engine = make(db, way)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_rows_of_the_large_tables_lie_in_the_order_of_their_key(sqlite_path: str) -> None:
    """WITHOUT ROWID halves the size of a SQLite file; neither way may lose it."""
    keyed = {"batches", "items", "rollups", "run_metrics", "scores"}
    for way in WAYS:
        engine = make(f"{sqlite_path}.{way}", way)
        with engine.connect() as connection:
            found = dict(connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'table'")).all())
        engine.dispose()
        assert {name for name, sql in found.items() if "WITHOUT ROWID" in sql} == keyed, way


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(resources.files("turnwise.store") / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]


@pytest.mark.parametrize("way", WAYS)
def test_both_ways_note_the_version(db: str, way: str) -> None:
    engine = make(db, way)
    assert current_version(engine) == schema.HEAD
    engine.dispose()


# turnwise db upgrade


def test_an_empty_database_is_brought_to_the_newest_version(
    db: str, begin_run: Callable[..., Run], make_batch: Callable[..., BatchRows]
) -> None:
    assert upgrade_database(db)[:2] == (None, schema.HEAD)
    store = Store(db)
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.5, None]))
    assert store.count_items(run) == 2
    store.close()


def test_a_database_that_is_up_to_date_stays_as_it_is(
    db: str, begin_run: Callable[..., Run], make_batch: Callable[..., BatchRows]
) -> None:
    store = Store(db)
    run = begin_run(store)
    store.write_batch(run, make_batch(0, [0.5, None]))
    store.close()
    for _ in range(2):
        assert upgrade_database(db)[:2] == (schema.HEAD, schema.HEAD)
    store = Store(db)
    assert (store.run(run.id), store.done_batches(run), store.count_items(run)) == (store.runs()[0], {0}, 2)
    store.close()


def test_the_command_says_what_it_did(
    db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["turnwise", "db", "upgrade", "--db", db])
    for expected in (f"schema none -> {schema.HEAD}", f"schema {schema.HEAD}, nothing to do"):
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
        assert capsys.readouterr().out.strip().endswith(f": {expected}")


def test_a_database_of_the_future_is_left_alone(db: str) -> None:
    engine = make(db, "create_tables")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    before = described(engine)
    with pytest.raises(StoreError, match="newer version of turnwise") as error:
        upgrade_database(db)
    assert error.value.found == "schema 9999"
    assert error.value.where == describe(engine.url)
    assert (described(engine), current_version(engine)) == (before, "9999")
    engine.dispose()


def test_an_upgrade_that_fails_changes_nothing(db: str) -> None:
    """A table is in the way of the migration that makes it: the tables made before it must go again."""
    engine = connect(db, check=False)
    with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
        connection.execute(text("CREATE TABLE score_history (note TEXT)"))
    with pytest.raises(StoreError) as error:
        upgrade_database(db)
    assert "score_history" in str(error.value)
    assert inspect(engine).get_table_names() == ["score_history"]
    engine.dispose()
