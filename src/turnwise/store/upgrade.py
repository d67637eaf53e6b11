"""Migrations: bring a database to the newest schema with alembic."""

from __future__ import annotations

from importlib import resources

from turnwise.kernel.errors import StoreError
from turnwise.store.connect import clear_errors, connect, current_version, describe
from turnwise.store.schema import HEAD


def upgrade_database(db: str | None) -> tuple[str | None, str, str]:
    """Run what is missing; returns the version before, the version after, and the database's name."""
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    engine = connect(db, check=False)
    before = None
    try:
        with clear_errors(engine.url):
            before = current_version(engine)
            config = Config()
            config.set_main_option("script_location", str(resources.files("turnwise.store") / "migrations"))
            with engine.connect().execution_options(turnwise_write=True) as connection, connection.begin():
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
    except CommandError as error:
        raise StoreError(
            "the database is of a newer version of turnwise",
            where=describe(engine.url),
            found=f"schema {before}",
            expected=f"schema {HEAD} or older",
            remedy="upgrade turnwise: pip install --upgrade turnwise",
        ) from error
    finally:
        engine.dispose()
    return before, HEAD, describe(engine.url)
