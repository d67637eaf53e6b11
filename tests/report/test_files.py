"""Files beside a run: whole or not at all, and CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

from turnwise.kernel.errors import TurnwiseError, UsageError
from turnwise.report.files import describe_files, make_folder, safe_cell, whole_file, write_csv, write_json


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")'])
def test_text_that_looks_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["north", "", "5", "a=b", "'quoted", " -", 5, -5, -0.5, None, True])
def test_everything_else_stays(cell: object) -> None:
    assert safe_cell(cell) == cell


def test_csv_round_trip(tmp_path: Path) -> None:
    odd = ['say "hi"', "a,b", "two\nlines", "carriage\rreturn", "both\r\n", "🙂", "NUL\u0000", "semi;colon", ""]
    path = write_csv(tmp_path / "x.csv", ["name", "value"], [[text, None] for text in odd] + [["=1+1", -0.5]])
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["name", "value"], *([text, ""] for text in odd), ["'=1+1", "-0.5"]]


def test_none_is_an_empty_cell_and_numbers_stay_numbers(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", ["a", "b", "c", "d"], [[None, -1, 0.1, 1e-7]])
    assert path.read_text(encoding="utf-8") == "a,b,c,d\n,-1,0.1,1e-07\n"


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old", encoding="utf-8")

    def fail() -> None:
        with whole_file(path) as file:
            file.write("new")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    with whole_file(path) as file:
        file.write("new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.txt"]


@pytest.mark.parametrize("place", ["nothing/x.json", "file/x.json", "folder"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TurnwiseError, match=f"{place} cannot be written") as caught:
        write_json(tmp_path / place, {})
    assert caught.value.found
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_json_is_utf8_and_refuses_nan(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", {"city": "Zürich", "n": [1, 0.5, None]})
    assert json.loads(path.read_bytes()) == {"city": "Zürich", "n": [1, 0.5, None]}
    assert "Zürich" in path.read_text(encoding="utf-8")
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            write_json(path, {"n": number})
    assert json.loads(path.read_bytes())["n"] == [1, 0.5, None]  # the old file is still there


def test_make_folder(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "sub"):
        with pytest.raises(UsageError, match=r"--out .* cannot be a folder") as caught:
            make_folder(place)
        assert caught.value.exit_code == 2


def test_files_are_described_for_the_store(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\n")
    sha256 = hashlib.sha256(b"a\n").hexdigest()
    assert describe_files(tmp_path, [path]) == [("x.csv", str(path.resolve()), sha256, 2)]
