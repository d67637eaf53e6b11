"""MultiWOZ 2.2 in the rows of Hugging Face: every field, every way to write them down, and what is noted or refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import ActSlot, Exchange
from turnwise.kernel.errors import InputError

NAME = "multiwoz-2.2-rows"
FACTS = ("what", "where", "found", "expected", "remedy")
Row = dict[str, Any]
UNMARKED: Row = {"slot": [], "value": [], "start": [], "exclusive_end": []}


def columns(objects: list[Row], *names: str) -> Row:
    """A list of objects as an object of parallel lists."""
    return {name: [one[name] for one in objects] for name in names}


def frames(*given: tuple[str, str, Row]) -> Row:
    states = [
        {
            "active_intent": intent,
            "requested_slots": [f"{service}-phone"] if intent.startswith("find") else [],
            "slots_values": {"slots_values_name": list(slots), "slots_values_list": list(slots.values())},
        }
        for service, intent, slots in given
    ]
    return {"service": [service for service, _, _ in given], "state": states, "slots": [UNMARKED for _ in given]}


def acts(given: dict[str, list[list[str]]], spans: Any = ()) -> Row:
    slots = [{"slot_name": [s for s, _ in pairs], "slot_value": [v for _, v in pairs]} for pairs in given.values()]
    marked = [dict(zip(("act_type", "act_slot_name", "act_slot_value"), span, strict=True)) for span in spans]
    return {
        "dialog_act": {"act_type": list(given), "act_slots": slots},
        "span_info": columns(
            [{**span, "span_start": 0, "span_end": 4} for span in marked],
            *("act_type", "act_slot_name", "act_slot_value", "span_start", "span_end"),
        ),
    }


TURN = ("turn_id", "speaker", "utterance", "frames", "dialogue_acts")


def turn(i: int, text: str, framed: Row, acting: Row) -> Row:
    return dict(zip(TURN, (str(i), i % 2, text, framed, acting), strict=True))


HOTEL = {"hotel-area": ["north"], "hotel-stars": ["4", "four"]}
FOOD = {"restaurant-food": ["thai"]}
NOTHING = acts({})
TURNS = [
    turn(0, "A hotel?", frames(("hotel", "find_hotel", HOTEL), ("restaurant", "NONE", {})), NOTHING),
    turn(
        1,
        "The Acorn. Which price?",
        frames(),
        acts(
            {"Hotel-Recommend": [["name", "the acorn"]], "Hotel-Request": [["price", "?"]]},
            [("Hotel-Recommend", "name", "the acorn")],
        ),
    ),
    turn(2, "And thai.", frames(("hotel", "NONE", HOTEL), ("restaurant", "find_restaurant", FOOD)), NOTHING),
    turn(3, "Bye.", frames(), acts({"general-bye": [["none", "none"]]})),
]


def row(turns: list[Row] = TURNS, name: str = "SNG1.json") -> Row:
    return {"dialogue_id": name, "services": ["hotel", "restaurant"], "turns": columns(turns, *TURN)}


def exchanges(dialogues: Dialogues) -> list[Exchange]:
    return [exchange for dialogue_id in dialogues.ids() for exchange in dialogues.exchanges(dialogue_id)]


def count(dialogues: Dialogues, *words: str) -> int | None:
    """How often something is noted, by words of the note; None where it is not."""
    found = [n for note, n in dialogues.tally.notes.items() if all(word in note for word in words)]
    assert len(found) <= 1
    return found[0] if found else None


# How rows are written down


def as_json(path: Path, rows: list[Row]) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def as_indented_json(path: Path, rows: list[Row]) -> Path:
    path.with_suffix(".json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path.with_suffix(".json")


def as_lines(path: Path, rows: list[Row]) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text("\ufeff" + "\r\n\r\n".join(json.dumps(one) for one in rows), encoding="utf-8")
    return path


def as_lines_of_any_name(path: Path, rows: list[Row]) -> Path:
    return as_lines(path, rows).rename(path.with_suffix(".json"))


def as_parquet(path: Path, rows: list[Row]) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


Write = Callable[[Path, list[Row]], Path]
WAYS = [as_json, as_indented_json, as_lines, as_lines_of_any_name, as_parquet]


def as_objects(value: Any) -> Any:
    """The same row with a list of objects wherever it has parallel lists."""
    if isinstance(value, dict):
        inner = {key: as_objects(one) for key, one in value.items()}
        lists = {"turns", "frames", "slots_values", "dialog_act", "act_slots", "span_info"}
        for key in lists & inner.keys():
            if isinstance(inner[key], dict):
                parts = inner[key]
                inner[key] = [dict(zip(parts, one, strict=True)) for one in zip(*parts.values(), strict=True)]
        return {
            k: [as_objects(one) for one in v] if k in lists and isinstance(v, list) else v for k, v in inner.items()
        }
    return [as_objects(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("objects", [False, True])
@pytest.mark.parametrize("write", WAYS)
def test_every_field(tmp_path: Path, write: Write, objects: bool) -> None:
    rows = [row(), row(name="b")]
    path = write(tmp_path / "rows", as_objects(rows) if objects else rows)
    dialogues = read_dialogues(path)
    assert (dialogues.format, list(dialogues.ids())) == (NAME, ["SNG1.json", "b"])
    assert read_dialogues(path, NAME).format == NAME
    first, second = dialogues.exchanges("SNG1.json")
    assert first == Exchange(
        dialogue_id="SNG1.json",
        turn_id="0",
        user="A hotel?",
        response="The Acorn. Which price?",
        domains=("hotel",),
        intents=("find_hotel",),
        acts=("Hotel-Recommend", "Hotel-Request"),
        act_slots=(ActSlot("Hotel-Recommend", "name", "the acorn"), ActSlot("Hotel-Request", "price", "?")),
        spans=(("hotel-name", "the acorn"),),
        state={"hotel-area": "north", "hotel-stars": ["4", "four"]},
        requested=("hotel-phone",),
    )
    assert second.state == {"hotel-area": "north", "hotel-stars": ["4", "four"], "restaurant-food": "thai"}
    assert (second.domains, second.intents) == (("restaurant",), ("find_restaurant",))
    assert (second.acts, second.spans) == (("general-bye",), ())
    assert dialogues.tally.notes == {}


def test_turns_as_objects_with_parallel_lists_inside(tmp_path: Path) -> None:
    mixed = {**row(), "turns": TURNS}
    plain = exchanges(read_dialogues(as_json(tmp_path / "a", [row()])))
    assert exchanges(read_dialogues(as_lines(tmp_path / "b", [mixed]))) == plain


def test_speakers_by_name_and_rows_without_acts(tmp_path: Path) -> None:
    turns = [{**one, "speaker": ("USER", "SYSTEM")[one["speaker"]]} for one in TURNS]
    found = row(turns)
    del found["turns"]["dialogue_acts"]
    first, _ = exchanges(read_dialogues(as_json(tmp_path / "x", [found])))
    assert (first.acts, first.act_slots, first.spans) == (None, None, None)


def test_turnwise_jsonl_stays_turnwise_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"dialogue_id": "d", "turns": 5, "state": {"hotel-area": "north"}}), encoding="utf-8")
    assert read_dialogues(path).format == "jsonl"
    assert read_dialogues(as_lines(tmp_path / "y", [row()])).format == NAME


# What is noted


def active_only(turns: list[Row]) -> list[Row]:
    kept = []
    for one in turns:
        rows = [
            (service, state)
            for service, state in zip(one["frames"]["service"], one["frames"]["state"], strict=True)
            if state["active_intent"] != "NONE"
        ]
        left = {"service": [service for service, _ in rows], "state": [state for _, state in rows]}
        kept.append({**one, "frames": {**left, "slots": [UNMARKED for _ in rows]}})
    return kept


@pytest.mark.parametrize("write", WAYS)
def test_an_active_only_export_is_noticed(tmp_path: Path, write: Write) -> None:
    rows = [row(active_only(TURNS)), row(active_only(TURNS), "b")]
    dialogues = read_dialogues(write(tmp_path / "rows", rows))
    assert exchanges(dialogues)[1].state == {"restaurant-food": "thai"}  # the hotel's slots are lost
    assert count(dialogues, "active_only", "dialogue SNG1.json, turn 2", "incomplete") == 2  # once in each dialogue


def test_one_domain_from_start_to_end_loses_nothing(tmp_path: Path) -> None:
    dialogues = read_dialogues(as_json(tmp_path / "x", [row(active_only(TURNS[:2]))]))
    assert count(dialogues, "active_only") is None


def swapped(acting: Row) -> Row:
    slots = [{"slot_name": s["slot_value"], "slot_value": s["slot_name"]} for s in acting["dialog_act"]["act_slots"]]
    return {**acting, "dialog_act": {**acting["dialog_act"], "act_slots": slots}}


@pytest.mark.parametrize("kept", [["Hotel-Recommend"], ["Hotel-Request"], ["Hotel-Recommend", "Hotel-Request"]])
def test_exports_with_names_and_values_of_acts_exchanged(tmp_path: Path, kept: list[str]) -> None:
    """Older exports: https://github.com/huggingface/datasets/issues/2128. The spans, or a `?`, give it away."""
    pairs = {"Hotel-Recommend": [["name", "the acorn"]], "Hotel-Request": [["price", "?"]]}
    spans = [("Hotel-Recommend", "name", "the acorn")] if "Hotel-Recommend" in kept else []
    acting = acts({act: pairs[act] for act in kept}, spans)
    for number, given in enumerate((acting, swapped(acting))):
        turns = [TURNS[0], {**TURNS[1], "dialogue_acts": given}, TURNS[2], TURNS[3]]
        dialogues = read_dialogues(as_json(tmp_path / f"{number}", [row(turns)]))
        first = exchanges(dialogues)[0]
        assert first.act_slots == tuple(ActSlot(act, *pair) for act in kept for pair in pairs[act])
        assert count(dialogues, "slot_value", "slot_name") == (number or None)


