"""Each reader on files that are right: what comes out of every field, and which format a file is taken for."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.read import FORMATS, read_dialogues
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError, UsageError

LINE = {
    "dialogue_id": "d1",
    "turn_id": 0,
    "user": "A hotel, please.",
    "response": "In which area?",
    "domain": "Hotel",
    "intents": ["find_hotel"],
    "acts": ["Hotel-Request"],
    "state": {"hotel-area": ["north", "east"], "hotel-stars": "4"},
    "requested": ["hotel-phone"],
    "action": "request",
    "latency_ms": 120,
    "tokens": 8,
    "cost": 0.5,
    "scenario": "booking",
}


def write(path: Path, *lines: Any, newline: str = "\n") -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_bytes("".join(text + newline for text in texts).encode())
    return path


def exchanges(dialogues: Dialogues) -> list[Exchange]:
    return [exchange for dialogue_id in dialogues.ids() for exchange in dialogues.exchanges(dialogue_id)]


# turnwise JSONL


def test_every_field_of_a_jsonl_line(tmp_path: Path) -> None:
    [found] = exchanges(read_dialogues(write(tmp_path / "x.jsonl", LINE)))
    assert found == Exchange(
        dialogue_id="d1",
        turn_id="0",
        user="A hotel, please.",
        response="In which area?",
        domains=("hotel",),
        intents=("find_hotel",),
        acts=("Hotel-Request",),
        state={"hotel-area": ["north", "east"], "hotel-stars": "4"},
        requested=("hotel-phone",),
        action="request",
        operations={"latency_ms": 120.0, "tokens": 8.0, "cost": 0.5},
        metadata={"scenario": "booking"},
    )


def test_what_is_unknown_is_left_out(tmp_path: Path) -> None:
    lines = [{"dialogue_id": 7}, {"dialogue_id": "8", **dict.fromkeys(("turn_id", "user", "state", "domain", "cost"))}]
    found = exchanges(read_dialogues(write(tmp_path / "x.jsonl", *lines)))
    assert found == [Exchange(dialogue_id="7"), Exchange(dialogue_id="8")]


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("north", "north"),
        (4, "4"),
        (4.5, "4.5"),
        (True, "yes"),
        (False, "no"),
        (None, ""),
        (["north", 4, None, True], ["north", "4", "", "yes"]),
        ([], []),
        ("a\u0000b", "a\u0000b"),
        ("Zürich 北京 🙂", "Zürich 北京 🙂"),
    ],
)
def test_slot_values(tmp_path: Path, raw: Any, read: Any) -> None:
    lines = [{"dialogue_id": "d", "state": {"hotel-x": raw}}, {"dialogue_id": "e", "state": {"hotel": {"x": raw}}}]
    for exchange in exchanges(read_dialogues(write(tmp_path / "x.jsonl", *lines))):
        assert exchange.state == {"hotel-x": read}


@pytest.mark.parametrize("domain", ["Hotel", ["Hotel"], [" hotel ", ""]])
def test_a_domain_is_a_text_or_a_list(tmp_path: Path, domain: Any) -> None:
    path = write(tmp_path / "x.jsonl", {"dialogue_id": "d", "domain": domain}, {"dialogue_id": "e", "domain": []})
    assert [exchange.domains for exchange in exchanges(read_dialogues(path))] == [("hotel",), ()]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n\n", "\r\n  \t\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n", "\ufeff\r\n"])
def test_line_ends_blank_lines_and_a_byte_order_mark(tmp_path: Path, newline: str, start: str) -> None:
    lines = [{"dialogue_id": "d", "turn_id": turn, "state": {"hotel-stars": turn}} for turn in range(3)]
    text = start + newline.join(json.dumps(line) for line in lines)  # no line end after the last one
    path = tmp_path / "x.jsonl"
    path.write_bytes(text.encode())
    assert [exchange.turn_id for exchange in exchanges(read_dialogues(path))] == ["0", "1", "2"]


def test_dialogues_may_be_scattered_over_the_file(tmp_path: Path) -> None:
    order = [("a", 0), ("b", 0), ("a", 1), ("c", 5), ("b", 1), ("a", 2)]
    path = write(tmp_path / "x.jsonl", *({"dialogue_id": name, "turn_id": turn} for name, turn in order))
    dialogues = read_dialogues(path)
    assert list(dialogues.ids()) == ["a", "b", "c"]
    found = [(exchange.dialogue_id, exchange.turn_id) for exchange in exchanges(dialogues)]
    assert found == [("a", "0"), ("a", "1"), ("a", "2"), ("b", "0"), ("b", "1"), ("c", "5")]


def test_columns_that_are_no_fields_are_counted(tmp_path: Path) -> None:
    lines = [{"dialogue_id": name, "city": "york", "tags": ["x"]} for name in ("a", "b")]
    notes = read_dialogues(write(tmp_path / "x.jsonl", *lines)).tally.notes
    assert {note.split(" is ")[0]: n for note, n in notes.items()} == {"column 'city'": 2, "column 'tags'": 2}
    assert any("'tags'" in note and "left out" in note for note in notes)


def test_metadata_that_cannot_be_a_dimension_is_counted_too(tmp_path: Path) -> None:
    dialogues = read_dialogues(write(tmp_path / "x.jsonl", {"dialogue_id": "a", "metadata": {"n": 1, "tags": ["x"]}}))
    assert exchanges(dialogues)[0].metadata == {"n": "1"}
    assert [n for note, n in dialogues.tally.notes.items() if "tags" in note and "left out" in note] == [1]


# MultiWOZ 2.1


def turn(text: str, metadata: Any = None, **acts: Any) -> dict[str, Any]:
    return {"text": text, "metadata": metadata or {}, "dialog_act": acts, "span_info": []}


def area(value: str, **book: Any) -> dict[str, Any]:
    return {"hotel": {"book": {"booked": [], "people": "", **book}, "semi": {"area": value, "name": "not mentioned"}}}


CORPUS = {
    "SNG0073.json": {
        "goal": {},
        "log": [
            turn("A hotel in the north?", **{"Hotel-Inform": [["Area", "north"]]}),
            turn("Which price?", area("north"), **{"Hotel-Request": [["Price", "?"]]}),
            turn("Any. Its phone number?", **{"Hotel-Request": [["Phone", "?"]], "general-thank": [["none", "none"]]}),
            turn("555", area("north", people="2", booked=[{"name": "x"}])),
        ],
    },
    "MUL1.json": {"log": [turn("Hi"), turn("Hello", {"taxi": {"semi": {"leaveAt": ""}, "book": {}}}), turn("Bye")]},
}


def test_multiwoz(tmp_path: Path) -> None:
    path = write(tmp_path / "data.json", CORPUS)
    dialogues = read_dialogues(path)
    assert dialogues.format == "multiwoz-2.1"
    first, second = dialogues.exchanges("SNG0073.json")
    assert (first.turn_id, first.user, first.response) == ("0", "A hotel in the north?", "Which price?")
    assert first.state == {"hotel-area": "north"}  # nothing said, and what was booked, are no state
    assert second.state == {"hotel-area": "north", "hotel-people": "2"}
    assert (first.domains, first.acts) == (("hotel",), ("Hotel-Request",))
    assert second.requested == ("hotel-phone",)
    assert [exchange.state for exchange in dialogues.exchanges("MUL1.json")] == [{}]
    assert list(dialogues.tally.notes.values()) == [1]  # the last turn of MUL1 has no answer


@pytest.mark.parametrize("name", ["data.json.zip", "data.zip", "data.json", "data.bin"])
def test_multiwoz_in_a_zip_under_any_name(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.json", json.dumps(CORPUS))
        archive.writestr("__MACOSX/._data.json", "junk")
    assert list(read_dialogues(tmp_path / name).ids()) == list(CORPUS)


def test_multiwoz_without_annotation(tmp_path: Path) -> None:
    log = [turn("A taxi"), turn("When?", {"taxi": {"semi": {"leaveAt": "10:00"}, "book": {}}})]
    log[0]["dialog_act"] = "No Annotation"
    del log[1]["dialog_act"]
    [exchange] = exchanges(read_dialogues(write(tmp_path / "data.json", {"d": {"log": log}})))
    assert (exchange.domains, exchange.acts) == (("taxi",), None)  # the domain whose state changed


# The published prediction format

PREDICTED = {
    "sng0073": [
        {"response": "Which price?", "state": {"hotel": {"area": "north", "book day": "monday"}}},
        {"response": "555", "state": {}, "active_domains": ["Hotel"]},
        {"response": "bye"},
    ]
}


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_published_predictions(tmp_path: Path, start: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(start + json.dumps(PREDICTED), encoding="utf-8")
    dialogues = read_dialogues(path)
    assert dialogues.format == "multiwoz-predictions"
    first, second, third = dialogues.exchanges("sng0073")
    assert first.state == {"hotel-area": "north", "hotel-book day": "monday"}
    assert (first.turn_id, first.domains, second.domains) == (None, None, ("hotel",))
    assert (second.state, third.state, third.response) == ({}, None, "bye")


# Detection


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("x.jsonl", json.dumps(LINE), "jsonl"),
        ("x.ndjson", json.dumps(LINE), "jsonl"),
        ("x.json", json.dumps(LINE) + "\n" + json.dumps({**LINE, "turn_id": 1}), "jsonl"),
        ("x.txt", "\ufeff" + json.dumps(LINE) + "\r\n", "jsonl"),
        ("x", "\n" + json.dumps(LINE), "jsonl"),
        ("x.json", json.dumps(CORPUS), "multiwoz-2.1"),
        ("x.json", json.dumps(CORPUS, indent=2), "multiwoz-2.1"),
        ("x.txt", json.dumps(PREDICTED), "multiwoz-predictions"),
        ("x.json", json.dumps(PREDICTED, indent=2), "multiwoz-predictions"),
    ],
)
def test_detection(tmp_path: Path, name: str, content: str, form: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_dialogues(tmp_path / name).format == form
    assert read_dialogues(tmp_path / name, form).format == form


@pytest.mark.parametrize("content", ["{}", "[]", "[1, 2]", '"text"', "5", "null", '{"a": 1}', '{"a": {"b": 1}}'])
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "x.json", content)
    with pytest.raises(InputError) as caught:
        read_dialogues(path)
    assert str(path) in (caught.value.where or "")
    assert all(name in (caught.value.expected or "") for name in FORMATS)


def test_a_format_nobody_knows_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_dialogues(write(tmp_path / "x.json", PREDICTED), "multiwoz-2.0")
    assert caught.value.remedy == "did you mean multiwoz-2.2 or multiwoz-2.1 or multiwoz-2.2-rows?"


def test_the_fingerprint_is_the_file_s_own(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.json", CORPUS), write(tmp_path / "b.json", CORPUS)
    assert read_dialogues(first).sha256 == read_dialogues(second).sha256
    third = write(tmp_path / "c.json", {**CORPUS, "more.json": CORPUS["MUL1.json"]})
    assert read_dialogues(third).sha256 != read_dialogues(first).sha256
