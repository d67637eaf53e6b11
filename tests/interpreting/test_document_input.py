"""Captures that are broken: refused with the place and what was found, or counted and said; nothing vanishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)
from tests.interpreting.captures import (
    CORRECTION,
    EXAMPLE,
    STATEMENT,
    TURNS,
    audio,
    correction,
    delta,
    document,
    evaluate,
    statement,
    turn,
    write_capture,
)
from turnwise.kernel.errors import InputError, TurnwiseError

Break = Callable[[Path], None]


def change(**values: Any) -> Break:
    """Change what `capture.json` says."""

    def to(folder: Path) -> None:
        path = folder / "capture.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    return to


def without(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def instead(name: str, text: str) -> Break:
    def to(folder: Path) -> None:
        (folder / name).write_text(text)

    return to


TWICE = [statement(), turn(STATEMENT, 10_000, 12_000, barge_in=True)]
REFUSED: dict[str, tuple[Break, str]] = {
    "no events": (without("events.jsonl"), "events.jsonl"),
    "capture.json is no JSON": (instead("capture.json", "{"), "capture.json"),
    "capture.json is a list": (instead("capture.json", "[]"), "capture.json"),
    "another format": (change(format="turnwise-capture/9"), "turnwise-capture/9"),
    "no format": (change(format=None), "format"),
    "no turns": (change(turns="statement"), "turns"),
    "a turn before the call": (change(turns=[statement(-5), correction()]), "-5"),
    "a turn that ends before it starts": (change(turns=[statement(), correction(10_000, 9000)]), "9000"),
    "two turns with one id": (change(turns=TWICE), STATEMENT),
    "a time that is text": (change(turns=[statement("soon"), correction()]), "soon"),  # type: ignore[arg-type]
    "a flag that is text": (change(turns=[statement(), correction(barge_in="yes")]), "yes"),
    "a threshold that is text": (change(thresholds={"barge_in": "high"}), "high"),
    "no event is readable": (instead("events.jsonl", "[1]\n{\n"), "events.jsonl"),
}


@pytest.mark.parametrize(("broken", "word"), REFUSED.values(), ids=REFUSED)
def test_a_broken_capture_is_refused(tmp_path: Path, broken: Break, word: str) -> None:
    place = write_capture(tmp_path / "visit", TURNS, EXAMPLE)
    broken(place)
    with pytest.raises(InputError) as caught:
        evaluate(place, tmp_path / "out", "barge_in")
    said = str(caught.value)
    assert "visit" in said
    assert word in said
    assert not (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize(("broken", "word"), REFUSED.values(), ids=REFUSED)
def test_among_others_it_is_left_out_and_named(tmp_path: Path, broken: Break, word: str) -> None:
    """Refusing everything would do, too; leaving it out without a word would not."""
    broken(write_capture(tmp_path / "calls" / "bad", TURNS, EXAMPLE))
    write_capture(tmp_path / "calls" / "good", TURNS, EXAMPLE)
    result = evaluate(tmp_path / "calls", tmp_path / "out", "barge_in")
    assert document(tmp_path / "out", "good")["score"] == pytest.approx(94.2)
    assert result.value("barge_in", output="value") == pytest.approx(94.2)
    assert not (tmp_path / "out" / "bad").exists()
    said = [f["message"] for f in result.summary["run"]["findings"] if f["check"] != "diagnosis"]
    assert len(said) == 1
    assert "bad" in said[0]
    assert word in said[0]


GOOD_LINE = json.dumps({"seq": 0, **EXAMPLE[0]})
LINES = {
    "no JSON": '{"seq": 1, "direction": "in", "t_arr',
    "no object": "[1, 2]",
    "no time": json.dumps({"seq": 1, "direction": "in", "type": "translated_delta", "text": "x"}),
    "a time before the call": json.dumps({"seq": 1, **delta(-10_450, "x", STATEMENT)}),
    "a time that is text": json.dumps({"seq": 1, **EXAMPLE[1], "t_arrived_ms": "soon"}),
    "a time that is no number": '{"seq": 1, "direction": "in", "type": "translated_delta", "t_arrived_ms": NaN}',
    "a time that is true": json.dumps({"seq": 1, **EXAMPLE[1], "t_arrived_ms": True}),
    "a direction that is none": json.dumps({"seq": 1, **EXAMPLE[1], "direction": "up"}),
    "no type": json.dumps({"seq": 1, "direction": "in", "t_arrived_ms": 9500, "text": "x"}),
    "text that is a number": json.dumps({"seq": 1, **EXAMPLE[1], "text": 7}),
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_broken_event_is_counted(tmp_path: Path, line: str) -> None:
    """The rest is scored: the answer came 1200 ms after the barge-in."""
    place = write_capture(tmp_path / "visit", TURNS)
    last = json.dumps({"seq": 3, **EXAMPLE[2]})
    (place / "events.jsonl").write_text("\n".join([GOOD_LINE, line, line, last]) + "\n", "utf-8")
    result = evaluate(place, tmp_path / "out", "barge_in")
    said = [f["message"] for f in result.summary["run"]["findings"] if f["check"] != "diagnosis"]
    assert len(said) == 1
    assert "visit" in said[0]
    assert "2 times" in said[0]
    (found,) = document(tmp_path / "out", "visit")["details"]["turns"]
    assert (found["barge_in_turn_id"], found["response_time_ms"]) == (CORRECTION, 1200)


def test_a_time_before_the_call_is_not_called_a_missing_one(tmp_path: Path) -> None:
    place = write_capture(tmp_path / "visit", TURNS, [EXAMPLE[0], delta(-10_450, "x", STATEMENT), EXAMPLE[2]])
    result = evaluate(place, tmp_path / "out", "barge_in")
    said = " ".join(f["message"] for f in result.summary["run"]["findings"] if f["check"] != "diagnosis")
    assert "without t_arrived_ms" not in said


@pytest.mark.parametrize("duration", [-400, None])
def test_audio_without_a_length_is_said(tmp_path: Path, duration: int | None) -> None:
    event = audio(9500, -400, STATEMENT)
    if duration is None:
        del event["audio"]
    place = write_capture(tmp_path / "visit", TURNS, [event, audio(11_200, 500, CORRECTION)])
    result = evaluate(place, tmp_path / "out", "barge_in")
    assert [f["check"] for f in result.summary["run"]["findings"] if "audio" in f["message"]] == ["input"]
    assert document(tmp_path / "out", "visit")["details"]["turns"][0]["response_time_ms"] == 1200


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_blank_lines_and_line_ends_are_no_events(tmp_path: Path, start: bytes) -> None:
    place = write_capture(tmp_path / "visit", TURNS, EXAMPLE)
    path = place / "events.jsonl"
    path.write_bytes(start + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    result = evaluate(place, tmp_path / "out", "barge_in")
    assert document(tmp_path / "out", "visit")["score"] == pytest.approx(94.2)
    assert [f for f in result.summary["run"]["findings"] if f["check"] != "diagnosis"] == []


def test_a_call_without_an_event_is_a_system_that_is_dead(tmp_path: Path) -> None:
    """An empty file is a record of silence; it is not a file that cannot be read."""
    place = write_capture(tmp_path / "visit", TURNS)
    evaluate(place, tmp_path / "out", "barge_in")
    assert document(tmp_path / "out", "visit")["score"] <= 30


@pytest.mark.parametrize("there", [True, False])
def test_no_captures_at_all(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "calls"
    if there:
        folder.mkdir()
    with pytest.raises(TurnwiseError) as caught:
        evaluate(folder, tmp_path / "out", "barge_in")
    assert "calls" in str(caught.value)


def test_errors_of_the_command_line(tmp_path: Path, cli: Cli) -> None:  # noqa: F811
    place = write_capture(tmp_path / "visit", TWICE, EXAMPLE)
    outcome = cli("run", "interpreting", place, "--db", tmp_path / "db.sqlite", "--out", tmp_path / "out", code=2)
    assert outcome.err.startswith("error: ")
    assert "capture.json" in outcome.err
    assert STATEMENT in outcome.err
    place = write_capture(tmp_path / "fine", TURNS, EXAMPLE)
    cli("run", "interpreting", place, "--metrics", "barge_im", "--db", tmp_path / "db.sqlite", code=2)
    cli("run", "interpreting", place, "--profile", "speck", "--db", tmp_path / "db.sqlite", code=2)
    cli("run", "interpreting", place, "--set", "adaptive=perhaps", "--db", tmp_path / "db.sqlite", code=2)


def test_captures_of_the_same_name_in_two_folders_are_both_kept(tmp_path: Path) -> None:
    write_capture(tmp_path / "calls" / "monday" / "visit", TURNS, EXAMPLE)
    write_capture(tmp_path / "calls" / "tuesday" / "visit", TURNS, [EXAMPLE[0], delta(11_000, "kilo", CORRECTION)])
    result = evaluate(tmp_path / "calls", tmp_path / "out", "barge_in")
    found = [json.loads(path.read_text())["score"] for path in (tmp_path / "out").rglob("barge_in.json")]
    assert sorted(found) == pytest.approx([94.2, 100])
    assert result.value("barge_in", output="value") == pytest.approx((94.2 + 100) / 2)
