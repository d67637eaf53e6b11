"""`turnwise demo`: the main job of every room on the project's own examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnwise.cli import options as o

if TYPE_CHECKING:
    from turnwise.demo import DemoRun

_BESIDE = {
    "turns.csv": "one row per turn, with evidence",
    "all.json": "the final score, as the challenge writes it",
    "events.csv": "every interruption, pause and backchannel, and what became of it",
    "timelines/*.html": "a picture of each call: open it in a browser",
    "*/barge_in.json": "how each barge-in was handled, and why",
    "*/timeline.html": "a picture of each call: open it in a browser",
}
"""What may lie beside the results of a run."""


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results go.")] = Path("demo-results"),
    examples: Annotated[
        Path | None, typer.Option("--examples", metavar="DIR", help="The examples (default: those of turnwise).")
    ] = None,
    json: o.Json = False,
) -> None:
    """Run every room on the examples, into one folder per room, and play two scenarios to a simulated interpreter.

    Example: turnwise demo --out demo-results
    """
    from turnwise.cli.console import print_json, program, say
    from turnwise.demo import demo_runs

    db = str(out / "demo.sqlite")
    summaries: dict[str, Any] = {run.folder: _ran(run, out, db, quiet=json) for run in demo_runs(examples)}
    calls = _rehearsed(out / "captures", examples, db, quiet=json)
    if json:
        print_json({**summaries, "captures": calls})
    say("\nWhere to look:")
    for folder in summaries:
        for place, what in _where(out / folder):
            say(f"  {place}  {what}")
    for call in calls:
        say(f"  {Path(call['folder']) / 'events.jsonl'}  what was sent, what arrived and when it was heard")
        say(f"  {Path(call['folder']) / 'timeline.html'}  a picture of the call: open it in a browser")
    first = next(iter(summaries.values()))["run"]["id"]
    say(f"  {program()} show {first} --db {out / 'demo.sqlite'} --by scenario  slices the first run, worst first")


def _where(folder: Path) -> list[tuple[Path, str]]:
    """What is worth opening in a folder of results."""
    report = folder / "summary_report.html"
    if report.exists():
        return [(report, "everything on one page: open it in a browser")]
    found = [(folder / "summary.json", "results with intervals")]
    return found + [(folder / name, what) for name, what in _BESIDE.items() if any(folder.glob(name))]


def _ran(run: DemoRun, out: Path, db: str, *, quiet: bool) -> dict[str, Any]:
    """Carry out one run of the demonstration."""
    from turnwise.cli.console import say
    from turnwise.cli.running import run_room

    say(f"\n{run.title}")
    return run_room(run.room, {**run.options, "out": out / run.folder}, db=db, quiet=quiet)


def _rehearsed(out: Path, examples: Path | None, db: str, *, quiet: bool) -> list[dict[str, Any]]:
    """Play the scenarios, print what became of them, score them, and say the same as data."""
    from turnwise.cli.console import print_table, say
    from turnwise.demo import demo_rehearsal, driven_run, missing_for_rehearsal
    from turnwise.kernel.extras import remedy
    from turnwise.kernel.jsontext import loads
    from turnwise.report.tables import Table

    say("\nLive: two scenarios, played to a simulated interpreter")
    if missing := missing_for_rehearsal():
        say(f"  left out, because packages are missing. Remedy: {remedy(','.join(missing))}")
        return []
    driven = demo_rehearsal(out, examples, lambda scenario, _, what: say(f"  {scenario.id}: {what}"))
    calls = [
        {
            "scenario": one.scenario.id,
            "folder": str(one.folder),
            "turns_played": sum(turn.start_ms is not None for turn in one.capture.header.turns),
            "turns": len(one.capture.header.turns),
            "audible_seconds": round(sum(event.get("audible_ms", 0.0) for event in one.capture.events) / 1000, 3),
            "reason": one.capture.reason,
        }
        for one in driven
    ]
    if not quiet:
        rows = [
            [
                call["scenario"],
                f"{call['turns_played']}/{call['turns']}",
                f"{call['audible_seconds']:.1f}",
                call["reason"] or "played to its end",
            ]
            for call in calls
        ]
        print_table(Table("captures", ["scenario", "turns", "heard, s", "reason"], rows, numeric=(1, 2)))
    _ran(driven_run(driven), out.parent, db, quiet=quiet)
    for call in calls:
        result = loads((Path(call["folder"]) / "barge_in.json").read_bytes())
        call |= {"barge_in": result["score"], "interpretation": result["details"]["overall_interpretation"]}
    return calls
