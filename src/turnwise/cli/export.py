"""`turnwise export RUN`: scores as CSV, JSONL or Parquet; result tables as Markdown or LaTeX."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

FORMATS = ("csv", "jsonl", "markdown", "latex", "parquet")


def export(
    name: o.RunName,
    format_: Annotated[
        str, typer.Option("--format", "-f", metavar="|".join(FORMATS), help="Scores (csv, jsonl, parquet) or tables.")
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write there (default: standard output).")
    ] = None,
    by: o.By = None,
    db: o.Db = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Export a run: every score as a row, or the results as a table for a paper.

    Examples: turnwise export latest --format latex > table.tex; turnwise export latest -f parquet -o scores.parquet
    """
    from turnwise.kernel.errors import UsageError, near_misses
    from turnwise.report import export as writers
    from turnwise.rooms import register_metrics
    from turnwise.store.store import Store

    chosen = "jsonl" if json else format_
    if chosen not in FORMATS:
        raise UsageError(
            f"unknown format {chosen!r}", expected=", ".join(FORMATS), remedy=near_misses(chosen, FORMATS) or None
        )
    register_metrics()
    store = Store(db)
    try:
        run = store.run(name)
        if by and chosen not in ("markdown", "latex"):
            raise UsageError(f"--by is for tables; {chosen} has every score", remedy="--format markdown or latex")
        groupings = [tuple(part.strip() for part in text.split(",")) for text in by or []]
        if chosen == "parquet":
            if out is None:
                raise UsageError("parquet is binary", remedy="name a file: --out scores.parquet")
            writers.write_parquet(store, run, out)
        else:
            with _target(out) as file:
                if chosen in ("csv", "jsonl"):
                    writers.write_scores(store, run, chosen, file)
                else:
                    file.write(writers.result_tables(store, run, chosen, groupings))
    finally:
        store.close()


def _target(out: Path | None) -> Any:
    from turnwise.report.files import whole_file

    return nullcontext(sys.stdout) if out is None else whole_file(out)
