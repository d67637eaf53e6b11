"""`turnwise run duplex`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


def duplex(
    scores: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Final score of an experiment, from its {category}_all.json.")
    ] = None,
    files: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The same from what lies under them: labels, intervals, counts.")
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Stereo recordings (user left, agent right), pairs of files, or logs of another tool."
        ),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Of --recordings (default: detected).")
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(metavar="silero|energy", help="Who decides where speech is (default: silero, if installed)."),
    ] = None,
    metrics: o.Metrics = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="turnwise|spec|tau-voice", help="Whose definitions are used (default: turnwise)."),
    ] = None,
    set_: o.Set = None,
    by: o.By = None,
    baselines: o.Baselines = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Score the rest where files of an experiment are missing.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Print the scoring document's checklist with what was found.")
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Listen again with other settings; show how much each number moves.")
    ] = False,
    timelines: Annotated[
        bool, typer.Option("--timelines", help="With --out: a picture and a page of every conversation.")
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
    """Score voice conversations in which both sides may speak at once.

    Example: turnwise run duplex --recordings calls/ --out results --timelines
    """
    from turnwise.cli.running import run_room
    from turnwise.engine.plan import VERIFY

    values = o.given(
        scores=scores,
        files=files,
        recordings=recordings,
        format=format_,
        detector=detector,
        metrics=metrics,
        profile=profile,
        set=o.parse_settings(set_),
        by=by,
        baselines=baselines,
        allow_missing=allow_missing,
        verify=verify,
        sensitivity=sensitivity,
        timelines=timelines,
        system=system,
        version=version,
        out=out,
        executor=executor,
        workers=workers,
        resamples=resamples,
    )
    summary = run_room("duplex", values, db=db, as_json=json, resume=resume, dry_run=dry_run)
    if verify and not json and not dry_run:
        points = [finding["message"] for finding in summary["run"]["findings"] if finding["check"] == VERIFY]
        print()
        for point in points:
            print(point)
