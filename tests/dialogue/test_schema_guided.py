"""MultiWOZ 2.2 as published and Schema-Guided Dialogue: what comes out of every field, and what is noted or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import ActSlot, Exchange
from turnwise.kernel.errors import InputError

SERVICES = ("hotel", "restaurant", "taxi", "train", "attraction", "bus", "hospital", "police")
FACTS = ("what", "where", "found", "expected", "remedy")


def frame(service: Any, intent: Any = "NONE", asked: Any = (), **slots: Any) -> dict[str, Any]:
    values = {f"{service}-{slot}": value if isinstance(value, list) else [value] for slot, value in slots.items()}
    state = {"active_intent": intent, "requested_slots": list(asked), "slot_values": values}
    return {"service": service, "state": state, "slots": [], "actions": []}


def user(*frames: dict[str, Any], text: str = "hi", every: bool = True) -> dict[str, Any]:
    """A user turn; as in the corpus, services that nobody talks about have an empty frame."""
    given = [one["service"] for one in frames]
    rest = [frame(service) for service in SERVICES if service not in given] if every else []
    return {"speaker": "USER", "utterance": text, "frames": [*frames, *rest]}


def system(text: str = "hello", frames: Any = ()) -> dict[str, Any]:
    return {"speaker": "SYSTEM", "utterance": text, "frames": list(frames)}


def dialogue(*turns: dict[str, Any], name: Any = "SNG1.json") -> dict[str, Any]:
    numbered = [{"turn_id": str(i), **turn} for i, turn in enumerate(turns)]
    return {"dialogue_id": name, "services": ["hotel"], "turns": numbered}


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def exchanges(dialogues: Dialogues) -> list[Exchange]:
    return [exchange for dialogue_id in dialogues.ids() for exchange in dialogues.exchanges(dialogue_id)]


def count(dialogues: Dialogues, *words: str) -> int | None:
    """How often something is noted, by words of the note; None where it is not."""
    found = [n for note, n in dialogues.tally.notes.items() if all(word in note for word in words)]
    assert len(found) <= 1
    return found[0] if found else None


# A hotel, then a restaurant, then goodbye: the hotel's slots stay in frames without an intent.
HOTEL = {"area": "north", "stars": ["4", "four"]}
TALK = dialogue(
    user(frame("hotel", "find_hotel", ["hotel-phone"], **HOTEL), text="A hotel in the north with four stars?"),
    system("The Acorn. And the price?"),
    user(frame("hotel", **HOTEL), frame("restaurant", "find_restaurant", food="thai")),
    system("Bangkok City."),
    user(frame("hotel", **HOTEL), frame("restaurant", food="thai"), text="bye"),
    system("Goodbye."),
)
ACTS = {
    "SNG1.json": {
        "1": {
            "dialog_act": {"Hotel-Recommend": [["name", "the acorn"]], "Hotel-Request": [["price", "?"]]},
            "span_info": [["Hotel-Recommend", "Name", "The Acorn", 0, 9]],
        },
        "2": {"dialog_act": {"Restaurant-Inform": [["food", "thai"]]}, "span_info": []},
        "3": {"dialog_act": {"general-bye": [["none", "none"]]}},
    }
}
SCHEMA = [
    {"service_name": "hotel", "intents": [{"name": "find_hotel"}, {"name": "book_hotel"}]},
    {"service_name": "restaurant", "intents": [{"name": "find_restaurant"}]},
    {"service_name": "taxi", "intents": [{"name": "book_taxi"}]},
]

# MultiWOZ 2.2


def test_every_field(tmp_path: Path) -> None:
    write(tmp_path / "dialog_acts.json", ACTS)
    dialogues = read_dialogues(write(tmp_path / "data.json", [TALK]))
    assert dialogues.format == "multiwoz-2.2"
    first, second, third = exchanges(dialogues)
    assert first == Exchange(
        dialogue_id="SNG1.json",
        turn_id="0",
        user="A hotel in the north with four stars?",
        response="The Acorn. And the price?",
        domains=("hotel",),
        intents=("find_hotel",),
        acts=("Hotel-Recommend", "Hotel-Request"),
        act_slots=(ActSlot("Hotel-Recommend", "name", "the acorn"), ActSlot("Hotel-Request", "price", "?")),
        spans=(("hotel-name", "The Acorn"),),
        state={"hotel-area": "north", "hotel-stars": ["4", "four"]},  # two values are alternatives
        requested=("hotel-phone",),
    )
    # Frames with intent NONE keep their slots, and make no domain active.
    assert second.state == {"hotel-area": "north", "hotel-stars": ["4", "four"], "restaurant-food": "thai"}
    assert (second.domains, second.intents, second.requested) == (("restaurant",), ("find_restaurant",), ())
    assert (second.acts, second.spans) == (("general-bye",), None)  # what the user did (turn 2) is no act of the system
    assert (third.turn_id, third.domains, third.intents, third.state) == ("2", (), (), second.state)
    assert (third.acts, third.act_slots) == (None, None)  # turn 5 is not in the file of acts
    assert count(dialogues, "not in dialog_acts.json") == 1


def test_two_intents_in_a_turn_and_a_frame_without_service(tmp_path: Path) -> None:
    both = user(frame("train", "find_train"), frame("hotel", "find_hotel"), frame(None, "find_bus"), every=False)
    [exchange] = exchanges(read_dialogues(write(tmp_path / "x.json", [dialogue(both, system())])))
    assert exchange.domains == ("train", "hotel", "bus")  # the intent's name where there is no service
    assert exchange.intents == ("find_train", "find_hotel", "find_bus")


def test_what_a_prediction_leaves_out_is_not_known(tmp_path: Path) -> None:
    turn = user(frame("hotel", area="north"), every=False)
    turn["frames"][0]["state"] = {"slot_values": {"hotel-area": "north"}}
    [exchange] = exchanges(read_dialogues(write(tmp_path / "x.json", [dialogue(turn, system())])))
    assert exchange.state == {"hotel-area": "north"}
    assert (exchange.intents, exchange.domains, exchange.requested) == (None, None, None)


def test_without_acts_it_says_so(tmp_path: Path) -> None:
    dialogues = read_dialogues(write(tmp_path / "x.json", [TALK]))
    assert {(exchange.acts, exchange.act_slots, exchange.spans) for exchange in exchanges(dialogues)} == {(None,) * 3}
    assert count(dialogues, "no dialog_acts.json") == 1


@pytest.mark.parametrize("where", ["test", ""])
def test_a_folder_is_read_in_order_and_acts_may_lie_above(tmp_path: Path, where: str) -> None:
    write(tmp_path / where / "dialog_acts.json", ACTS)
    write(tmp_path / "test" / "schema.json", SCHEMA)
    for number, name in ((2, "b"), (10, "c"), (1, "SNG1.json")):
        write(tmp_path / "test" / f"dialogues_{number:03}.json", [{**TALK, "dialogue_id": name}])
    dialogues = read_dialogues(tmp_path / "test")
    assert list(dialogues.ids()) == ["SNG1.json", "b", "c"]
    assert dialogues.exchanges("SNG1.json")[0].acts == ("Hotel-Recommend", "Hotel-Request")
    assert count(dialogues, "not in dialog_acts.json") == 7  # 3 of b, 3 of c, the last of SNG1.json
    assert read_dialogues(tmp_path / "test", "multiwoz-2.2").sha256 == dialogues.sha256


def test_acts_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    plain = read_dialogues(write(tmp_path / "a" / "b" / "x.json", [TALK]))
    write(tmp_path / "c" / "dialog_acts.json", ACTS)
    assert read_dialogues(write(tmp_path / "c" / "d" / "x.json", [TALK])).sha256 != plain.sha256
    assert read_dialogues(write(tmp_path / "e" / "f" / "y.json", [TALK])).sha256 == plain.sha256


def test_predictions_do_not_borrow_the_acts_that_lie_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "dialog_acts.json", ACTS)
    path = write(tmp_path / "own" / "dialogues_001.json", [TALK])
    for place in (path, path.parent, write(tmp_path / "predicted.json", [TALK])):
        dialogues = read_dialogues(place, side="predictions")
        assert exchanges(dialogues)[0].acts is None
        assert count(dialogues, "no dialog_acts.json") == 1
    write(path.parent / "dialog_acts.json", ACTS)
    assert exchanges(read_dialogues(path.parent, side="predictions"))[0].acts == ("Hotel-Recommend", "Hotel-Request")


def test_a_folder_above_the_dialogues_is_refused_with_their_folders(tmp_path: Path) -> None:
    write(tmp_path / "test" / "dialogues_001.json", [TALK])
    with pytest.raises(InputError, match="is a folder, not a file") as caught:
        read_dialogues(tmp_path)
    assert str(tmp_path / "test") in (caught.value.remedy or "")


def test_intents_are_checked_against_the_schema(tmp_path: Path) -> None:
    write(tmp_path / "schema.json", SCHEMA)
    turns = [
        turn
        for intent in ("find_taxi", "fly", "NONE", "fly", "book_taxi", "")
        for turn in (user(frame("taxi", intent)), system())
    ]
    dialogues = read_dialogues(write(tmp_path / "data" / "x.json", [dialogue(*turns)]))
    found = [exchange.intents for exchange in exchanges(dialogues)]
    assert found == [("book_taxi",), ("fly",), (), ("fly",), ("book_taxi",), ()]
    assert count(dialogues, "find_taxi", "book_taxi") == 1
    assert count(dialogues, "intent fly of service taxi", "dialogue SNG1.json, turn 2") == 2
    assert len(dialogues.tally.notes) == 3  # and that there are no acts


def test_another_schema_json_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path / "schema.json", {"type": "object"})
    dialogues = read_dialogues(write(tmp_path / "x.json", [TALK]))
    assert count(dialogues, "schema.json", "not checked") == 1


def without_idle_frames(talk: dict[str, Any]) -> dict[str, Any]:
    """What an active_only export makes of a dialogue."""
    turns = []
    for turn in talk["turns"]:
        frames = [one for one in turn["frames"] if one["state"]["active_intent"] != "NONE"]
        turns.append({**turn, "frames": frames})
    return {**talk, "turns": turns}


def test_an_export_that_lost_slots_is_noticed(tmp_path: Path) -> None:
    dialogues = read_dialogues(write(tmp_path / "x.json", [without_idle_frames(TALK)]))
    # The hotel's slots are gone in exchange 1, those of both domains in exchange 2.
    assert [list(exchange.state or {}) for exchange in exchanges(dialogues)][1:] == [["restaurant-food"], []]
    assert count(dialogues, "active_only", "dialogue SNG1.json, turn 2") == 2
    # One domain from start to end: nothing is lost.
    one = dialogue(*[turn for _ in range(2) for turn in (user(frame("hotel", "find_hotel", **HOTEL)), system())])
    assert count(read_dialogues(write(tmp_path / "y.json", [without_idle_frames(one)])), "active_only") is None
    # All frames are there, and a slot is taken back: nothing is lost either.
    taken = dialogue(
        user(frame("hotel", "find_hotel", **HOTEL)), system(), user(frame("hotel", "find_hotel")), system()
    )
    assert count(read_dialogues(write(tmp_path / "z.json", [taken])), "active_only") is None


def test_a_last_turn_without_an_answer_is_left_out(tmp_path: Path) -> None:
    dialogues = read_dialogues(write(tmp_path / "x.json", [dialogue(user(), system(), user())]))
    assert len(exchanges(dialogues)) == 1
    assert count(dialogues, "no system turn answers") == 1


# Schema-Guided Dialogue


def sgd_frame(service: str, *actions: Any, intent: str | None = None, asked: Any = (), **slots: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"service": service, "slots": [], "actions": list(actions)}
    if intent is not None:
        found["state"] = {"active_intent": intent, "requested_slots": list(asked), "slot_values": slots}
    return found


def action(act: str, slot: str = "", *values: str) -> dict[str, Any]:
    return {"act": act, "slot": slot, "values": list(values), "canonical_values": []}


MARKED = {"slot": "name", "start": 0, "exclusive_end": 5}
SGD = dialogue(
    user(
        sgd_frame(
            "Restaurants_1", action("INFORM_INTENT"), intent="FindRestaurants", asked=["phone"], city=["Oakland"]
        ),
        every=False,
    ),
    system(
        "Zaika is in Oakland or Alameda. When?",
        [
            {
                **sgd_frame("Restaurants_1", action("OFFER", "name", "Zaika"), action("INFORM", "city", "A", "B")),
                "slots": [MARKED],
            }
        ],
    ),
    user(
        sgd_frame("Restaurants_1", intent="NONE", city=["Oakland"]),
        sgd_frame("Hotels_2", intent="SearchHouse", where_to=["sf", "SF"]),
        every=False,
    ),
    system("When?", [sgd_frame("Hotels_2", action("REQUEST", "date"), action("REQ_MORE"))]),
    name="1_00000",
)


def test_sgd(tmp_path: Path) -> None:
    dialogues = read_dialogues(write(tmp_path / "x.json", [SGD]))
    assert dialogues.format == "sgd"
    first, second = exchanges(dialogues)
    assert first == Exchange(
        dialogue_id="1_00000",
        turn_id="0",
        user="hi",
        response="Zaika is in Oakland or Alameda. When?",
        domains=("restaurants_1",),
        intents=("FindRestaurants",),
        acts=("Restaurants_1-OFFER", "Restaurants_1-INFORM"),
        act_slots=(
            ActSlot("Restaurants_1-OFFER", "name", "Zaika"),
            ActSlot("Restaurants_1-INFORM", "city", "A"),
            ActSlot("Restaurants_1-INFORM", "city", "B"),
        ),
        spans=(("Restaurants_1-name", "Zaika"),),
        state={"Restaurants_1-city": "Oakland"},
        requested=("Restaurants_1-phone",),
    )
    assert second.state == {"Restaurants_1-city": "Oakland", "Hotels_2-where_to": ["sf", "SF"]}
    assert (second.domains, second.intents) == (("hotels_2",), ("SearchHouse",))
    assert second.acts == ("Hotels_2-REQUEST", "Hotels_2-REQ_MORE")
    assert second.act_slots == (ActSlot("Hotels_2-REQUEST", "date", ""),)
    assert dialogues.tally.notes == {}


def test_sgd_in_a_folder_with_its_schema(tmp_path: Path) -> None:
    schema = [{"service_name": "Restaurants_1", "intents": [{"name": "FindRestaurants"}]}]
    write(tmp_path / "schema.json", schema)
    write(tmp_path / "dialogues_001.json", [SGD])
    dialogues = read_dialogues(tmp_path)
    assert dialogues.format == "sgd"
    assert count(dialogues, "SearchHouse", "Hotels_2", "turn 2") == 1


@pytest.mark.parametrize(
    ("service", "actions", "form"),
    [
        ("hotel", [], "multiwoz-2.2"),
        ("Hotels_2", [], "sgd"),
        ("hotel", [action("REQUEST", "date")], "sgd"),
        ("Hotels_2", [action("REQUEST", "date")], "sgd"),
    ],
)
def test_telling_the_two_apart(tmp_path: Path, service: str, actions: Any, form: str) -> None:
    turns = [user(sgd_frame(service, intent="NONE"), every=False), system(frames=[sgd_frame(service, *actions)])]
    path = write(tmp_path / "x.json", [dialogue(user(every=False), system()), dialogue(*turns, name="d")])
    assert read_dialogues(path).format == form
    for named in ("multiwoz-2.2", "sgd"):
        assert read_dialogues(path, named).format == named


def test_slots_that_already_name_their_service_are_left_as_they_are(tmp_path: Path) -> None:
    turns = [user(frame("hotel", "find_hotel", area="north"), every=False), system()]
    [exchange] = exchanges(read_dialogues(write(tmp_path / "x.json", [dialogue(*turns)]), "sgd"))
    assert exchange.state == {"hotel-area": "north"}


def test_dialogues_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(TALK) + "\n" + json.dumps({**TALK, "dialogue_id": "b"}) + "\n", encoding="utf-8")
    dialogues = read_dialogues(path)
    assert (dialogues.format, list(dialogues.ids())) == ("multiwoz-2.2", ["SNG1.json", "b"])


# Files that are refused


def with_frame(**changes: Any) -> list[Any]:
    return [dialogue(user({**frame("hotel"), **changes}, every=False), system())]


def with_state(**changes: Any) -> list[Any]:
    return with_frame(state={**frame("hotel")["state"], **changes})


def with_action(**changes: Any) -> list[Any]:
    return [dialogue(user(every=False), system(frames=[{**sgd_frame("Hotels_2", action("INFORM")), **changes}]))]


TWICE = user(frame("hotel", area="north"), {**frame("x"), "state": frame("hotel", area="south")["state"]}, every=False)
M, S = "multiwoz-2.2", "sgd"
# Name: data, format, what the message must say beside the file's name.
BAD: dict[str, tuple[Any, str, list[str]]] = {
    "an object": ({}, M, ["list of dialogues"]),
    "no dialogue": ([], M, ["no dialogue"]),
    "dialogue": ([TALK, 5], M, ["dialogue number 2"]),
    "no id": ([{"turns": []}], M, ["dialogue number 1", "dialogue_id"]),
    "truth as id": ([{"dialogue_id": True, "turns": []}], M, ["dialogue_id"]),
    "empty id": ([{"dialogue_id": " ", "turns": []}], M, ["dialogue id"]),
    "an id twice": ([TALK, TALK], M, ["SNG1.json is there twice", "number 2"]),
    "no turns": ([{"dialogue_id": "d"}], M, ["dialogue d", "turns"]),
    "turns": ([{"dialogue_id": "d", "turns": {}}], M, ["dialogue d", "turns"]),
    "not one turn": ([dialogue(name="d")], M, ["dialogue d", "no turn"]),
    "turn": ([{"dialogue_id": "d", "turns": [user(), 5]}], M, ["dialogue d, turn 1"]),
    "turn_id": ([dialogue({**user(), "turn_id": 1.5}, system())], M, ["turn 0", "turn_id"]),
    "a turn_id twice": ([dialogue(user(), {**system(), "turn_id": 0})], M, ["turn_id", "twice"]),
    "speaker": ([dialogue({**user(), "speaker": "BOT"}, system())], M, ["turn 0", "speaker"]),
    "speaker as truth": ([dialogue({**user(), "speaker": True}, system())], M, ["turn 0", "speaker"]),
    "no speaker": ([dialogue({"frames": []}, system())], M, ["turn 0", "speaker"]),
    "utterance": ([dialogue({**user(), "utterance": 5}, system())], M, ["turn 0", "utterance"]),
    "system first": ([dialogue(system(), user())], M, ["turn 0", "begins with a system turn"]),
    "two user turns": ([dialogue(user(), user(), system())], M, ["turn 1", "two user turns in a row"]),
    "two system turns": ([dialogue(user(), system(), system())], M, ["turn 2", "two system turns in a row"]),
    "no frames": ([dialogue({"speaker": "USER"}, system())], M, ["turn 0", "frames"]),
    "frames": ([dialogue({**user(), "frames": {}}, system())], M, ["turn 0", "frames"]),
    "frame": ([dialogue({**user(), "frames": [5]}, system())], M, ["turn 0", "frames"]),
    "service": (with_frame(service=5), M, ["frame 0", "service"]),
    "no service in SGD": (with_frame(service=None), S, ["frame 0", "service"]),
    "state": (with_frame(state=None), M, ["frame 0", "state"]),
    "slot_values": (with_state(slot_values=[]), M, ["frame 0", "slot_values"]),
    "value": (with_state(slot_values={"hotel-area": [{"a": 1}]}), M, ["slot_values.hotel-area"]),
    "intent": (with_state(active_intent=5), M, ["active_intent"]),
    "requested": (with_state(requested_slots={"a": 1}), M, ["requested_slots"]),
    "two values": ([dialogue(TWICE, system())], M, ["turn 0", "hotel-area", "south"]),
    "SGD: service": (with_action(service=None), S, ["turn 1, frame 0", "service"]),
    "SGD: actions": (with_action(actions={"act": "INFORM"}), S, ["turn 1, frame 0", "actions"]),
    "SGD: act": (with_action(actions=[{"slot": "x"}]), S, ["actions.act"]),
    "SGD: slot": (with_action(actions=[{"act": "INFORM", "slot": 5}]), S, ["actions.slot"]),
    "SGD: values": (with_action(actions=[{"act": "INFORM", "slot": "x", "values": [5]}]), S, ["actions.values"]),
    "SGD: marks": (with_action(slots=[{"slot": "x", "start": "0"}]), S, ["slots"]),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_what_is_wrong_is_said_with_its_place(name: str, tmp_path: Path) -> None:
    data, form, words = BAD[name]
    path = write(tmp_path / "bad.json", data)
    with pytest.raises(InputError) as caught:
        read_dialogues(path, form)
    check(caught.value, path, words)


BAD_ACTS: dict[str, tuple[Any, list[str]]] = {
    "list": ([], ["whole file"]),
    "dialogue": ({"SNG1.json": []}, ["dialogue SNG1.json"]),
    "turn": ({"SNG1.json": {"1": []}}, ["turn 1", "dialog_act"]),
    "acts": ({"SNG1.json": {"1": {"dialog_act": ["x"]}}}, ["turn 1", "dialog_act"]),
    "slots": ({"SNG1.json": {"1": {"dialog_act": {"Hotel-Inform": "x"}}}}, ["turn 1", "dialog_act.Hotel-Inform"]),
    "spans": ({"SNG1.json": {"1": {"dialog_act": {}, "span_info": [["x"]]}}}, ["turn 1", "span_info"]),
}


@pytest.mark.parametrize("name", sorted(BAD_ACTS))
def test_bad_acts_are_said_with_their_own_file(name: str, tmp_path: Path) -> None:
    data, words = BAD_ACTS[name]
    acts = write(tmp_path / "dialog_acts.json", data)
    with pytest.raises(InputError) as caught:
        read_dialogues(write(tmp_path / "x.json", [TALK]))
    check(caught.value, acts, words)


@pytest.mark.parametrize("data", [{"a": 1}, "x"])
def test_a_file_in_a_folder_that_is_no_list(tmp_path: Path, data: Any) -> None:
    write(tmp_path / "dialogues_001.json", [TALK])
    path = write(tmp_path / "dialogues_002.json", data)
    with pytest.raises(InputError) as caught:
        read_dialogues(tmp_path)
    check(caught.value, path, ["list of dialogues"])


def check(error: InputError, path: Path, words: list[str]) -> None:
    assert [fact for fact in FACTS if not getattr(error, fact)] == []
    assert str(path) in error.message
    said = error.message.replace(str(path), "")
    assert [word for word in words if word not in said] == [], error.message
    assert len(said) < 1000


# The real dialogues


def test_published_dialogues_keep_the_slots_of_every_frame() -> None:
    path = shared("multiwoz22", "original_examples.json")
    raw = json.loads(path.read_bytes())
    dialogues = read_dialogues(path)
    assert (dialogues.format, len(dialogues.facts)) == ("multiwoz-2.2", 5)
    idle = 0
    for talk in raw:
        users = [turn for turn in talk["turns"] if turn["speaker"] == "USER"]
        assert {len(turn["frames"]) for turn in users} == {8}
        for turn, exchange in zip(users, dialogues.exchanges(talk["dialogue_id"]), strict=True):
            states = [one["state"] for one in turn["frames"]]
            idle += sum(state["active_intent"] == "NONE" and bool(state["slot_values"]) for state in states)
            merged = {slot: values for state in states for slot, values in state["slot_values"].items()}
            assert {slot: [v] if isinstance(v, str) else v for slot, v in (exchange.state or {}).items()} == merged
            active = [one["service"] for one in turn["frames"] if one["state"]["active_intent"] != "NONE"]
            assert exchange.domains == tuple(active)
    assert idle == 9  # one in SNG1161, five in MUL1443, three in MUL1170
    assert count(dialogues, "find_taxi") == 2
    assert count(dialogues, "find_police", "SNG01678.json, turn 0") == 2  # the schema calls it police
    assert count(dialogues, "active_only") is None


def test_published_dialogues_as_an_active_only_export(tmp_path: Path) -> None:
    raw = json.loads(shared("multiwoz22", "original_examples.json").read_bytes())
    for talk in raw:
        for turn in talk["turns"]:
            if turn["speaker"] == "USER":
                turn["frames"] = [one for one in turn["frames"] if one["state"]["active_intent"] != "NONE"]
    dialogues = read_dialogues(write(tmp_path / "x.json", raw))
    # User turn 4 of SNG1161, 6 to 12 of MUL1443, 8 and 10 of MUL1170: 1 + 4 + 2 exchanges.
    assert count(dialogues, "active_only", "SNG1161.json, turn 4") == 7
