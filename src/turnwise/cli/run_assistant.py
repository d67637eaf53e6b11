"""`turnwise run assistant`."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwise.cli import options as o


@o.with_shared
def assistant(
    turns: Annotated[
        str | None,
        typer.Argument(
            metavar="TURNS",
            help="A JSONL or Parquet file of turns, a CSV file in the form of the export, or postgresql://user@host/database.",
        ),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="TEXT", help="The prompt version of turns that name none, e.g. a git hash."),
    ] = None,
    patterns: Annotated[
        str | None,
        typer.Option("--patterns", metavar="FILE", help="What is looked for in replies, as YAML (default: HR)."),
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option(
            metavar="auto|none|DIR", help="The model that compares citations (default: one that is installed)."
        ),
    ] = None,
    write_metrics: Annotated[
        bool, typer.Option("--write-metrics", help="Write the metrics into the database that the turns come from.")
    ] = False,
    *,
    shared: o.Shared,
) -> None:
    """Score the replies of a policy-bound assistant.

    Example: turnwise run assistant turns.jsonl --version fc26922 --by scenario --out results
    """
    if write_metrics:
        _check_target(turns)
    summary = shared.run(
        "assistant",
        turns=turns,
        version=version,
        patterns=patterns,
        embedding=embedding,
    )
    if write_metrics and turns is not None and not shared.dry_run:
        _write_metrics(shared.db, summary["run"]["id"], turns)


def _check_target(turns: str | None) -> None:
    """Whether metrics can be written where the turns come from, before anything is measured."""
    from turnwise.assistant.postgres import is_database
    from turnwise.assistant.write_back import check_writable
    from turnwise.kernel.errors import UsageError

    if turns is None or not is_database(turns):
        raise UsageError(
            "--write-metrics is for turns from a database", expected="TURNS is postgresql://user@host/database"
        )
    check_writable(turns)


def _write_metrics(db: str | None, run: str, turns: str) -> None:
    from turnwise.assistant.write_back import write_metrics
    from turnwise.cli.console import say
    from turnwise.store.store import Store

    store = Store(db)
    try:
        say(write_metrics(store, store.run(run), turns).message)
    finally:
        store.close()
