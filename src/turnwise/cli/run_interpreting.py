"""`turnwise run interpreting`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


@o.with_shared
def interpreting(
    captures: Annotated[
        Path | None,
        typer.Argument(metavar="CAPTURES", help="A capture, a folder of captures, or a SimulEval instances.log."),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Scenario files: what they say replaces what the captures say of them."),
    ] = None,
    timelines: Annotated[
        bool, typer.Option("--timelines", help="With --out: a picture and a page of every call.")
    ] = False,
    *,
    shared: o.Shared,
) -> None:
    """Score live interpreting: barge-ins, lag, latency, and what was said.

    Example: turnwise run interpreting captures/ --out results --timelines
    """
    shared.run(
        "interpreting",
        captures=captures,
        scenarios=scenarios,
        timelines=timelines,
    )
