"""The commands, assembled."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwise import __version__
from turnwise.cli import (
    audio,
    compare,
    db,
    demo,
    doctor,
    drive,
    export,
    gate,
    judge,
    metrics,
    models,
    rate,
    run,
    runs,
    scenarios,
    show,
    simulate,
    trend,
)

app = typer.Typer(
    name="turnwise",
    help="Evaluate AI that converses: every score with its interval, its evidence and its signature.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnwise {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Evaluate AI that converses: every score with its interval, its evidence and its signature."""


app.command("demo")(demo.demo)
app.add_typer(run.app, name="run")
app.command("drive")(drive.drive)
app.command("simulate")(simulate.simulate)
app.command("runs")(runs.runs)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("trend")(trend.trend)
app.command("rate")(rate.rate)
app.add_typer(judge.app, name="judge")
app.command("metrics")(metrics.metrics)
app.command("export")(export.export)
app.command("doctor")(doctor.doctor)
app.add_typer(scenarios.app, name="scenarios")
app.add_typer(audio.app, name="audio")
app.add_typer(models.app, name="models")
app.add_typer(db.app, name="db")
