"""Exports of a stored run: every score as a row, or its results as tables with intervals and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, TextIO, cast

from turnwise.kernel.errors import TurnwiseError
from turnwise.kernel.jsontext import dumps, loads
from turnwise.report.files import CsvWriter, whole_file
from turnwise.report.summary import stored_or_new, summarise, summary_object, with_calibration
from turnwise.report.tables import Table, as_latex, as_markdown, overview, slices
from turnwise.store.reading import stream_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

COLUMNS = (
    "run",
    "metric",
    "output",
    "item",
    "kind",
    "cluster",
    "dimensions",
    "variant",
    "repeat",
    "value",
    "label",
    "status",
    "reason",
    "statistics",
    "parts",
    "evidence",
    "source",
    "rater",
    "signature",
)
_JSON = ("dimensions", "statistics", "parts", "evidence")
_GROUP = 10_000
"""Rows of a row group of a Parquet file; as many are in memory."""


def write_scores(store: Store, run: Run, form: str, file: IO[str]) -> None:
    """Every score of a run, in the order of the data, as `csv` or `jsonl`."""
    if form == "csv":
        writer = CsvWriter(file, COLUMNS)
        for row in _rows(store, run):
            writer.write([row[name] for name in COLUMNS])
        return
    for row in _rows(store, run):
        decoded = {name: loads(row[name]) if name in _JSON and row[name] is not None else row[name] for name in COLUMNS}
        file.write(dumps(decoded) + "\n")


def write_parquet(store: Store, run: Run, path: Path) -> None:
    """Every score of a run as a Parquet file, which appears when it is complete; JSON columns stay text."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TurnwiseError(
            "Parquet needs an extra that is not installed", remedy='pip install "turnwise[parquet]"'
        ) from error
    types = {"repeat": pa.int64(), "value": pa.float64()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])
    rows = ([row[name] for name in COLUMNS] for row in _rows(store, run))
    with whole_file(path) as file, pq.ParquetWriter(cast("TextIO", file).buffer, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            writer.write_table(pa.table(list(zip(*group, strict=True)), schema))


def result_tables(store: Store, run: Run, form: str, by: Sequence[tuple[str, ...]]) -> str:
    """The results as `markdown` or `latex`, the signatures under them."""
    results = summarise(store, run, by) if by else stored_or_new(store, run)
    summary = summary_object(run, with_calibration(store, results))
    render = as_markdown if form == "markdown" else as_latex
    tables = [overview(summary), *(table for names in by for table in slices(summary, names)), _signatures(summary)]
    return "\n\n".join(render(table) for table in tables) + "\n"


def _signatures(summary: dict[str, Any]) -> Table:
    signs = dict.fromkeys((result["metric"], result["signature"]) for result in summary["results"])
    run = summary["run"]
    title = f"signatures; run {run['id']}, turnwise {run['turnwise_version']}, data {run['dataset_fingerprint']}"
    return Table(title, ["metric", "signature"], list(signs))


def _rows(store: Store, run: Run) -> Iterator[dict[str, Any]]:
    for row in stream_scores(store, run):
        yield {**row, "run": run.id}
