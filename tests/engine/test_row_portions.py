"""Rows of a file in blocks and portions: the same rows, at the same places, whoever reads them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from turnwise.engine import json_lines
from turnwise.engine.json_lines import JsonLines
from turnwise.engine.rows import RowFile
from turnwise.engine.table import Table
from turnwise.kernel.errors import InputError

RECORDS = [{"id": n, "text": text * n} for n, text in enumerate(["", "né", "x\n", "日本", "y" * 200, "z"])]


@pytest.fixture(params=["plain", "awkward"])
def lines(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The records, one per line; awkwardly: a byte order mark, blank lines, line ends of Windows, none at the end."""
    path = tmp_path / "records.jsonl"
    texts = [json.dumps(record, ensure_ascii=False) for record in RECORDS]
    if request.param == "plain":
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    else:
        path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(texts).encode())
    return path


@pytest.mark.parametrize("size", [1, 30, 300, 1 << 20])
def test_blocks_hold_every_row_once(lines: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", size)
    whole = JsonLines(lines)
    assert list(whole.scan()) == RECORDS
    apart = JsonLines(lines)
    blocks = apart.blocks()
    assert sum(block.length for block in blocks) == lines.stat().st_size
    assert (len(blocks) == 1) == (size > 300)
    found = []
    for block in blocks:
        own = pickle.loads(pickle.dumps(apart))
        found += list(own.scan_block(block))
        apart.add_places(own.places)
    assert found == RECORDS
    assert [apart.where(n) for n in range(6)] == [whole.where(n) for n in range(6)]
    assert list(apart.read([4, 0, 1])) == [RECORDS[n] for n in (4, 0, 1)]
    assert list(apart.portion([5, 0])) == [(whole.where(5), RECORDS[5]), (whole.where(0), RECORDS[0])]


def test_a_mistake_in_a_block_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"id": 1}\n\n{"id": 2}\n{"id": 3\n')
    monkeypatch.setattr(json_lines, "BLOCK", 1)
    rows = JsonLines(path)
    *first, last = rows.blocks()
    assert [row for block in first for row in rows.scan_block(block)] == [{"id": 1}, {"id": 2}]
    with pytest.raises(InputError, match="not JSON") as caught:
        list(rows.scan_block(rows.numbered(last)))
    assert caught.value.where == f"{path}, line 4, column 9"


def table(folder: Path) -> Table:
    path = folder / "records.csv"
    path.write_text('id,text\n1,plain\n\n2,"two\nlines"\n3,last', encoding="utf-8")
    return Table(path, ("id", "text"))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("chosen", [[0, 1, 2], [2, 0], [1], []])
def test_a_portion_gives_its_rows_with_their_places(tmp_path: Path, chosen: list[int], whole: bool) -> None:
    rows: RowFile = table(tmp_path)
    expected = [{"id": "1", "text": "plain"}, {"id": "2", "text": "two\nlines"}, {"id": "3", "text": "last"}]
    assert list(rows.scan()) == expected
    portion = pickle.loads(pickle.dumps(rows.portion(chosen, whole=whole)))
    if whole:
        (tmp_path / "records.csv").unlink()  # whoever has the text needs no file
    places = [f"{tmp_path / 'records.csv'}, line {line}" for line in (2, 4, 6)]
    assert list(portion) == [(places[n], expected[n]) for n in chosen]
    assert list(portion) == list(portion)
    assert len(portion) == len(chosen)


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    rows = table(tmp_path)
    list(rows.scan())
    rows.path.write_text("id,text\n1,other\n")
    with pytest.raises(InputError, match="changed while it was being read"):
        rows.portion([0])


def test_a_file_that_changed_on_the_way_is_refused(tmp_path: Path) -> None:
    rows = table(tmp_path)
    list(rows.scan())
    portion = rows.portion([0, 2])
    rows.path.write_text("id,text\n1,other\n")
    with pytest.raises(InputError, match="changed while it was being read"):
        list(portion)
