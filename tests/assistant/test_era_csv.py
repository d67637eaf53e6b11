"""The document's CSV export: its header, formulas that are none, newlines, and reading it again with four readers."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.assistant.database import FIVE, SHORT, rate, row, run
from turnwise.assistant.era_csv import era_line, write_era_csv, write_era_folder
from turnwise.assistant.load import AssistantSource
from turnwise.assistant.outcomes import TurnOutcome
from turnwise.assistant.profile import built_in
from turnwise.assistant.read import cell_text, open_rows
from turnwise.assistant.records import Turn
from turnwise.kernel.jsontext import clean
from turnwise.store.store import Store

HEADER = (
    "Turn,User Message,ERA Response,Improvement Notes,Category,Objective Score,Subjective Score,Overall Score,Timestamp"
)
"""As the document prints it."""
TEXTS = [
    "=1+1",
    '=HYPERLINK("http://example.org","x")',
    "+49 30 1234",
    "-2+3",
    "- be warmer\n- be shorter",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "'=1+1",
    "''=1+1",
    "'quoted' at the start",
    'one, "two"\nthree\r\nfour; five',
    "ends with a break\n",
    "Grüße — 電話してください 👩‍👩‍👧",
    "007",
    "1e5",
    "2025-10-24",
    "TRUE",
    " spaces ",
    "a,b",
    '"',
]
"""What people and assistants write, as far as it can hurt a table."""


def exported(db: str, data: Any, **options: Any) -> str:
    kept = run(data, db, **options)
    store = Store(db)
    file = io.StringIO(newline="")
    write_era_csv(store, kept, file)
    store.close()
    return file.getvalue()


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def read_back(path: Path) -> list[Turn]:
    source = AssistantSource(open_rows(path), built_in("hr"))
    return [turn for batch in source.batches() for turn in batch.turns]


# --- what is written ----------------------------------------------------------------------------------------


def test_header_and_columns_are_the_document_s(sqlite_path: str) -> None:
    """Objective 3/5; rated 23/25 = 0.92; overall 0.4 * 0.6 + 0.6 * 0.92 = 0.792."""
    turn = row(
        "abc-123",
        1,
        query="My employee didn't show up",
        improvement_notes="Should ask clarifying questions",
        category="content",
        timestamp="2025-10-24 10:00:00",
    )
    kept = run([turn], sqlite_path)
    store = Store(sqlite_path)
    rate(store, kept, "abc-123#1", FIVE)
    file = io.StringIO(newline="")
    assert write_era_csv(store, kept, file) == 1
    store.close()
    assert file.getvalue().split("\n")[0] == HEADER
    assert file.getvalue().split("\n")[1].startswith('1,"My employee didn\'t show up","Got it. Per our')
    ((*said, objective, subjective, overall, when),) = cells(file.getvalue())[1:]
    assert said == ["1", turn["query"], turn["response"], turn["improvement_notes"], "content"]
    assert [float(one) for one in (objective, subjective, overall)] == pytest.approx([0.6, 0.92, 0.792])
    assert when == "2025-10-24 10:00:00"


def test_what_is_missing_is_empty_and_never_zero(sqlite_path: str) -> None:
    text = exported(sqlite_path, [row("s", 1), row("s", 2, None), row("s", 3, SHORT)])
    _, first, second, third = cells(text)
    assert first[6:] == ["", "", ""]
    assert second == ["2", "What now?", "", "", "", "", "", "", ""]
    assert float(third[5]) == pytest.approx(0.2)


@pytest.mark.parametrize("text", TEXTS)
def test_no_cell_is_a_formula(sqlite_path: str, text: str) -> None:
    cell = cells(exported(sqlite_path, [row("s", 1, text)]))[1][2]
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell.endswith(text)


def test_every_text_column_is_made_safe(sqlite_path: str) -> None:
    bad = {"query": "=1", "improvement_notes": "-1", "category": "@a", "timestamp": "+1"}
    assert cells(exported(sqlite_path, [row("s", 1, "=2", **bad)]))[1][1:5] == ["'=1", "'=2", "'-1", "'@a"]
    assert cells(exported(sqlite_path, [row("s", 1, "=2", **bad)]))[1][8] == "'+1"


# --- reading it again ---------------------------------------------------------------------------------------


def test_the_room_reads_back_what_it_wrote(sqlite_path: str, tmp_path: Path) -> None:
    given_turns = [row("s", number, text, improvement_notes=text) for number, text in enumerate(TEXTS, 1)]
    path = tmp_path / "s.csv"
    path.write_bytes(exported(sqlite_path, given_turns).encode())
    found = read_back(path)
    assert [turn.response for turn in found] == TEXTS
    assert [turn.improvement_notes for turn in found] == TEXTS
    assert {turn.session_id for turn in found} == {"s"}


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1))
def test_any_text_comes_back(text: str) -> None:
    """A text is written and read as a cell; what no database can hold was replaced before."""
    text = clean(text)
    outcome = TurnOutcome(
        number=0,
        id="s#1",
        session_id="s",
        version="",
        scenario="",
        content={"turn": 1, "response": text},
        values={},
        missing={},
    )
    ((_, _, cell, *_),) = cells(era_line(outcome))
    assert cell_text(cell) == text


def test_a_file_per_session(sqlite_path: str, tmp_path: Path) -> None:
    names = ("abc-123", "a/b", "..", "Grüße", "100%")
    kept = run([row(name, turn) for turn in (2, 1) for name in names], sqlite_path)
    store = Store(sqlite_path)
    paths = write_era_folder(store, kept, tmp_path)
    store.close()
    assert [path.name for path in paths] == [
        "abc-123.csv",
        "a%2Fb.csv",
        "%2E..csv",
        "Gr%C3%BC%C3%9Fe.csv",
        "100%25.csv",
    ]
    for path in paths:
        assert [turn.turn for turn in read_back(path)] == [1, 2]


# --- other programs -----------------------------------------------------------------------------------------


def test_another_reader_sees_the_same_cells(sqlite_path: str) -> None:
    """Arrow's reader is in C++ and knows nothing of Python's."""
    text = exported(sqlite_path, [row("s", number, one) for number, one in enumerate(TEXTS, 1)])
    options = pyarrow.csv.ConvertOptions(column_types={"ERA Response": pyarrow.string()}, strings_can_be_null=False)
    table = pyarrow.csv.read_csv(
        io.BytesIO(text.encode()),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )
    assert table.column_names == HEADER.split(",")
    assert table["ERA Response"].to_pylist() == [one[2] for one in cells(text)[1:]]


SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")


@pytest.mark.skipif(SOFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_opens_and_saves_it(sqlite_path: str, tmp_path: Path) -> None:
    """Into a spreadsheet and out again: the same texts, and nothing was calculated.

    It writes every line break within a cell as \\n, as it does when somebody types one.
    """
    path = tmp_path / "s.csv"
    path.write_bytes(exported(sqlite_path, [row("s", number, one) for number, one in enumerate(TEXTS, 1)]).encode())
    sheet = converted(path, "xlsx", tmp_path / "sheet", reading="44,34,76,1,,0,true,false")  # quoted cells are texts
    again = converted(sheet, "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true", tmp_path / "again")
    saved = [one[2] for one in cells(again.read_bytes().decode())[1:]]
    written = [one[2] for one in cells(path.read_bytes().decode())[1:]]
    assert saved == [one.replace("\r\n", "\n").replace("\r", "\n") for one in written]
    assert scores(again) == pytest.approx(scores(path))
    assert None in scores(path)  # a reply in another script: there is no number, and none was made of it


def scores(path: Path) -> list[float | None]:
    return [float(one[5]) if one[5] else None for one in cells(path.read_bytes().decode())[1:]]


def converted(path: Path, kind: str, folder: Path, reading: str | None = None) -> Path:
    assert SOFFICE is not None
    done = subprocess.run(
        [
            SOFFICE,
            f"-env:UserInstallation=file://{folder.parent}/profile",
            "--headless",
            *([f"--infilter=CSV:{reading}"] if reading else []),
            "--convert-to",
            kind,
            "--outdir",
            str(folder),
            str(path),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    (found,) = folder.iterdir()
    assert done.returncode == 0, done.stderr
    return found
