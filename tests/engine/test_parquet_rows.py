"""Rows of a Parquet file: every type as JSON would have it, any order, a slice at a time; and files that are none."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine import parquet_rows
from turnwise.engine.parquet_rows import ParquetRows, is_parquet
from turnwise.kernel.errors import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAN = float("nan")


def written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def numbered(path: Path, rows: int, **options: Any) -> Path:
    """A file whose row n says so."""
    return written(path, {"n": list(range(rows)), "text": [f"row {n}" for n in range(rows)]}, **options)


def numbers(rows: Any) -> list[int]:
    return [row["n"] for row in rows]


# --- values -------------------------------------------------------------------------------------------------

TEXT, WHOLE, STAMP = pa.string(), pa.int64(), pa.timestamp("ns")
BERLIN = pa.timestamp("ms", "Europe/Berlin")
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "text": (TEXT, "Zürich", "Zürich"),
    "an empty text": (TEXT, "", ""),
    "NULL": (TEXT, None, None),
    "a type without values": (pa.null(), None, None),
    "text in a dictionary": (pa.dictionary(pa.int32(), TEXT), "a", "a"),
    "large text": (pa.large_string(), "a", "a"),
    "whole number": (pa.uint64(), 2**64 - 1, 2**64 - 1),
    "truth": (pa.bool_(), True, True),
    "number": (pa.float64(), 0.1, 0.1),
    "NaN": (pa.float64(), NAN, None),
    "decimal": (pa.decimal128(10, 4), Decimal("0.0312"), 0.0312),
    "decimal without a fraction": (pa.decimal128(38, 0), Decimal(10**30), 10**30),
    "date": (pa.date32(), date(2025, 10, 24), "2025-10-24"),
    "time": (pa.time64("ns"), time(10, 0, 1), "10:00:01"),
    "timestamp": (STAMP, datetime(2025, 10, 24, 10, 0), "2025-10-24 10:00:00"),  # noqa: DTZ001 - it has no zone
    "microseconds": (STAMP, 1_000_001_999, "1970-01-01 00:00:01.000001"),
    "timestamp with a zone": (BERLIN, datetime(2025, 10, 24, 8, 0, tzinfo=UTC), "2025-10-24 08:00:00+00:00"),
    "bytes": (pa.binary(), "Zürich".encode(), "Zürich"),
    "list": (pa.list_(TEXT), ["a", None], ["a", None]),
    "list of numbers": (pa.list_(pa.float32(), 2), [0.5, NAN], [0.5, None]),
    "struct": (pa.struct([("a", TEXT), ("b", WHOLE)]), {"a": "x", "b": None}, {"a": "x"}),
    "struct of NULLs": (pa.struct([("a", TEXT)]), {"a": None}, {}),
    "no struct": (pa.struct([("a", TEXT)]), None, None),
    "struct in a list": (pa.list_(pa.struct([("a", STAMP)])), [{"a": 0}], [{"a": "1970-01-01 00:00:00"}]),
    "map": (pa.map_(TEXT, TEXT), [("a", "x"), ("b", None)], {"a": "x", "b": None}),
    "empty map": (pa.map_(TEXT, TEXT), [], {}),
    "map by time": (
        *(pa.map_(BERLIN, WHOLE), [(datetime(2025, 10, 24, 8, 0, tzinfo=UTC), 1)]),
        {"2025-10-24 08:00:00+00:00": 1},
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_json(tmp_path: Path, name: str) -> None:
    kind, given, expected = VALUES[name]
    rows = ParquetRows(written(tmp_path / "x.parquet", {"value": pa.array([given, None], kind)}))
    assert list(rows.scan()) == [{"value": expected}, {"value": None}]
    assert list(rows.read([1, 0])) == [{"value": None}, {"value": expected}]
    assert [type(row["value"]) for row in rows.read([0])] == [type(expected)]


# --- order and memory ---------------------------------------------------------------------------------------


def test_what_is_known_before_any_row_is_read(tmp_path: Path) -> None:
    rows = ParquetRows(numbered(tmp_path / "x.parquet", 20))
    assert rows.columns == ("n", "text")
    assert len(rows) == 20
    assert rows.where(16) == f"{tmp_path}/x.parquet, row 17"  # the first row is row 1


@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.parametrize("in_vain", [-1, 4])  # -1: copied at once
def test_rows_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, in_vain: int) -> None:
    monkeypatch.setattr(parquet_rows, "SLICE_ROWS", 3)
    monkeypatch.setattr(parquet_rows, "WINDOW", 5)
    monkeypatch.setattr(parquet_rows, "MOST_IN_VAIN", in_vain)
    rows = ParquetRows(numbered(tmp_path / "x.parquet", 100, row_group_size=group))
    assert numbers(rows.scan()) == list(range(100))
    order = random.Random(3).sample(range(100), 100)
    for wanted in (range(100), range(99, -1, -1), order, [5, 5, 99, 0], []):
        assert numbers(rows.read(wanted)) == list(wanted)
    assert [row["text"] for row in rows.read([42, 7])] == ["row 42", "row 7"]


def test_rows_can_be_read_while_the_file_is_gone_through(tmp_path: Path) -> None:
    rows = ParquetRows(numbered(tmp_path / "x.parquet", 30, row_group_size=10))
    seen = []
    for row in rows.scan():
        seen += [row["n"], *numbers(rows.read([29 - row["n"]]))]
    assert seen == [n for pair in zip(range(30), range(29, -1, -1), strict=True) for n in pair]


def decoded_rows(rows: ParquetRows, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the slices that are decoded from now on."""
    sizes: list[int] = []
    slices = rows.slices

    def counted(file: Any, group: int) -> Any:
        for batch in slices(file, group):
            sizes.append(len(batch))
            yield batch

    monkeypatch.setattr(rows, "slices", counted)
    return sizes


