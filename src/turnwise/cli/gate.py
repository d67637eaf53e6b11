"""`turnwise gate RUN --rules gate.yaml`: may this run be released? Exit code 3 if not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o
from turnwise.cli.compare import SELECTOR, AllowDifferent, Repeats, Room

NOT_MET = 3


def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help=SELECTOR)],
    rules: Annotated[Path, typer.Option("--rules", metavar="FILE", help="The rules, as YAML (docs/gate.md).")],
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="A", help="What max_drop and max_rise compare with.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also as JUnit XML, for CI.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Also as Markdown.")] = None,
    room: Room = None,
    allow_different: AllowDifferent = False,
    repeats: Repeats = False,
    db: o.Db = None,
    json: o.Json = False,
) -> None:
    """Hold a run against rules: floors, ceilings, coverage, and no worse than a baseline by more than a margin.

    Example: turnwise gate latest --baseline version:fc26922 --rules gate.yaml --junit gate.xml
    """
    from turnwise.cli.console import print_json, print_table, say
    from turnwise.comparison.gate import check_gate
    from turnwise.comparison.gate_report import gate_markdown, gate_table, summary_line
    from turnwise.comparison.gate_report import junit as as_junit
    from turnwise.comparison.rules import read_rules
    from turnwise.comparison.selectors import choose, choose_both, one_room
    from turnwise.report.files import whole_file
    from turnwise.report.tables import printable
    from turnwise.rooms import ROOMS, check_room, register_metrics
    from turnwise.store.store import Store

    if room is not None:
        check_room(room, ROOMS)
    wanted = read_rules(rules)
    register_metrics()
    store = Store(db)
    try:
        if baseline is None:
            own, other = one_room(choose(store, run), run, room), None
        else:
            other, own = choose_both(store, baseline, run, room)
        found = check_gate(
            wanted,
            own,
            other,
            texts=(run, baseline or ""),
            allow_different=allow_different,
            as_repeats=repeats,
        )
        for path, make in ((junit, as_junit), (markdown, gate_markdown)):
            if path is not None:
                with whole_file(path) as file:
                    file.write(make(found))
                say(f"wrote {path}")
    finally:
        store.close()
    if json:
        print_json(found.as_json())
    else:
        print_table(gate_table(found))
    if not found.passed:
        for outcome in (one for one in found.outcomes if not one.passed):
            say(printable(f"not met: {outcome.rule.name}: {outcome.message}"))
        say(summary_line(found))
        raise typer.Exit(NOT_MET)
