"""`turnwise runs`: what is in the store."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwise.cli import options as o


def runs(
    room: Annotated[str | None, typer.Option("--room", metavar="NAME", help="Only runs of this room.")] = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """List the runs that are kept, the newest first.

    Example: turnwise runs --room dialogue
    """
    from turnwise.cli.console import print_json, print_table
    from turnwise.report.tables import Table
    from turnwise.rooms import ROOMS, check_room
    from turnwise.store.store import Store

    if room is not None:
        check_room(room, ROOMS)
    store = Store(db)
    try:
        found = store.runs(room)
    finally:
        store.close()
    names = ("id", "suite", "system", "version", "status", "started", "finished", "profile", "dataset_fingerprint")
    if json:
        print_json([{name: getattr(run, name) for name in names} for run in found])
        return
    header = ["run", "room", "system", "version", "status", "started"]
    rows = [[r.id, r.suite, r.system, r.version, r.status, r.started[:19].replace("T", " ")] for r in found]
    print_table(Table(f"{len(found)} run{'' if len(found) == 1 else 's'} in {store.place}", header, rows))
