"""`turnwise run interpreting`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


def interpreting(
    captures: Annotated[
        Path | None,
        typer.Argument(metavar="CAPTURES", help="A capture, a folder of captures, or a SimulEval instances.log."),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Scenario files: what they say replaces what the captures say of them."),
    ] = None,
    metrics: o.Metrics = None,
    profile: o.Profile = None,
    set_: o.Set = None,
    by: o.By = None,
    baselines: o.Baselines = False,
    timelines: Annotated[
        bool, typer.Option("--timelines", help="With --out: a picture and a page of every call.")
    ] = False,
    system: o.System = None,
    version: o.Version = None,
    out: o.Out = None,
    db: o.Db = None,
    json: o.Json = False,
    executor: o.ExecutorName = None,
    workers: o.Workers = None,
    resamples: o.Resamples = None,
    resume: o.Resume = None,
    dry_run: o.DryRun = False,
) -> None:
    """Score live interpreting: barge-ins, lag, latency, and what was said.

    Example: turnwise run interpreting captures/ --out results --timelines
    """
    from turnwise.cli.running import run_room

    values = o.given(
        captures=captures,
        scenarios=scenarios,
        metrics=metrics,
        profile=profile,
        set=o.parse_settings(set_),
        by=by,
        baselines=baselines,
        timelines=timelines,
        system=system,
        version=version,
        out=out,
        executor=executor,
        workers=workers,
        resamples=resamples,
    )
    run_room("interpreting", values, db=db, as_json=json, resume=resume, dry_run=dry_run)
