"""Turns from JSONL, from the document's CSV, and from memory; and everything that can be wrong with them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from turnwise.assistant.load import AssistantSource
from turnwise.assistant.profile import built_in
from turnwise.assistant.read import EXPORT_HEADER, open_rows
from turnwise.assistant.records import Chunk, Turn
from turnwise.kernel.errors import InputError, TurnwiseError, UsageError

EXAMPLES = Path(__file__).parents[2] / "examples" / "assistant"
TURN = {"session_id": "abc-123", "turn": 1, "query": "q", "response": "r", "version": "v"}


def source(data: Any, version: str = "") -> AssistantSource:
    return AssistantSource(open_rows(data), built_in("hr"), version)


def turns(data: Any, version: str = "") -> list[Turn]:
    return [turn for batch in source(data, version).batches() for turn in batch.turns]


def lines(folder: Path, *rows: Any) -> Path:
    path = folder / "turns.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def notes(data: Any) -> dict[str, int]:
    return {finding.message.split(":")[0]: finding.count for finding in source(data).findings}


# --- what is read -------------------------------------------------------------------------------------------


def test_every_field(tmp_path: Path) -> None:
    row = {
        **TURN,
        "tester": "HR partner",
        "chunks": [{"title": "A", "text": "t", "similarity": 0.5}, {"chunk_text": "u"}, "plain"],
        "processing_time_ms": 1200,
        "is_first_response": True,
        "scenario": "attendance",
        "improvement_notes": "n",
        "category": "tone",
        "timestamp": "2025-10-24 10:00:00",
        "site": "north",
        "tokens": 12,
    }
    (turn,) = turns(lines(tmp_path, row))
    assert turn == Turn(
        session_id="abc-123",
        turn=1,
        version="v",
        tester="HR partner",
        query="q",
        response="r",
        chunks=(Chunk("t", "A", 0.5), Chunk("u"), Chunk("plain")),
        processing_time_ms=1200,
        is_first_response=True,
        scenario="attendance",
        improvement_notes="n",
        category="tone",
        timestamp="2025-10-24 10:00:00",
        metadata={"site": "north"},
        tokens=12,
    )
    assert turn.unit.id == "abc-123#1"
    assert turn.unit.cluster == "abc-123"
    assert turn.unit.dimensions == {
        "site": "north",
        "version": "v",
        "scenario": "attendance",
        "tester": "HR partner",
        "category": "tone",
        "session_id": "abc-123",
    }


def test_what_is_kept_of_a_turn_can_be_read_again() -> None:
    found = turns(EXAMPLES / "turns.jsonl")
    assert len(found) == 60
    assert turns([turn.content() for turn in found]) == found


def test_ids_are_texts(tmp_path: Path) -> None:
    found = turns(lines(tmp_path, {**TURN, "session_id": 7}, {**TURN, "session_id": "007"}))
    assert [turn.session_id for turn in found] == ["7", "007"]


def test_turns_of_a_session_are_measured_in_their_order(tmp_path: Path) -> None:
    rows = [
        {**TURN, "session_id": session, "turn": turn} for session, turn in (("b", 2), ("a", 1), ("b", 1), ("b", 10))
    ]
    assert [turn.id for turn in turns(lines(tmp_path, *rows))] == ["b#1", "b#2", "b#10", "a#1"]


def test_missing_is_not_empty(tmp_path: Path) -> None:
    (missing,) = turns(lines(tmp_path, {"session_id": "s", "turn": 1, "response": None}))
    assert (missing.response, missing.chunks, missing.processing_time_ms) == (None, None, None)
    (empty,) = turns(lines(tmp_path, {"session_id": "s", "turn": 1, "response": "", "chunks": []}))
    assert (empty.response, empty.chunks) == ("", ())


def test_a_version_fills_blanks_and_contradicts_others(tmp_path: Path) -> None:
    blank = {name: value for name, value in TURN.items() if name != "version"}
    assert [turn.version for turn in turns(lines(tmp_path, blank), "fc26922")] == ["fc26922"]
    assert [turn.version for turn in turns(lines(tmp_path, {**TURN, "version": "fc26922"}), "fc26922")] == ["fc26922"]
    with pytest.raises(InputError, match="another version") as error:
        turns(lines(tmp_path, TURN), "fc26922")
    assert "line 1" in error.value.message
    assert (error.value.found, error.value.expected) == ("v", "fc26922")


# --- the document's export ----------------------------------------------------------------------------------


def test_the_document_s_csv(tmp_path: Path) -> None:
    path = tmp_path / "abc-123.csv"
    text = (
        "Turn,User Message,ERA Response,Improvement Notes,Category,Objective Score,Subjective Score,Overall Score,"
        'Timestamp\n1,"My employee didn\'t show up","Got it — that\'s...","Should ask clarifying questions","content",'
        '0.85,0.87,0.86,"2025-10-24 10:00:00"\n'
    )
    path.write_text(text, encoding="utf-8")
    (turn,) = turns(path, "fc26922")
    assert turn == Turn(
        session_id="abc-123",
        turn=1,
        version="fc26922",
        query="My employee didn't show up",
        response="Got it — that's...",
        improvement_notes="Should ask clarifying questions",
        category="content",
        timestamp="2025-10-24 10:00:00",
    )
    assert notes(path)["turns that came with scores"] == 1


def test_further_columns_and_cells_that_were_made_safe(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*EXPORT_HEADER, "Session ID", "Version", "Processing Time ms", "First Response", "Site"])
        writer.writerow([1, "'=1+1", "two\nlines", "", "", "", "", "", "t", "s1", "v1", "900", "yes", "north"])
        writer.writerow([1, "'tis", "r", "", "", "", "", "", "t", "s2", "v1", "", "no", ""])
    first, second = turns(path)
    assert (first.session_id, first.query, first.response) == ("s1", "=1+1", "two\nlines")
    assert (first.processing_time_ms, first.is_first_response, first.metadata) == (900, True, {"Site": "north"})
    assert (second.query, second.is_first_response, second.processing_time_ms) == ("'tis", False, None)


def test_the_example_export_is_the_first_session() -> None:
    exported, whole = turns(EXAMPLES / "export.csv"), turns(EXAMPLES / "turns.jsonl")[:3]
    assert [(t.turn, t.query, t.response) for t in exported] == [(t.turn, t.query, t.response) for t in whole]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Turn,User Message,Notes", "the column 'ERA Response' is missing"),
        ("User Message,ERA Response", "the column 'Turn' is missing"),
        ("Turn,Response,ERA Response", "two columns mean the same"),
    ],
)
def test_a_table_without_its_columns(tmp_path: Path, header: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{header}\n1,a,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        turns(path)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"session_id": ""}, "session_id is missing"),
        ({"session_id": None}, "session_id is missing"),
        ({"session_id": ["a"]}, "session_id is not a text"),
        ({"turn": None}, "turn is missing"),
        ({"turn": "three"}, "turn is not a number of a turn"),
        ({"turn": 1.5}, "turn is not a number of a turn"),
        ({"turn": True}, "turn is not a number of a turn"),
        ({"turn": -1}, "turn is not a number of a turn"),
        ({"query": 3}, "query is not a text"),
        ({"response": {"text": "r"}}, "response is not a text"),
        ({"chunks": "a"}, "chunks is not a list"),
        ({"chunks": [3]}, "a chunk is not an object"),
        ({"chunks": [{"text": "a", "similarity": "high"}]}, "similarity is not a number"),
        ({"chunks": [{"text": "a", "similarity": True}]}, "similarity is not a number"),
        ({"chunks": [{"text": 3.5}]}, "text is not a text"),
        ({"processing_time_ms": -1}, "processing_time_ms is not a number from 0"),
        ({"processing_time_ms": "soon"}, "processing_time_ms is not a number from 0"),
        ({"is_first_response": "perhaps"}, "is_first_response is neither true nor false"),
        ({"version": 1.5}, "version is not a text"),
    ],
)
def test_a_field_that_is_wrong_is_named_with_its_place(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = lines(tmp_path, {**TURN, "turn": 9}, {**TURN, **change})
    with pytest.raises(InputError, match=message) as error:
        turns(path)
    assert f"{path}, line 2" in error.value.message


def test_two_turns_with_one_number(tmp_path: Path) -> None:
    path = lines(tmp_path, *({**TURN, "turn": turn} for turn in (3, 1, "3")))
    with pytest.raises(InputError, match="session 'abc-123' has two turns number 3") as error:
        source(path)
    assert "line 3" in error.value.message
    assert "line 1" in error.value.message


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_no_turn_at_all(tmp_path: Path, content: str) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="there is no turn"):
        source(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text("[1]\n", encoding="utf-8")
    for data, message in (
        (tmp_path / "absent.jsonl", "cannot be read"),
        (tmp_path, "not a regular file"),
        (path, "not a JSON object"),
        ([3], "not a dictionary"),
    ):
        with pytest.raises(TurnwiseError, match=message):
            source(data)
    with pytest.raises(UsageError, match="mysql://"):
        open_rows("mysql://server/turns")


def test_what_looks_wrong_is_counted_and_nothing_is_lost(tmp_path: Path) -> None:
    rows = [
        {**TURN, "turn": 1, "response": " ", "is_first_response": True},
        {**TURN, "turn": 2, "response": "電話してください。"},
        {**TURN, "turn": 3, "chunks": [{"text": "a", "similarity": 1.7}], "empathy_score": 4},
        {**TURN, "turn": 4, "version": "", "remark": "x" * 100},
    ]
    path = lines(tmp_path, *rows)
    assert len(turns(path)) == 4
    assert notes(path) == {
        "replies that are empty": 1,
        "replies in another script than the patterns, which say nothing about them": 1,
        "turns that do not say is_first_response": 3,
        "turns with a similarity outside 0 to 1": 1,
        "turns without a version (--version fills it in)": 1,
        "turns that came with scores": 1,
        "values of 'remark' that cannot be sliced by (long, or no text), left out": 1,
    }


def test_fingerprints() -> None:
    """The data set is what was asked, in any order; the input is everything."""
    rows = [{**TURN, "turn": 1}, {**TURN, "turn": 2, "query": "other"}]
    one, two = source(rows), source([rows[1], {**rows[0], "response": "another"}])
    assert one.dataset_fingerprint == two.dataset_fingerprint
    assert one.input_fingerprint != two.input_fingerprint
    assert source([{**TURN, "query": "x"}]).dataset_fingerprint != one.dataset_fingerprint