def test_taxi_intents_are_folded_and_unknown_ones_named(tmp_path: Path) -> None:
    schema = [{"service_name": name, "intents": [{"name": f"book_{name}"}]} for name in ("taxi", "hotel")]
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    turns = [turn(0, "hi", frames(("taxi", "find_taxi", {}), ("hotel", "find_hotel", {})), NOTHING), TURNS[1]]
    dialogues = read_dialogues(as_json(tmp_path / "x", [row(turns)]))
    assert exchanges(dialogues)[0].intents == ("book_taxi", "find_hotel")
    assert count(dialogues, "find_taxi") == 1
    assert count(dialogues, "find_hotel", "schema.json", "turn 0") == 1


# Files that are refused


def with_turn(**changes: Any) -> list[Any]:
    return [row([{**TURNS[0], **changes}, *TURNS[1:]])]


def with_frames(**changes: Any) -> list[Any]:
    return with_turn(frames={**TURNS[0]["frames"], **changes})


def with_state(**changes: Any) -> list[Any]:
    [first, second] = TURNS[0]["frames"]["state"]
    return with_frames(state=[{**first, **changes}, second])


def with_acts(given: Any) -> list[Any]:
    return [row([TURNS[0], {**TURNS[1], "dialogue_acts": given}])]


SHORT = {**row()["turns"], "speaker": [0, 1]}
VALUES = {"slots_values_name": ["hotel-area"], "slots_values_list": [["a"], ["b"]]}
# Name: data, what the message must say beside the file's name.
BAD: dict[str, tuple[Any, list[str]]] = {
    "text": ("x", ["list of dialogues"]),
    "no rows": ([], ["no dialogue"]),
    "row": ([row(), 5], ["dialogue number 2"]),
    "no id": ([{"turns": {}}], ["dialogue_id"]),
    "an id twice": ([row(), row()], ["SNG1.json is there twice"]),
    "no turns": ([{"dialogue_id": "d"}], ["dialogue d", "turns"]),
    "no turn": ([{"dialogue_id": "d", "turns": {name: [] for name in TURN}}], ["dialogue d", "no turn"]),
    "turns": ([{"dialogue_id": "d", "turns": {"speaker": 5}}], ["dialogue d", "turns"]),
    "lengths": ([{**row(), "turns": SHORT}], ["turns", "speaker: 2", "utterance: 4"]),
    "speaker": (with_turn(speaker=2), ["turn 0", "speaker"]),
    "two user turns": (with_turn(speaker=1), ["turn 0", "begins with a system turn"]),
    "utterance": (with_turn(utterance=["x"]), ["turn 0", "utterance"]),
    "frames": (with_turn(frames=None), ["turn 0", "frames"]),
    "frame lengths": (with_frames(service=["hotel"]), ["turn 0", "frames", "service: 1"]),
    "service": (with_frames(service=[5, 6]), ["frame 0", "service"]),
    "state": (with_frames(state=[None, None]), ["frame 0", "state"]),
    "raw slot_values": (with_state(slots_values=None), ["frame 0", "slots_values"]),
    "slots_values lengths": (with_state(slots_values=VALUES), ["frame 0", "slots_values_list: 2"]),
    "slot": (with_state(slots_values=[{"slots_values_name": 5}]), ["slots_values_name"]),
    "value": (
        with_state(slots_values=[{"slots_values_name": "hotel-area", "slots_values_list": [{}]}]),
        ["frame 0", "hotel-area"],
    ),
    "intent": (with_state(active_intent=5), ["active_intent"]),
    "requested": (with_state(requested_slots=[5]), ["requested_slots"]),
    "acts": (with_acts(5), ["turn 1", "dialogue_acts"]),
    "no acts": (with_acts({"span_info": []}), ["turn 1", "dialogue_acts"]),
    "act": (with_acts({"dialog_act": 5}), ["turn 1", "dialog_act"]),
    "act type": (with_acts({"dialog_act": [{"act_slots": []}]}), ["turn 1", "act_type"]),
    "act slots": (with_acts({"dialog_act": [{"act_type": "x", "act_slots": 5}]}), ["turn 1", "act_slots"]),
    "spans": (with_acts({"dialog_act": [], "span_info": [{"act_type": "x"}]}), ["turn 1", "act_slot_name"]),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_what_is_wrong_is_said_with_its_place(name: str, tmp_path: Path) -> None:
    data, words = BAD[name]
    path = as_json(tmp_path / "bad", data)
    with pytest.raises(InputError) as caught:
        read_dialogues(path, NAME)
    check(caught.value, path, words)


@pytest.mark.parametrize(("line", "words"), [('{"dialogue_id": "d", "tur', ["line 3"]), ("5", ["dialogue number 2"])])
def test_a_bad_line_is_said_with_its_number(tmp_path: Path, line: str, words: list[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(row()) + "\n\n" + line + "\n", encoding="utf-8")
    for form in (None, NAME):
        with pytest.raises(InputError) as caught:
            read_dialogues(path, form)
        check(caught.value, path, words)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = as_parquet(tmp_path / "rows", [row()])
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError) as caught:
        read_dialogues(path)
    check(caught.value, path, ["damaged"])


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and so on PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError) as caught:
        read_dialogues(path)
    check(caught.value, path, ["pyarrow", 'pip install "turnwise[parquet]"'])


