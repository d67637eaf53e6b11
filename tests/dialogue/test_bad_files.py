"""Files that cannot be read as they are: each is refused with its place, and the message holds all five facts.

What, where (the file, and the line or field), what was found, what was expected, and the remedy.
"""

from __future__ import annotations

import contextlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue.read import read_dialogues
from turnwise.kernel.errors import InputError

DEEP = "[" * 100_000 + "]" * 100_000

# Field: values of a type it cannot have. Line 3 of a JSONL file has them.
WRONG = {
    "dialogue_id": [None, "", "  ", 1.5, True, ["d"], {"a": 1}, "a\u0000b"],
    "turn_id": [1.5, False, [1], {"a": 1}, "", "\u0000"],
    "user": [5, True, ["x"], {"text": "x"}],
    "response": [5, False, ["x"]],
    "domain": [5, [5], {"hotel": 1}, [["hotel"]]],
    "intents": [5, [1], {"a": 1}],
    "acts": [5, [["Hotel", "Inform"]], {"Hotel-Inform": 5}],
    "requested": [5, [None]],
    "state": [5, "x", ["hotel-area"], {"hotel": {"area": {"x": 1}}}, {"hotel-area": [["x"]]}, {"a-b": [{"x": 1}]}],
    "action": [5, ["book"], "fly", "_book"],
    "latency_ms": ["fast", "120", True, [1], -1],
    "tokens": ["many", -5],
    "cost": ["$1", {"usd": 1}],
    "metadata": [5, "x", ["x"]],
}
# Not JSON, or not an object: name, line 3 as bytes.
LINES = {
    "cut off": b'{"dialogue_id": "d", "turn_id": 2, "sta',
    "cut off in a text": b'{"dialogue_id": "d", "user": "hel',
    "python": b"{'dialogue_id': 'd'}",
    "two objects": b'{"dialogue_id": "d"} {"dialogue_id": "e"}',
    "list": b"[1]",
    "text": b'"x"',
    "null": b"null",
    "no id": b'{"turn_id": 2}',
    "empty object": b"{}",
    "latin-1": '{"dialogue_id": "d", "user": "Zürich"}'.encode("latin-1"),
    "NUL byte": b'{"dialogue_id": "d"\x00}',
    "NaN in a state": b'{"dialogue_id": "d", "state": {"hotel-stars": NaN}}',
    "infinity in a state": b'{"dialogue_id": "d", "state": {"hotel-stars": -Infinity}}',
    "NaN as latency": b'{"dialogue_id": "d", "latency_ms": NaN}',
    "a number without end": b'{"dialogue_id": "d", "latency_ms": 1e999}',
    "too many digits": b'{"dialogue_id": "d", "turn_id": ' + b"1" * 5000 + b"}",
    "half a character": b'{"dialogue_id": "d", "user": "\\ud83d"}',
    "nested too deeply": b'{"dialogue_id": "d", "state": {"a-b": ' + DEEP.encode() + b"}}",
}
GOOD = b'{"dialogue_id": "d", "turn_id": 0}\n\n'

Make = Callable[[Path], Path]


def jsonl(line: bytes) -> Make:
    def make(folder: Path) -> Path:
        path = folder / "bad.jsonl"
        path.write_bytes(GOOD + line + b"\n")
        return path

    return make


def content(data: bytes | Any, name: str = "bad.json") -> Make:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return path

    return make


def zipped(change: Callable[[bytes], bytes], *names: str) -> Make:
    def make(folder: Path) -> Path:
        path = folder / "bad.json.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names or ("data.json",):
                archive.writestr(name, json.dumps({f"d{i}": [{"state": {"hotel-area": str(i)}}] for i in range(500)}))
        path.write_bytes(change(path.read_bytes()))
        return path

    return make


def damaged(data: bytes) -> bytes:
    return data[:60] + bytes(255 - byte for byte in data[60:160]) + data[160:]


def directory_damaged(data: bytes) -> bytes:
    return data.replace(b"PK\x01\x02", b"PK\x09\x09")


def log(*turns: Any) -> dict[str, Any]:
    return {"d": {"log": list(turns)}}


HEARD, STATE = {"text": "hi"}, {"hotel": {"semi": {"area": "north"}, "book": {}}}


def multiwoz(**changes: Any) -> dict[str, Any]:
    return log(HEARD, {"text": "hello", "metadata": STATE, **changes})


