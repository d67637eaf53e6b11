"""`turnwise scenarios`: looking at scenarios before a system is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

app = typer.Typer(help="Check scenarios.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def root() -> None:
    """Check scenarios."""


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Scenario files, or folders of them.")],
    synthesise: Annotated[
        bool, typer.Option("--synthesise", help="Also synthesise what is said, as a run would, and keep it.")
    ] = False,
    say_command: Annotated[
        str | None,
        typer.Option(
            "--say-command",
            metavar="COMMAND",
            help="What synthesises: a command with {text}, {language} and {out} (default: TURNWISE_SAY_COMMAND, "
            "else the scenario's say_command).",
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """Read scenarios, decode their recordings, and say what is wrong with them; exit code 2 if anything is.

    Example: turnwise scenarios check scenarios/
    """
    from turnwise.cli.console import print_json, print_table
    from turnwise.live.scenario_check import check_scenarios

    checked = check_scenarios(paths, say_command=say_command, synthesise=synthesise)
    errors = sum(one.errors for one in checked)
    warnings = sum(len(one.problems) - one.errors for one in checked)
    if json:
        print_json({"scenarios": [one.as_json() for one in checked], "errors": errors, "warnings": warnings})
    else:
        print_table(_table(checked, errors, warnings))
        for one in checked:
            _print_problems(one)
    if errors:
        raise typer.Exit(2)


def _table(checked: list[Any], errors: int, warnings: int) -> Any:
    from turnwise.report.tables import Table

    header = ["scenario", "turns", "participants", "length", "problems"]
    rows = []
    for one in checked:
        reading = one.reading
        turns = "–" if reading.turns is None else str(reading.turns)
        problems = _counted(one.errors, len(one.problems) - one.errors) or "–"
        rows.append(
            [reading.id or reading.file.name, turns, ", ".join(reading.participants) or "–", _length(one), problems]
        )
    title = f"{len(checked)} scenario{'' if len(checked) == 1 else 's'}: {_counted(errors, warnings) or 'no problems'}"
    return Table(title, header, rows, numeric=(1,))


def _length(one: Any) -> str:
    if one.length_ms is None:
        return "–"
    return f"{'at least ' if one.length_is_least else ''}{one.length_ms / 1000:.1f} s"


def _counted(errors: int, warnings: int) -> str:
    counts = [(errors, "error"), (warnings, "warning")]
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)


def _print_problems(one: Any) -> None:
    from turnwise.report.tables import printable

    if one.problems:
        print(f"\n{one.reading.file}")
        for problem in one.problems:
            print("\n".join(f"  {printable(line)}" for line in problem.text.splitlines()))
