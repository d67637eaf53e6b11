"""`turnwise export RUN`: scores as CSV, JSONL or Parquet; result tables as Markdown or LaTeX."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli import options as o

FORMATS = ("csv", "jsonl", "markdown", "latex", "parquet", "era-csv")


def export(
    name: o.RunName,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(FORMATS),
            help="Scores (csv, jsonl, parquet), tables, or turns of an assistant.",
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write there (default: standard output); era-csv: or into a folder."
        ),
    ] = None,
    by: o.By = None,
    golden: Annotated[
        int | None,
        typer.Option("--golden", metavar="N", help="N high-scoring, diverse, confirmed items as examples (JSONL)."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME[.OUTPUT]", help="With --golden: what decides.")
    ] = None,
    db: o.Db = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Export a run: every score as a row, the results as a table for a paper, or its best items as examples.

    Examples: turnwise export latest --format latex > table.tex; turnwise export latest -f parquet -o scores.parquet;
    turnwise export latest --golden 20 --out golden.jsonl
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
    if metric is not None and golden is None:
        raise UsageError("--metric is for --golden", remedy="leave it out, or say how many examples: --golden 20")
    if golden is not None and (by or chosen not in ("csv", "jsonl")):
        what = "--by" if by else f"--format {chosen}"
        raise UsageError(f"--golden writes JSON lines, which {what} does not change", remedy=f"leave {what} out")
    register_metrics()
    store = Store(db)
    try:
        run = store.run(name)
        if golden is not None:
            _golden(store, run, golden, metric, out)
            return
        if by and chosen not in ("markdown", "latex"):
            raise UsageError(f"--by is for tables; {chosen} has every score", remedy="--format markdown or latex")
        groupings = [tuple(part.strip() for part in text.split(",")) for text in by or []]
        if chosen == "era-csv":
            _era_csv(store, run, out)
        elif chosen == "parquet":
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


def _golden(store: Any, run: Any, wanted: int, metric: str | None, out: Path | None) -> None:
    from turnwise.cli.console import say
    from turnwise.comparison.golden import golden_examples
    from turnwise.kernel.jsontext import dumps

    found = golden_examples(store, run, wanted, metric)
    with _target(out) as file:
        for line in found.lines():
            file.write(dumps(line) + "\n")
    say(f"golden examples by {found.metric}: {'; '.join(found.notes)}")


def _era_csv(store: Any, run: Any, out: Path | None) -> None:
    from turnwise.assistant.era_csv import write_era_csv, write_era_folder
    from turnwise.cli.console import say

    if out is not None and out.is_dir():
        say(f"wrote {len(write_era_folder(store, run, out))} files, one per session, into {out}")
        return
    with _target(out) as file:
        sessions = write_era_csv(store, run, file)
    if sessions > 1:
        say(f"note: {sessions} sessions, which this form does not tell apart; --out FOLDER writes a file for each")


def _target(out: Path | None) -> Any:
    from turnwise.report.files import whole_file

    return nullcontext(sys.stdout) if out is None else whole_file(out)
