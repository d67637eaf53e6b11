"""`turnwise compare A B`: is B better than A, metric by metric, and how sure is that?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

Metric = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME[.OUTPUT]", help="Only this one; repeat for more (default: all)."),
]
RollupName = Annotated[
    str | None, typer.Option("--rollup", metavar="NAME", help="Another roll-up than each metric's primary one.")
]
Room = Annotated[str | None, typer.Option("--room", metavar="NAME", help="Only runs of this room.")]
AllowDifferent = Annotated[
    bool,
    typer.Option(
        "--allow-different", help="Compare although data, profile or settings differ; outputs carry a warning."
    ),
]
Repeats = Annotated[
    bool,
    typer.Option("--repeats", help="Several runs on one side are repeats: all count (default: the newest score does)."),
]
SELECTOR = "A run (id, beginning, latest), version:X, system:NAME, system:NAME@X; several with commas."


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=SELECTOR)],
    b: Annotated[str, typer.Argument(metavar="B", help="The same, for the other side.")],
    metric: Metric = None,
    rollup: RollupName = None,
    by: o.By = None,
    room: Room = None,
    allow_different: AllowDifferent = False,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Take items for different ones even where their names are the same.")
    ] = False,
    repeats: Repeats = False,
    draws: Annotated[
        int, typer.Option("--draws", min=100, max=1_000_000, help="Random patterns of each test.")
    ] = 10_000,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Also as Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="Also as LaTeX (booktabs).")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also as one HTML page.")] = None,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Compare two runs, versions or systems: is B better than A?

    Examples: turnwise compare 20261115-1015 latest --by domain; turnwise compare version:fc26922 version:ee59fe5
    """
    from turnwise.comparison.compare import Options, compare_sides
    from turnwise.comparison.selectors import choose_both
    from turnwise.comparison.sides import make_sides
    from turnwise.rooms import ROOMS, check_room, register_metrics
    from turnwise.store.store import Store

    if room is not None:
        check_room(room, ROOMS)
    register_metrics()
    options = Options(
        tuple(name.strip() for text in metric or () for name in text.split(",")),
        rollup,
        tuple(tuple(part.strip() for part in text.split(",")) for text in by or ()),
        allow_different,
        unpaired,
        draws,
    )
    store = Store(db)
    try:
        first, second = choose_both(store, a, b, room)
        found = compare_sides(*make_sides(first, second, (a, b), as_repeats=repeats), options)
        _write(found, markdown, latex, html)
        _print(found, json)
    finally:
        store.close()


def _write(found: Any, markdown: Path | None, latex: Path | None, html: Path | None) -> None:
    from turnwise.cli.console import say
    from turnwise.comparison import tables
    from turnwise.comparison.page import page
    from turnwise.report.files import whole_file

    for path, make in ((markdown, tables.markdown), (latex, tables.latex), (html, page)):
        if path is not None:
            with whole_file(path) as file:
                file.write(make(found))
            say(f"wrote {path}")


def _print(found: Any, json: bool) -> None:
    from turnwise.cli.console import print_json, print_table
    from turnwise.comparison.tables import all_tables

    if json:
        print_json(found.as_json())
        return
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    for number, table in enumerate(all_tables(found, plot=True, unicode=unicode)):
        if number:
            print()
        print_table(table)