def check(error: InputError, path: Path, words: list[str]) -> None:
    assert [fact for fact in FACTS if not getattr(error, fact)] == []
    assert str(path) in error.message
    said = error.message.replace(str(path), "")
    assert [word for word in words if word not in said] == [], error.message
    assert len(said) < 1000


# The real dialogues


def rows_of(raw: list[Row], *, idle: bool) -> list[Row]:
    """Published dialogues as Hugging Face writes them; without idle frames as its active_only export does."""
    rows = []
    for talk in raw:
        turns = []
        for i, one in enumerate(talk["turns"]):
            framed = [f for f in one["frames"] if "state" in f and (idle or f["state"]["active_intent"] != "NONE")]
            given = [(f["service"], f["state"]["active_intent"], f["state"]["slot_values"]) for f in framed]
            made = frames(*given)
            for state, f in zip(made["state"], framed, strict=True):
                state["requested_slots"] = f["state"]["requested_slots"]
            turns.append(turn(i, one["utterance"], made, NOTHING))
        rows.append(row(turns, talk["dialogue_id"]))
    return rows


def test_published_dialogues_are_the_same_in_either_layout(tmp_path: Path) -> None:
    path = shared("multiwoz22", "original_examples.json")
    raw = json.loads(path.read_bytes())
    published = exchanges(read_dialogues(path))
    rows = read_dialogues(as_lines(tmp_path / "rows", rows_of(raw, idle=True)))
    compared = ("dialogue_id", "turn_id", "user", "response", "domains", "intents", "state", "requested")
    for ours, theirs in zip(exchanges(rows), published, strict=True):
        assert [getattr(ours, name) for name in compared] == [getattr(theirs, name) for name in compared]
    assert count(rows, "active_only") is None
    lost = read_dialogues(as_lines(tmp_path / "lost", rows_of(raw, idle=False)))
    assert count(lost, "active_only", "SNG1161.json, turn 4") == 7  # 1 + 4 + 2, see test_schema_guided
