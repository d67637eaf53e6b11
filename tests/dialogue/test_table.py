"""Exchanges in a table, CSV or Parquet: the same as in JSONL, and what cannot be meant is refused with its place."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.dialogue.formats import streamed
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import ActSlot, Exchange, Goal
from turnwise.kernel.errors import InputError, UsageError

EXAMPLES = Path(__file__).parents[2] / "examples" / "dialogue"
FACTS = ("what", "where", "found", "expected", "remedy")
Row = dict[str, Any]


def example(side: str) -> list[Row]:
    return [json.loads(line) for line in (EXAMPLES / f"{side}.jsonl").read_text(encoding="utf-8").splitlines()]


def columns_of(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def as_csv(path: Path, rows: Sequence[Row], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns_of(rows))
        for row in rows:
            cells = (row.get(name, "") for name in columns_of(rows))
            writer.writerow([json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells])
    return path


def as_tsv(path: Path, rows: Sequence[Row]) -> Path:
    return as_csv(path.with_suffix(".tsv"), rows, "\t")


def as_parquet(path: Path, rows: Sequence[Row], group: int | None = None) -> Path:
    """Nested columns, as pyarrow makes them: a struct has every slot in every row."""
    pa = pytest.importorskip("pyarrow")
    columns = {name: [row.get(name) for row in rows] for name in columns_of(rows)}
    for name, cells in columns.items():
        try:
            pa.array(cells)
        except pa.ArrowInvalid:  # a text here and a list there, for which Arrow has no type
            columns[name] = [cell if cell is None else json.dumps(cell) for cell in cells]
    path = path.with_suffix(".parquet")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path, row_group_size=group)
    return path


def as_parquet_texts(path: Path, rows: Sequence[Row]) -> Path:
    """JSON text where something is nested, some of it empty."""
    texts = [
        {name: json.dumps(cell) if isinstance(cell, list | dict) else cell for name, cell in row.items()}
        for row in rows
    ]
    return as_parquet(path, [{"state": "", "metadata": "null"} | row for row in texts])


WRITERS = {"csv": as_csv, "tsv": as_tsv, "parquet": as_parquet, "json in parquet": as_parquet_texts}


def every(dialogues: Dialogues) -> list[list[Exchange]]:
    return list(dialogues.at(range(len(dialogues.facts))))


# --- the same as JSONL --------------------------------------------------------------------------------------


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("side", ["references", "predictions"])
def test_a_table_has_the_exchanges_of_the_lines(tmp_path: Path, writer: str, side: str) -> None:
    rows = example(side)
    table = read_dialogues(WRITERS[writer](tmp_path / "table.csv", rows))
    lines = read_dialogues(EXAMPLES / f"{side}.jsonl")
    assert table.format == {"tsv": "csv", "json in parquet": "parquet"}.get(writer, writer)
    assert every(table) == every(lines)
    assert list(table.ids()) == list(lines.ids())
    assert table.tally == lines.tally
    for name in ("exchanges", "turns", "with_ids", "several_states", "empty", "constant"):
        assert (getattr(table.facts, name) == getattr(lines.facts, name)).all()


@pytest.mark.parametrize("writer", ["csv", "parquet"])
def test_a_run_on_tables_has_the_results_of_a_run_on_lines(tmp_path: Path, writer: str) -> None:
    lines = {side: EXAMPLES / f"{side}.jsonl" for side in ("references", "predictions")}
    tables = {side: WRITERS[writer](tmp_path / f"{side}.csv", example(side)) for side in lines}
    expected, found = (turnwise.evaluate(sides, by="scenario") for sides in (lines, tables))
    assert found.results == expected.results
    assert found.summary["run"]["findings"] == expected.summary["run"]["findings"]


def test_every_kind_of_cell(tmp_path: Path) -> None:
    header = "dialogue_id;turn_id;user;response;domain;intents;acts;spans;state;goal;reward;latency_ms;booked;site"
    cells = [
        *("7", "1", "=1+1", "", "hotel", '["find_hotel"]', "Hotel-Inform(area=north)"),
        '"[[""hotel-area"", ""north""]]"',
        '"{""hotel"": {""area"": [""north"", ""n""]}}"',
        '"{""hotel"": {""info"": {""area"": ""north""}}}"',
        *("0.5", " 120 ", "[]", "north"),
    ]
    path = tmp_path / "table.txt"  # known by its header
    path.write_text(f"\ufeff{header}\n{';'.join(cells)}\n", encoding="utf-8")
    ((exchange,),) = every(read_dialogues(path))
    assert exchange == Exchange(
        dialogue_id="7",
        turn_id="1",
        user="=1+1",
        response=None,
        domains=("hotel",),
        intents=("find_hotel",),
        acts=("Hotel-Inform",),
        act_slots=(ActSlot("Hotel-Inform", "area", "north"),),
        spans=(("hotel-area", "north"),),
        state={"hotel-area": ["north", "n"]},
        goal={"hotel": Goal({"area": "north"}, (), None)},
        rewards=(0.5,),
        operations={"latency_ms": 120.0},
        booked=(),
        metadata={"site": "north"},
    )


def test_an_empty_text_is_one_in_parquet_and_none_in_csv(tmp_path: Path) -> None:
    rows = [{"dialogue_id": "a", "response": ""}, {"dialogue_id": "b", "response": None}]
    assert [one.response for (one,) in every(read_dialogues(as_parquet(tmp_path / "x", rows)))] == ["", None]
    assert [one.response for (one,) in every(read_dialogues(as_csv(tmp_path / "x.csv", rows)))] == [None, None]


def test_states_in_maps_and_structs(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    states = pa.array([[("hotel-area", "north")], [], None], pa.map_(pa.string(), pa.string()))
    path = tmp_path / "maps.parquet"
    table = pa.table({"dialogue_id": ["a", "b", "c"], "state": states})
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    assert [one.state for (one,) in every(read_dialogues(path))] == [{"hotel-area": "north"}, {}, None]
    rows = [{"dialogue_id": "a", "state": {"hotel-area": "north"}}, {"dialogue_id": "b", "state": {"taxi-day": None}}]
    assert [one.state for (one,) in every(read_dialogues(as_parquet(path, rows)))] == [{"hotel-area": "north"}, {}]


@pytest.mark.parametrize("writer", ["csv", "parquet"])
@pytest.mark.parametrize("most_open", [1, 1000])
def test_dialogues_whose_rows_are_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, most_open: int
) -> None:
    monkeypatch.setattr(streamed, "MOST_OPEN", most_open)
    rows = [{"dialogue_id": "abcd"[n % 4], "turn_id": n, "user": f"text {n}"} for n in range(16)]
    path = as_csv(tmp_path / "x.csv", rows) if writer == "csv" else as_parquet(tmp_path / "x", rows, group=5)
    dialogues = read_dialogues(path)
    assert list(dialogues.ids()) == ["a", "b", "c", "d"]
    assert list(dialogues.ids([3, 1])) == ["d", "b"]
    assert [exchange.user for exchange in dialogues.exchanges("b")] == ["text 1", "text 5", "text 9", "text 13"]
    both = [[exchange.turn_id for exchange in exchanges] for exchanges in dialogues.at([3, 0])]
    assert both == [["3", "7", "11", "15"], ["0", "4", "8", "12"]]


# --- what cannot be read ------------------------------------------------------------------------------------


def refused(make: Callable[[], Any], path: Path, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert [fact for fact in FACTS if not getattr(caught.value, fact)] == []
    assert str(path) in caught.value.message
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message


WRONG = {
    "a state that is no JSON": ("state", "{'hotel-area': 'north'}", ("not JSON", "json.dumps")),
    "a state that is text": ("state", "north", ("'state'", "not JSON")),
    "a state that is a list": ("state", "[1]", ("'state'", "wrong type")),
    "a list that is cut off": ("intents", '["find_hotel', ("'intents'", "not JSON")),
    "a cost with a comma": ("cost", "0,5", ("'cost'", "a number")),
    "a latency that is text": ("latency_ms", "fast", ("'latency_ms'", "fast")),
    "a latency below 0": ("latency_ms", "-1", ("'latency_ms'", "out of range")),
    "an unknown action": ("action", "fly", ("'action'", "fly")),
    "no dialogue": ("dialogue_id", "", ("'dialogue_id'",)),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("writer", ["csv", "parquet"])
def test_cells_of_the_wrong_kind_are_named(tmp_path: Path, writer: str, name: str) -> None:
    field, cell, words = WRONG[name]
    rows = [{"dialogue_id": str(n), "state": "{}"} for n in range(3)]
    rows[2][field] = cell
    path = WRITERS[writer](tmp_path / "x.csv", rows)
    place = f"{path}, line 4" if writer == "csv" else f"{path}, row 3"  # the header is line 1
    refused(lambda: read_dialogues(path), path, place, *words)


@pytest.mark.parametrize("writer", ["csv", "parquet"])
def test_tables_that_are_none(tmp_path: Path, writer: str) -> None:
    write = WRITERS[writer]
    path = write(tmp_path / "x.csv", [{"dialog_id": "a", "turn_id": 1}])
    refused(lambda: read_dialogues(path), path, "'dialogue_id' is missing", "dialog_id")
    path = write(tmp_path / "x.csv", [{"dialogue_id": "a", "turn_id": 1}, {"dialogue_id": "a", "turn_id": 1}])
    refused(lambda: read_dialogues(path), path, "twice", "line 3" if writer == "csv" else "row 2")
    path = write(tmp_path / "x.csv", [{"dialogue_id": "a", "turn_id": 1}, {"dialogue_id": "a"}])
    refused(lambda: read_dialogues(path), path, "some exchanges have a turn_id")


def test_files_with_nothing_in_them(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for name in ("x.csv", "x.parquet"):
        path = tmp_path / name
        path.write_bytes(b"")
        with pytest.raises(InputError, match=r"no header|damaged"):
            read_dialogues(path)
    header = tmp_path / "x.csv"
    header.write_text("dialogue_id,turn_id\n", encoding="utf-8")
    refused(lambda: read_dialogues(header), header, "no exchange")
    rows = tmp_path / "x.parquet"
    schema = pa.schema([("dialogue_id", pa.string())])
    pytest.importorskip("pyarrow.parquet").write_table(schema.empty_table(), rows)
    refused(lambda: read_dialogues(rows), rows, "no exchange")


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    path = as_parquet(tmp_path / "x", example("references"))
    path.write_bytes(path.read_bytes()[:-10])
    refused(lambda: read_dialogues(path), path, "damaged", "fetch it again")
    table = as_csv(tmp_path / "x.csv", example("references"))
    table.write_bytes(table.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"line \d+"):
        read_dialogues(table)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts.parquet"
    folder.mkdir()
    for form in (None, "parquet", "csv"):
        with pytest.raises(InputError, match=r"parts\.parquet"):
            read_dialogues(folder, form)


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "x.csv", [{"dialogue_id": "a", "turn_id": 1}])
    dialogues = read_dialogues(path)
    as_csv(path, [{"dialogue_id": "abc", "turn_id": 1}])
    with pytest.raises(InputError, match="changed"):
        every(dialogues)


def test_formats_can_be_named(tmp_path: Path) -> None:
    rows = [{"dialogue_id": "a", "turns": "x"}]  # a column that whole dialogues have, too
    path = as_parquet(tmp_path / "x", rows)
    ((exchange,),) = every(read_dialogues(path, "parquet"))
    assert exchange.metadata == {"turns": "x"}
    plain = as_csv(tmp_path / "x.txt", rows)
    assert read_dialogues(plain, "csv").format == "csv"
    with pytest.raises(UsageError, match="parquet"):
        read_dialogues(path, "parket")