def test_going_on_decodes_every_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "SLICE_ROWS", 64)
    rows = ParquetRows(numbered(tmp_path / "x.parquet", 1000))  # one row group
    sizes = decoded_rows(rows, monkeypatch)
    for first in range(0, 1000, 10):
        assert numbers(rows.read(range(first, first + 10))) == list(range(first, first + 10))
    assert sum(sizes) == 1000
    assert max(sizes) == 64


def test_no_order_costs_a_bounded_number_of_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "SLICE_ROWS", 10)
    rows = ParquetRows(numbered(tmp_path / "x.parquet", 500))
    sizes = decoded_rows(rows, monkeypatch)
    order = random.Random(3).sample(range(500), 500)
    assert [number for row in order for number in numbers(rows.read([row]))] == order
    # 4 x 500 rows in vain are allowed, the last of which may be another 500; then 500 are copied. Without the copy
    # it would be about 250 for each of the 500 rows.
    used = 500
    assert sum(sizes) <= 4 * 500 + 500 + 500 + used


def test_long_texts_make_short_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{n:05d}" * 20_000 for n in range(200)]  # 100,000 characters each
    path = written(tmp_path / "x.parquet", {"text": texts}, compression="none", use_dictionary=False)
    rows = ParquetRows(path)
    sizes = decoded_rows(rows, monkeypatch)
    assert [row["text"][:5] for row in rows.scan()] == [f"{n:05d}" for n in range(200)]
    assert max(sizes) <= 4 * 2**20 // 100_000  # 4 MB: 41 rows


def test_a_text_that_is_stored_once_is_decoded_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "x.parquet", {"text": ["all the same " * 1000] * 2000})  # 13,000 characters each
    assert path.stat().st_size < 100_000
    rows = ParquetRows(path)
    sizes = decoded_rows(rows, monkeypatch)
    assert sum(1 for _ in rows.scan()) == 2000
    assert max(sizes) <= 4 * 2**20 // 13_000  # 4 MB: 322 rows


