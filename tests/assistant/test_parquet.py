"""Turns in a Parquet file: the same as the same turns in JSONL, and what cannot be meant is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.profile import built_in
from turnwise.assistant.read import open_rows
from turnwise.assistant.records import Chunk, Turn
from turnwise.kernel.errors import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EXAMPLES = Path(__file__).parents[2] / "examples" / "assistant"
TURN = {"session_id": "abc-123", "turn": 1, "query": "q", "response": "r", "version": "v"}
Row = dict[str, Any]


def example() -> list[Row]:
    return [json.loads(line) for line in (EXAMPLES / "turns.jsonl").read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: Sequence[Row], group: int | None = None) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    pq.write_table(table, path, row_group_size=group)
    return path


def source(data: Any) -> AssistantSource:
    return AssistantSource(open_rows(data), built_in("hr"))


def turns(data: Any) -> list[Turn]:
    return [turn for batch in source(data).batches() for turn in batch.turns]


@pytest.mark.parametrize("chunks_as_text", [False, True])
def test_a_table_has_the_turns_of_the_lines(tmp_path: Path, chunks_as_text: bool) -> None:
    rows = example()
    if chunks_as_text:
        rows = [{**row, "chunks": json.dumps(row["chunks"]) if "chunks" in row else None} for row in rows]
    path = written(tmp_path / "turns.parquet", rows, group=7)
    table, lines = source(path), source(EXAMPLES / "turns.jsonl")
    assert turns(path) == turns(EXAMPLES / "turns.jsonl")
    assert table.dataset_fingerprint == lines.dataset_fingerprint
    assert table.findings == lines.findings
    assert table.fields == lines.fields


def test_a_run_on_a_table_has_the_results_of_a_run_on_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "turns", example())  # known by its beginning
    found, expected = (
        turnwise.evaluate({"turns": data}, suite="assistant", by="scenario")
        for data in (path, EXAMPLES / "turns.jsonl")
    )
    assert found.results == expected.results


def test_sessions_whose_turns_are_mixed(tmp_path: Path) -> None:
    rows = [{**TURN, "session_id": f"s{n % 3}", "turn": n // 3 + 1, "response": f"reply {n}"} for n in range(12)]
    found = turns(written(tmp_path / "x.parquet", rows, group=5))
    assert [turn.response for turn in found if turn.session_id == "s1"] == ["reply 1", "reply 4", "reply 7", "reply 10"]


def test_types_of_a_table(tmp_path: Path) -> None:
    at = datetime(2025, 10, 24, 10, 0)  # noqa: DTZ001 - a table may know no zone
    row = {**TURN, "timestamp": at, "is_first_response": True, "cost": float("nan"), "tokens": 12, "site": "north"}
    row["chunks"] = [{"title": "A", "text": "t", "similarity": 0.5}, {"title": None, "text": "u", "similarity": None}]
    (turn,) = turns(written(tmp_path / "x.parquet", [row]))
    assert turn.timestamp == "2025-10-24 10:00:00"
    assert turn.chunks == (Chunk("t", "A", 0.5), Chunk("u"))
    assert (turn.is_first_response, turn.cost, turn.tokens, turn.metadata) == (True, None, 12.0, {"site": "north"})


def test_nothing_retrieved_is_not_the_same_as_nothing_known(tmp_path: Path) -> None:
    rows = [{**TURN, "turn": 1, "chunks": []}, {**TURN, "turn": 2, "chunks": None}, {**TURN, "turn": 3, "response": ""}]
    first, second, third = turns(written(tmp_path / "x.parquet", rows))
    assert (first.chunks, second.chunks) == ((), None)
    assert third.response == ""


def refused(path: Path, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        turns(path)
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message


def test_what_cannot_be_meant(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    refused(written(path, [{"sesion_id": "a", "turn": 1}]), "'session_id' is missing", "sesion_id")
    refused(written(path, [{"session_id": "a"}]), "'turn' is missing")
    refused(written(path, [TURN, {**TURN, "turn": None}]), "turn is missing", f"{path}, row 2")
    refused(written(path, [TURN, TURN]), "two turns number 1", f"{path}, row 2", f"{path}, row 1")
    refused(written(path, [{**TURN, "turn": 1.5}]), "not a number of a turn", "row 1")
    refused(written(path, [{**TURN, "response": 5}]), "response is not a text", "row 1")
    refused(written(path, [{**TURN, "chunks": "[{"}]), "chunks is not a list", "row 1")
    pq.write_table(pa.schema([("session_id", pa.string()), ("turn", pa.int64())]).empty_table(), path)
    refused(path, "there is no turn")


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    refused(path, "damaged")
    whole = written(path, example()).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, "damaged", str(path))
    path.unlink()
    path.mkdir()
    refused(path, "a folder")
