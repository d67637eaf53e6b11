"""Rows that cannot be read: which line it is, what stands there, and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue.formats.jsonl import JsonlDialogues
from turnwise.engine.json_lines import JsonLines
from turnwise.engine.table import Table
from turnwise.engine.text_lines import opened
from turnwise.kernel.errors import InputError
from turnwise.kernel.filenames import absolute


def refused(make: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        make()
    return caught.value


GOOD = '{"dialogue_id": "d", "turn_id": 1, "user": "u"}'


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ('{"dialogue_id": "d", "turn_id": 2', 34, "behind"),  # no bracket at the end
        ('{"dialogue_id": "d", "tur', 26, "behind"),
        ('{"dialogue_id": "d", "turn_id": NaN}', 33, "at 'NaN}'"),
    ],
)
def test_a_broken_line_in_the_middle_is_that_line(tmp_path: Path, line: str, column: int, found: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([GOOD, line, GOOD.replace("1", "3")]) + "\n")
    for make in (lambda: list(JsonLines(path).scan()), lambda: JsonlDialogues(path)):
        error = refused(make)
        assert error.what == "the line is not JSON"
        assert error.where == f"{path}, line 2, column {column}"
        assert found in str(error.found)
        assert error.remedy == "write the file with a JSON library; NaN and Infinity are not JSON"


def test_a_last_line_without_an_end_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(GOOD + "\n" + GOOD[:-5])
    error = refused(lambda: JsonlDialogues(path))
    assert error.what == "the file ends in the middle of a JSON value"
    assert str(error.where).startswith(f"{path}, line 2")


def test_a_mark_in_the_middle_of_a_table_is_refused(tmp_path: Path) -> None:
    """Else an id with an invisible character is another id."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xef\xbb\xbfid,text\nx1,a\n\xef\xbb\xbfx1,b\n")
    error = refused(lambda: list(Table(path).scan()))
    assert (error.what, error.where) == ("a byte order mark stands in the middle of the table", f"{path}, line 3")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (gzip.compress(b"id,text\n", mtime=0), "gunzip"),
        ("id,text\n".encode("utf-16"), "utf-16"),
        ("id,té\n".encode("latin-1"), "latin1"),
    ],
    ids=["gzip", "utf-16", "latin-1"],
)
def test_what_is_not_utf_8_is_called_what_it_is(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert word in str(refused(lambda: Table(path)).remedy)


def test_links_in_a_circle_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "loop.jsonl"
    path.symlink_to(path)
    assert absolute(path) == path
    assert refused(lambda: opened(absolute(path))).what == f"{path} cannot be read"