def test_views_of_texts_are_read_in_any_order(tmp_path: Path) -> None:
    texts = pa.array([f"row {n}" for n in range(50)], pa.string_view())
    pq.write_table(pa.table({"text": texts}), tmp_path / "x.parquet")
    found = ParquetRows(tmp_path / "x.parquet").read([40, 3, 4, 40])
    assert [row["text"] for row in found] == ["row 40", "row 3", "row 4", "row 40"]


def test_a_file_is_known_by_its_name_or_its_beginning(tmp_path: Path) -> None:
    plain = tmp_path / "x.csv"
    plain.write_text("PAR,1\n", encoding="utf-8")
    assert not is_parquet(plain)
    assert is_parquet(numbered(tmp_path / "table", 1))
    assert is_parquet(tmp_path / "not there.PARQUET")


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    rows = ParquetRows(written(tmp_path / "x.parquet", {"a": pa.array([], pa.string())}))
    assert len(rows) == 0
    assert list(rows.scan()) == []


# --- what cannot be read ------------------------------------------------------------------------------------


def refused(make: Callable[[], Any], *words: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message


def test_files_that_are_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    refused(lambda: ParquetRows(path), "cannot be read", "No such file")
    for content in (b"", b"PAR1", b"PAR1PAR1", b"id,text\n1,a\n", os.urandom(1000)):
        path.write_bytes(content)
        refused(lambda: ParquetRows(path), "damaged", str(path), "fetch it again")


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    path = numbered(tmp_path / "x.parquet", 1000)
    path.write_bytes(path.read_bytes()[:-1])
    refused(lambda: ParquetRows(path), "damaged")


def test_a_file_with_a_hole(tmp_path: Path) -> None:
    path = numbered(tmp_path / "x.parquet", 50_000, use_dictionary=False, compression="none")
    whole = path.read_bytes()
    path.write_bytes(whole[:20_000] + bytes(200_000) + whole[220_000:])
    refused(lambda: list(ParquetRows(path).scan()), "damaged", str(path))


def test_a_folder_of_parts(tmp_path: Path) -> None:
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    refused(lambda: ParquetRows(folder), "not a regular file", "a folder")


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = numbered(tmp_path / "x.parquet", 10)
    rows = ParquetRows(path)
    numbered(path, 11)
    refused(lambda: list(rows.scan()), "changed while it was being read")
    refused(lambda: list(rows.read([0])), "changed while it was being read")


def test_a_column_that_is_missing_or_there_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", {"sesion_id": ["a"]})
    refused(lambda: ParquetRows(path).require("session_id"), "'session_id' is missing", "sesion_id")
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), path)
    refused(lambda: ParquetRows(path), "twice", "a")


def test_types_without_a_form_in_json(tmp_path: Path) -> None:
    path, second = tmp_path / "x.parquet", timedelta(seconds=1)
    for given in (second, [second], {"a": second}):
        written(path, {"took": [given]})
        refused(lambda: ParquetRows(path), "'took'", "duration", "as a number")


def test_cells_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", {"picture": [b"ab", b"cd", b"\xff\xd8"]})
    for read in (lambda: list(ParquetRows(path).scan()), lambda: list(ParquetRows(path).read([0, 2]))):
        refused(read, "'picture'", f"{path}, row 3")
    twice = pa.array([[("a", "x"), ("a", "y")]], pa.map_(pa.string(), pa.string()))
    path = written(path, {"state": twice})
    refused(lambda: list(ParquetRows(path).scan()), "'state'", "row 1", "stands twice")


def test_a_year_that_python_does_not_have(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", {"at": pa.array([0, 2**62], pa.timestamp("us"))})
    refused(lambda: list(ParquetRows(path).scan()), "'at'", "row 2")


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = numbered(tmp_path / "x.parquet", 1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(lambda: ParquetRows(path), "need pyarrow", str(path), 'pip install "turnwise[parquet]"')
