"""`turnwise demo`: the main job of every room on the project's own examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results go.")] = Path("demo-results"),
    examples: Annotated[
        Path | None, typer.Option("--examples", metavar="DIR", help="The examples (default: those of turnwise).")
    ] = None,
    json: o.Json = False,
) -> None:
    """Run every room on the examples, into one folder per room.

    Example: turnwise demo --out demo-results
    """
    from turnwise.cli.console import print_json, program, say
    from turnwise.cli.running import run_room
    from turnwise.demo import demo_runs

    summaries = {}
    for run in demo_runs(examples):
        say(f"\n{run.title}")
        values = {**run.options, "out": out / run.folder}
        summaries[run.folder] = run_room(run.room, values, db=str(out / "demo.sqlite"), quiet=json)
    if json:
        print_json(summaries)
    say("\nWhere to look:")
    for folder in summaries:
        report = out / folder / "summary_report.html"
        if report.exists():
            say(f"  {report}  everything on one page: open it in a browser")
        else:
            say(f"  {out / folder / 'summary.json'}  results with intervals; beside it one row per turn, with evidence")
    first = next(iter(summaries.values()))["run"]["id"]
    say(f"  {program()} show {first} --db {out / 'demo.sqlite'} --by scenario  slices the first run, worst first")
