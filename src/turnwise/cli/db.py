"""`turnwise db`: looking after the database."""

from __future__ import annotations

import typer

from turnwise.cli import options as o

app = typer.Typer(help="Look after the database.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """Look after the database."""


@app.command()
def upgrade(db: o.Db = None, json: o.Json = False) -> None:
    """Bring a database to this version of turnwise; its runs stay.

    Example: turnwise db upgrade --db runs.sqlite
    """
    from turnwise.cli.console import print_json
    from turnwise.store.upgrade import upgrade_database

    before, after, place = upgrade_database(db)
    if json:
        print_json({"database": place, "before": before, "after": after})
    elif before == after:
        print(f"{place}: schema {after}, nothing to do")
    else:
        print(f"{place}: schema {before or 'none'} -> {after}")