# Name: (how the file is made, format, what the message must say beside the file's name).
BAD: dict[str, tuple[Make, str | None, list[str]]] = {
    **{f"jsonl: {name}": (jsonl(line), "jsonl", ["line 3"]) for name, line in LINES.items()},
    **{
        f"jsonl: {name} = {json.dumps(value)[:30]}": (
            jsonl(json.dumps({"dialogue_id": "d", "turn_id": 2, name: value}).encode()),
            "jsonl",
            ["line 3", name],
        )
        for name, values in WRONG.items()
        for value in values
    },
    "jsonl: empty": (content(b"", "x.jsonl"), "jsonl", []),
    "jsonl: blank": (content(b"\n  \n\r\n", "x.jsonl"), "jsonl", []),
    "jsonl: a byte order mark alone": (content(b"\xef\xbb\xbf", "x.jsonl"), "jsonl", []),
    "jsonl: UTF-16": (content('{"dialogue_id": "d"}\n'.encode("utf-16"), "x.jsonl"), "jsonl", ["line 1"]),
    "json: empty": (content(b""), None, []),
    "json: cut off": (content(b'{"d": [{"state": {"hotel":\n {"area": "nor'), None, ["line 2"]),
    "json: not UTF-8": (content('{"d": [{"response": "Zürich"}]}'.encode("latin-1")), None, ["UTF-8"]),
    "json: NaN": (content(b'{"d": [{"state": {"hotel": {"stars": NaN}}}]}'), None, ["line 1"]),
    "json: nested too deeply": (content(b'{"d": ' + DEEP.encode() + b"}"), None, []),
    "zip: cut off": (zipped(lambda data: data[: len(data) // 2]), None, ["zip"]),
    "zip: damaged": (zipped(damaged), None, ["zip"]),
    "zip: directory damaged": (zipped(directory_damaged), None, ["zip"]),
    "zip: two files": (zipped(bytes, "a.json", "b.json"), None, ["a.json", "b.json"]),
    "zip: another file": (zipped(bytes, "readme.txt"), None, ["zip"]),
    "multiwoz: a list": (content([1]), "multiwoz-2.1", []),
    "multiwoz: no dialogue": (content({}), "multiwoz-2.1", []),
    "multiwoz: dialogue": (content({"d": 5}), "multiwoz-2.1", ["dialogue d"]),
    "multiwoz: log": (content({"d": {"log": {}}}), None, ["dialogue d", "log"]),
    "multiwoz: turn": (content(log(HEARD, 5)), None, ["dialogue d", "1"]),
    "multiwoz: user turn": (content(log("hi", {"metadata": STATE})), None, ["dialogue d"]),
    "multiwoz: system first": (content(log({"metadata": STATE}, HEARD)), None, ["dialogue d", "user first"]),
    "multiwoz: metadata": (content(multiwoz(metadata=5)), None, ["dialogue d", "metadata"]),
    "multiwoz: domain": (content(multiwoz(metadata={"hotel": 5})), None, ["metadata.hotel"]),
    "multiwoz: semi": (content(multiwoz(metadata={"hotel": {"semi": ["x"]}})), None, ["metadata.hotel"]),
    "multiwoz: book": (content(multiwoz(metadata={"hotel": {"semi": {}, "book": 5}})), None, ["metadata.hotel"]),
    "multiwoz: value": (content(multiwoz(metadata={"hotel": {"semi": {"area": {"x": 1}}}})), None, ["hotel.area"]),
    "multiwoz: acts": (content(multiwoz(dialog_act=5)), None, ["dialog_act"]),
    "multiwoz: user text": (content(log({"text": 5}, {"text": "x", "metadata": STATE})), None, ["text"]),
    "multiwoz: system text": (content(multiwoz(text=["x"])), None, ["text"]),
    "multiwoz: requests": (
        content(log({"text": "x", "dialog_act": {"Hotel-Request": 5}}, {"text": "x", "metadata": STATE})),
        None,
        ["dialog_act"],
    ),
    "multiwoz: a request": (
        content(log({"text": "x", "dialog_act": {"Hotel-Request": [[]]}}, {"text": "x", "metadata": STATE})),
        None,
        ["dialog_act"],
    ),
    "multiwoz: an empty id": (content({" ": {"log": []}}), None, ["dialogue id"]),
    "predictions: a list": (content([1]), "multiwoz-predictions", []),
    "predictions: no dialogue": (content({}), "multiwoz-predictions", []),
    "predictions: turns": (content({"d": [], "e": 5}), None, ["dialogue e"]),
    "predictions: turn": (content({"d": [{"state": {}}, 5]}), None, ["dialogue d", "turn 1"]),
    "predictions: nothing in it": (content({"d": [{}]}), None, ["turn 0", "state"]),
    "predictions: response": (content({"d": [{"response": 5}]}), None, ["turn 0", "response"]),
    "predictions: domains": (content({"d": [{"state": {}, "active_domains": 5}]}), None, ["active_domains"]),
    "predictions: state": (content({"d": [{"state": [1]}]}), None, ["turn 0", "state"]),
    "predictions: value": (content({"d": [{"state": {"hotel": {"area": {"x": 1}}}}]}), None, ["state.hotel.area"]),
    "predictions: an id with NUL": (content({"d\u0000": [{"state": {}}]}), None, ["dialogue id"]),
}


def read_all(path: Path, form: str | None) -> None:
    dialogues = read_dialogues(path, form)
    for dialogue_id in dialogues.ids():
        dialogues.exchanges(dialogue_id)


@pytest.mark.parametrize("name", sorted(BAD))
def test_the_message_names_the_place(name: str, tmp_path: Path) -> None:
    make, form, words = BAD[name]
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        read_all(path, form)
    error = caught.value
    assert error.exit_code == 2
    assert str(path) in error.message
    said = error.message.replace(str(path), "")
    assert [word for word in words if word not in said] == [], error.message
    assert len(re.findall(r"\bline \d", said)) <= 1  # one place, not a line within a line
    assert len(said) < 1000


def test_every_message_has_all_five_facts(tmp_path: Path) -> None:
    lacking: dict[str, list[str]] = {}
    for number, (name, (make, form, _)) in enumerate(BAD.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = make(folder)
        with contextlib.suppress(Exception):  # what is not an InputError fails above
            try:
                read_all(path, form)
            except InputError as error:
                facts = ("what", "where", "found", "expected", "remedy")
                lacking[name] = [fact for fact in facts if not getattr(error, fact)]
    assert {name: facts for name, facts in lacking.items() if facts} == {}


@pytest.mark.parametrize("form", [None, "jsonl", "multiwoz-2.1"])
def test_folders_and_files_that_are_not_there(tmp_path: Path, form: str | None) -> None:
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_dialogues(tmp_path, form)
    with pytest.raises(InputError, match=r"nothing\.jsonl cannot be read") as caught:
        read_dialogues(tmp_path / "nothing.jsonl", form)
    assert caught.value.found == "No such file or directory"
    assert caught.value.remedy
