"""`turnwise run dialogue`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli import options as o


@o.with_shared
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
            help="jsonl, csv, parquet, multiwoz-2.1, multiwoz-2.2, multiwoz-2.2-rows, sgd, tau-bench or "
            "multiwoz-predictions (default: detected).",
        ),
    ] = None,
    prediction_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="The same names (default: detected).")
    ] = None,
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
    submitted_only: Annotated[
        bool,
        typer.Option("--submitted-only", help="Leave out what was not predicted, instead of counting it as wrong."),
    ] = False,
    allow_constant_state: Annotated[
        bool, typer.Option("--allow-constant-state", help="Accept predicted states that never change in a dialogue.")
    ] = False,
    *,
    shared: o.Shared,
) -> None:
    """Score a dialogue system against annotated dialogues.

    Example: turnwise run dialogue --references examples/dialogue/references.jsonl
    --predictions examples/dialogue/predictions.jsonl --out results
    """
    shared.run(
        "dialogue",
        references=references,
        predictions=predictions,
        reference_format=reference_format,
        prediction_format=prediction_format,
        normaliser=normaliser,
        database=database,
        booked_domains=booked_domains,
        policy=policy,
        transferable=transferable,
        actions=actions,
        submitted_only=submitted_only,
        allow_constant_state=allow_constant_state,
    )
