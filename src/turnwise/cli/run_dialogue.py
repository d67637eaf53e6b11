"""`turnwise run dialogue`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


def dialogue(
    references: Annotated[
        Path | None, typer.Option("--references", metavar="PATH", help="Annotated dialogues: a file or a folder.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="PATH", help="What the system under test did.")
    ] = None,
    reference_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="jsonl, multiwoz-2.1, multiwoz-2.2, multiwoz-2.2-rows, sgd, tau-bench or multiwoz-predictions "
            "(default: detected).",
        ),
    ] = None,
    prediction_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="The same names (default: detected).")
    ] = None,
    metrics: o.Metrics = None,
    normaliser: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="multiwoz-v1 (default), none, or a YAML file of rules.")
    ] = None,
    database: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="What the system could find: a folder of <domain>_db.json files."),
    ] = None,
    booked_domains: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Domains booked at each exchange (default: the references say).")
    ] = None,
    policy: Annotated[Path | None, typer.Option(metavar="FILE", help="YAML: the slots each booking requires.")] = None,
    transferable: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML: the slots that carry over to another domain.")
    ] = None,
    actions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML: what each act does (book, offer, request ...).")
    ] = None,
    profile: o.Profile = None,
    submitted_only: Annotated[
        bool,
        typer.Option("--submitted-only", help="Leave out what was not predicted, instead of counting it as wrong."),
    ] = False,
    allow_constant_state: Annotated[
        bool, typer.Option("--allow-constant-state", help="Accept predicted states that never change in a dialogue.")
    ] = False,
    set_: o.Set = None,
    by: o.By = None,
    baselines: o.Baselines = False,
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
    """Score a dialogue system against annotated dialogues.

    Example: turnwise run dialogue --references examples/dialogue/references.jsonl
    --predictions examples/dialogue/predictions.jsonl --out results
    """
    from turnwise.cli.running import run_room

    values = o.given(
        references=references,
        predictions=predictions,
        reference_format=reference_format,
        prediction_format=prediction_format,
        metrics=metrics,
        normaliser=normaliser,
        database=database,
        booked_domains=booked_domains,
        policy=policy,
        transferable=transferable,
        actions=actions,
        profile=profile,
        submitted_only=submitted_only,
        allow_constant_state=allow_constant_state,
        set=o.parse_settings(set_),
        by=by,
        baselines=baselines,
        system=system,
        version=version,
        out=out,
        executor=executor,
        workers=workers,
        resamples=resamples,
    )
    run_room("dialogue", values, db=db, as_json=json, resume=resume, dry_run=dry_run)
