"""`turnwise runs`: what is in the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from turnwise.cli import options as o

if TYPE_CHECKING:
    from turnwise.store.progress import HowFar
    from turnwise.store.run import Run


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
    from turnwise.store.progress import how_far
    from turnwise.store.run import FINISHED
    from turnwise.store.store import Store

    if room is not None:
        check_room(room, ROOMS)
    store = Store(db)
    try:
        found = store.runs(room)
        far = {run.id: how_far(store, run) for run in found if run.status != FINISHED}
    finally:
        store.close()
    names = ("id", "suite", "system", "version", "status", "started", "finished", "profile", "dataset_fingerprint")
    if json:
        facts = [{name: getattr(run, name) for name in names} for run in found]
        print_json([one | ({"progress": far[one["id"]]._asdict()} if one["id"] in far else {}) for one in facts])
        return
    header = ["run", "room", "system", "version", "status", "started"]
    rows = [[r.id, r.suite, r.system, r.version, _status(r, far), r.started[:19].replace("T", " ")] for r in found]
    print_table(Table(f"{len(found)} run{'' if len(found) == 1 else 's'} in {store.place}", header, rows))


def _status(run: Run, far: Mapping[str, HowFar]) -> str:
    """The status; of a run that has not finished also how far it has come, how fast, and for how long still."""
    from turnwise.cli.console import lasting

    known = far.get(run.id)
    if known is None or known.total is None:
        return run.status
    share = f"{run.status}, {known.done:,} of {known.total:,}"
    if run.status != "running" or known.per_second is None:
        return share
    speed = f"{known.per_second:,.0f}" if known.per_second >= 10 else f"{known.per_second:.2g}"
    return f"{share}, {speed}/s" + ("" if known.seconds_left is None else f", {lasting(known.seconds_left)} left")
