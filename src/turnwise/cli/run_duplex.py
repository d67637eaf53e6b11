"""`turnwise run duplex`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


@o.with_shared
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
    profile: Annotated[
        str | None,
        typer.Option(metavar="turnwise|spec|tau-voice", help="Whose definitions are used (default: turnwise)."),
    ] = None,
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
    *,
    shared: o.Shared,
) -> None:
    """Score voice conversations in which both sides may speak at once.

    Example: turnwise run duplex --recordings calls/ --out results --timelines
    """
    from turnwise.engine.plan import VERIFY

    summary = shared.run(
        "duplex",
        scores=scores,
        files=files,
        recordings=recordings,
        format=format_,
        detector=detector,
        profile=profile,
        allow_missing=allow_missing,
        verify=verify,
        sensitivity=sensitivity,
        timelines=timelines,
    )
    if verify and not shared.json and not shared.dry_run:
        points = [finding["message"] for finding in summary["run"]["findings"] if finding["check"] == VERIFY]
        print()
        for point in points:
            print(point)
