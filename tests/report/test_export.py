"""Exports of a stored run: every score comes back from CSV, JSONL and Parquet; tables have intervals, signatures."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import turnwise
from turnwise.kernel.errors import TurnwiseError
from turnwise.report import export
from turnwise.report.export import COLUMNS, result_tables, write_parquet, write_scores
from turnwise.store.run import Run
from turnwise.store.store import Store

JSON = ("dimensions", "statistics", "parts", "evidence")
NORTH = {"hotel-area": "north"}
REFERENCES = [
    {"dialogue_id": "=cmd()", "turn_id": 0, "domain": "hotel", "state": NORTH, "city": "a|b_c & 50 %"},
    {"dialogue_id": "b", "turn_id": 0, "domain": "hotel", "state": {}, "city": "york"},
    {"dialogue_id": "b", "turn_id": 1, "domain": "taxi", "state": NORTH, "city": "york"},
]
PREDICTIONS = [
    {**REFERENCES[0], "state": {"hotel-area": "=south"}, "latency_ms": 10, "tokens": 5, "cost": 0.25},
    {**REFERENCES[1], "state": NORTH},
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Run, turnwise.Result]]:
    db = str(tmp_path_factory.mktemp("export") / "runs.sqlite")
    records = {"references": REFERENCES, "predictions": PREDICTIONS}
    result = turnwise.evaluate(records, db=db, normaliser="none", baselines=True, resamples=100, system="bot|1")
    store = Store(db)
    yield store, store.run(result.run.id), result
    store.close()


@pytest.fixture(scope="module")
def expected(kept: tuple[Store, Run, turnwise.Result]) -> list[dict[str, Any]]:
    """The rows as they must come back, from the scores that Python gives."""
    _, run, result = kept
    rows = []
    for score in result.scores:
        row = {name: getattr(score, name) for name in COLUMNS if hasattr(score, name)}
        unit = {"item": score.unit.id, "kind": score.unit.kind, "cluster": score.unit.cluster}
        row |= {**unit, "dimensions": dict(score.unit.dimensions), "run": run.id}
        row |= {"status": str(score.status), "source": str(score.source)}
        row["statistics"] = None if score.statistics is None else list(score.statistics)
        # Names of the slots, then one column per statistic.
        row["parts"] = None if score.parts is None else [list(score.parts.names), *map(list, score.parts.statistics)]
        rows.append(row)
    return rows


def text(kept: tuple[Store, Run, turnwise.Result], form: str) -> str:
    file = io.StringIO()
    write_scores(kept[0], kept[1], form, file)
    return file.getvalue()


def test_jsonl_has_every_score(kept: tuple[Store, Run, turnwise.Result], expected: list[dict[str, Any]]) -> None:
    rows = [json.loads(line) for line in text(kept, "jsonl").splitlines()]
    assert rows == expected
    assert list(rows[0]) == list(COLUMNS)
    # 3 exchanges: for the system and 2 baselines 4 state metrics and the domain; its latency, tokens and cost; intents,
    # acts, acts with slots, policy, correctness and response quality are not measured, which is said once. Per
    # dialogue: memory for all 3, and that task completion is not measured.
    dialogues = {row["item"] for row in rows if row["kind"] == "dialogue"}
    assert len(rows) == 3 * ((4 + 1) * 3 + 3 + 6) + len(dialogues) * (3 + 1)


def test_csv_has_every_score(kept: tuple[Store, Run, turnwise.Result], expected: list[dict[str, Any]]) -> None:
    rows = list(csv.DictReader(io.StringIO(text(kept, "csv"), newline="")))
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert row["value"] == ("" if wanted["value"] is None else str(wanted["value"]))
        for name in JSON:
            assert (json.loads(row[name]) if row[name] else None) == wanted[name]
        assert row["reason"] == (wanted["reason"] or "")
        assert row["signature"] == wanted["signature"]


def test_csv_is_safe_in_a_spreadsheet(kept: tuple[Store, Run, turnwise.Result]) -> None:
    cells = [cell for row in csv.reader(io.StringIO(text(kept, "csv"), newline="")) for cell in row]
    assert "'=cmd()/0" in cells
    assert "'=cmd()" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]


def test_parquet_round_trip(
    kept: tuple[Store, Run, turnwise.Result], expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "scores.parquet"
    write_parquet(kept[0], kept[1], path)
    table = pq.read_table(path)
    assert table.column_names == list(COLUMNS)
    assert table.schema.field("value").type == pa.float64()
    assert table.schema.field("repeat").type == pa.int64()
    assert {table.schema.field(n).type for n in COLUMNS if n not in ("value", "repeat")} == {pa.string()}
    rows = table.to_pylist()
    for row in rows:
        for name in JSON:
            row[name] = None if row[name] is None else json.loads(row[name])
    assert rows == expected


def test_parquet_is_written_group_by_group(
    kept: tuple[Store, Run, turnwise.Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole.parquet", tmp_path / "parts.parquet"
    write_parquet(kept[0], kept[1], whole)
    monkeypatch.setattr(export, "_GROUP", 7)
    write_parquet(kept[0], kept[1], parts)
    metadata = pq.ParquetFile(parts).metadata
    rows = len(kept[2].scores)
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert sizes == [7] * (rows // 7) + [rows % 7] * (rows % 7 > 0)
    assert pq.read_table(parts) == pq.read_table(whole)


def test_parquet_that_is_interrupted_leaves_nothing(
    kept: tuple[Store, Run, turnwise.Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Iterator[dict[str, Any]]:
        yield dict.fromkeys(COLUMNS)
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "stream_scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_parquet(kept[0], kept[1], tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_parquet_of_a_run_without_scores_is_a_table_without_rows(kept: Any, tmp_path: Path, begin_run: Any) -> None:
    path = tmp_path / "empty.parquet"
    write_parquet(kept[0], begin_run(kept[0]), path)
    assert pq.read_table(path).num_rows == 0


def test_parquet_to_a_place_that_cannot_be_written(kept: Any, tmp_path: Path) -> None:
    with pytest.raises(TurnwiseError, match="cannot be written"):
        write_parquet(kept[0], kept[1], tmp_path / "nothing" / "x.parquet")
    with pytest.raises(TurnwiseError, match="cannot be written"):
        write_parquet(kept[0], kept[1], tmp_path)


def test_parquet_without_the_extra(kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TurnwiseError, match="extra that is not installed") as caught:
        write_parquet(kept[0], kept[1], tmp_path / "x.parquet")
    assert caught.value.remedy == 'pip install "turnwise[parquet]"'
    assert list(tmp_path.iterdir()) == []


def test_markdown_tables(kept: Any) -> None:
    written = result_tables(kept[0], kept[1], "markdown", [("city",)])
    title = [line for line in written.splitlines() if line.startswith("**dialogue:")]
    assert len(title) == 1
    # JGA: the area is wrong, something is extra, the third was not submitted.
    assert "| joint_goal_accuracy | - | micro \\* | 0.0000 |" in written.replace("micro * |", "micro \\* |")
    assert "a\\|b_c & 50 %" in written
    signatures = {result["signature"] for result in kept[2].results}
    for signature in signatures:
        assert signature.replace("|", "\\|") in written
    assert kept[1].id in written
    assert kept[1].dataset_fingerprint in written


def test_latex_tables(kept: Any) -> None:
    written = result_tables(kept[0], kept[1], "latex", [("city",)])
    assert written.count(r"\begin{tabular}") == written.count(r"\end{tabular}")
    assert written.count(r"\toprule") == written.count(r"\bottomrule")
    assert r"joint\_goal\_accuracy" in written
    assert r"a\textbar{}b\_c \& 50 \%" in written
    assert r"95 \% interval" in written
    assert r"dialogue/slot\_accuracy\textbar{}v1" in written


def test_tables_have_the_stored_intervals(kept: Any) -> None:
    written = result_tables(kept[0], kept[1], "markdown", [])
    [whole] = [
        r
        for r in kept[2].results
        if r["metric"] == "slot_hallucination" and r["primary"] and not r["group"] and not r["variant"]
    ]
    assert f"| {whole['value']:.4f} | [{whole['low']:.4f}, {whole['high']:.4f}] |" in written
