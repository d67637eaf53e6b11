"""`turnwise trend --metric NAME`: one metric over versions, with the changes that chance does not explain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o
from turnwise.cli.compare import AllowDifferent, RollupName, Room


def trend(
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="NAME[.OUTPUT]", help="The metric.")],
    system: Annotated[str | None, typer.Option("--system", metavar="NAME", help="Only runs of this system.")] = None,
    rollup: RollupName = None,
    room: Room = None,
    runs: Annotated[bool, typer.Option("--runs", help="A point for each run, not for each version.")] = False,
    allow_different: AllowDifferent = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also as one HTML page.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Also as a picture.")] = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Show a metric over versions in the order of time, change points marked.

    Example: turnwise trend --metric joint_goal_accuracy --system "booking assistant" --html trend.html
    """
    from turnwise.cli.console import print_json, print_table, say
    from turnwise.comparison.trend import Wanted, make_trend
    from turnwise.comparison.trend_views import trend_page, trend_svg, trend_table
    from turnwise.report.files import whole_file
    from turnwise.rooms import ROOMS, check_room, register_metrics
    from turnwise.store.store import Store

    if room is not None:
        check_room(room, ROOMS)
    register_metrics()
    name, _, output = metric.partition(".")
    store = Store(db)
    try:
        found = make_trend(store, Wanted(name, output or None, rollup, system, room, runs, allow_different))
    finally:
        store.close()
    for path, make in ((html, trend_page), (svg, trend_svg)):
        if path is not None:
            with whole_file(path) as file:
                file.write(make(found))
            say(f"wrote {path}")
    if json:
        print_json(found.as_json())
    else:
        print_table(trend_table(found, unicode="utf" in (sys.stdout.encoding or "").lower()))
