"""Inform and Success: single dialogues on a database of five entities, then the published numbers on real data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.shared_data import shared
from turnwise.dialogue.batch import ExchangeBatch, empty_system
from turnwise.dialogue.booked import read_booked_domains
from turnwise.dialogue.database import Database, load_database, query_normaliser
from turnwise.dialogue.formats.base import Dialogues
from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.metrics.inform import Inform, Success, domains_by_state
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.pairing import pair_up
from turnwise.dialogue.read import read_dialogues
from turnwise.dialogue.records import Exchange, Goal, State
from turnwise.dialogue.resources import Resources
from turnwise.kernel.metric import Settings
from turnwise.kernel.score import Measurement, Status

NONE = load_normaliser("none")
HOTELS = [
    {"name": "oak lodge", "area": "north", "stars": "4"},
    {"name": "station inn", "area": "north", "stars": "2"},
    {"name": "mill house", "area": "south", "stars": "4"},
]
TRAINS = [
    {"trainID": "TR1", "leaveAt": "05:00", "arriveBy": "05:51", "departure": "ely"},
    {"trainID": "TR2", "leaveAt": "17:00", "arriveBy": "17:51", "departure": "ely"},
]
NORTH = {"hotel": Goal({"area": "north"}, (), None)}
Turn = dict[str, Any]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    folder = tmp_path_factory.mktemp("db")
    for domain, entities in {"hotel": HOTELS, "train": TRAINS, "police": [{"name": "Parkside"}]}.items():
        (folder / f"{domain}_db.json").write_text(json.dumps(entities))
    return load_database(folder)


def batch_of(
    goal: dict[str, Goal] | None,
    turns: Sequence[Turn | None],
    database: Database | None,
    *,
    booked: list[tuple[str, ...]] | None = None,
    **options: Any,
) -> ExchangeBatch:
    """One dialogue; a turn is `response`, `state`, `domains`, or None where nothing was predicted."""
    references, predictions = [], []
    for number, turn in enumerate(turns):
        when = None if booked == [] else booked[number] if booked is not None else ()
        first = goal if number == 0 else None
        references.append(Exchange(dialogue_id="d", turn_id=str(number), booked=when, goal=first))
        if turn is not None:
            predictions.append(Exchange(dialogue_id="d", turn_id=str(number), **turn))
    pairs = pair_up("d", references, predictions, NONE)
    return ExchangeBatch(0, pairs, NONE, resources=Resources(database=database), **options)


def measure(metric: type[Inform], batch: ExchangeBatch, **values: str) -> Measurement:
    [(unit, output, found)] = metric(Settings(values=values)).measure(batch)
    assert (unit.id, unit.kind, output) == ("d", "dialogue", "value")
    return found


def inform(goal: dict[str, Goal], turns: Sequence[Turn | None], database: Database, **values: str) -> float | None:
    found = measure(Inform, batch_of(goal, turns, database), **values)
    return found.statistics[0] if found.statistics else None


def offer(state: dict[str, str], response: str = "[value_name]", domain: str = "hotel") -> Turn:
    flat = {f"{domain}-{slot}": value for slot, value in state.items()}
    return {"response": response, "state": flat, "domains": (domain,)}


# Inform


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([offer({"area": "north"})], 1),
        ([offer({"area": "north", "stars": "4"})], 1),  # {0} lies in {0, 1}
        ([offer({"stars": "4"})], 0),  # {0, 2} does not
        ([offer({"area": "south"})], 0),
        ([offer({"area": "west"})], 0),  # finds nothing
        ([offer({})], 0),  # no state: nothing is offered
        ([offer({"area": "north"}, "we have some")], 0),  # no name
        ([{**offer({"area": "north"}), "domains": ("taxi",)}], 0),  # somebody else's name
        ([{**offer({"area": "north"}), "domains": ("taxi", "hotel")}], 1),
        # {0, 2} does not stay: {0} lacks mill house.
        ([offer({"stars": "4"}), offer({"stars": "4", "area": "north"})], 1),
        # {0} stays: {0, 2} still has it.
        ([offer({"stars": "4", "area": "north"}), offer({"stars": "4"})], 1),
        # {0, 1} does not stay: nothing of it is found any more, and nothing takes its place.
        ([offer({"area": "north"}), offer({"area": "west"})], 0),
        ([offer({"area": "west"}), offer({"area": "north"})], 1),
        ([offer({"area": "south"}), None, offer({"area": "north"})], 1),
        ([None], 0),
    ],
)
def test_a_hotel_in_the_north(turns: Sequence[Turn | None], expected: int, database: Database) -> None:
    assert inform(NORTH, turns, database) == expected


@pytest.mark.parametrize(
    ("goal", "turns", "expected"),
    [
        ({"hotel": Goal({"name": "mill house"}, (), None)}, [offer({"area": "north"})], 1),  # the user knows the name
        ({"hotel": Goal({"name": "not mentioned"}, (), None)}, [None], 0),
        ({"taxi": Goal({"leaveAt": "17:00"}, ("phone",), None)}, [{"response": ""}], 1),
        ({"police": Goal({}, ("phone",), None)}, [{"response": ""}], 1),
        (
            {"train": Goal({"leaveAt": "12:00"}, ("price",), None)},
            [{"response": ""}],
            1,
        ),  # no train offered, none wanted
        ({"train": Goal({"leaveAt": "12:00"}, ("trainID",), None)}, [None], 0),
        # A train that was offered must be right: TR2 leaves at 17:00, TR1 at 5:00.
        ({"train": Goal({"leaveAt": "12:00"}, (), None)}, [offer({"leave at": "13:00"}, "[value_id]", "train")], 1),
        ({"train": Goal({"leaveAt": "12:00"}, (), None)}, [offer({"arrive by": "13:00"}, "[value_id]", "train")], 0),
        ({"train": Goal({"leaveAt": "12:00"}, (), None)}, [offer({"arrive by": "13:00"}, "[value_name]", "train")], 1),
        ({**NORTH, "taxi": Goal({}, (), None)}, [offer({"area": "north"})], 1),
        ({**NORTH, "train": Goal({}, ("trainID",), None)}, [offer({"area": "north"})], 0),  # one of two
    ],
)
def test_other_goals(goal: dict[str, Goal], turns: Sequence[Turn | None], expected: int, database: Database) -> None:
    assert inform(goal, turns, database) == expected


def test_parts_and_evidence(database: Database) -> None:
    goal = {**NORTH, "train": Goal({}, ("trainID",), None), "taxi": Goal({}, (), None)}
    found = measure(Inform, batch_of(goal, [offer({"stars": "4"})], database))
    assert found.parts is not None
    assert (found.parts.names, found.parts.statistics) == (["hotel", "train", "taxi"], ([0.0, 0.0, 1.0],))
    assert found.evidence == [
        {"domain": "hotel", "matched": False, "why": "1 of 2 offered are not what the goal asks for", "offered": 2},
        {"domain": "train", "matched": False, "why": "nothing offered", "offered": 0},
        {"domain": "taxi", "matched": True, "why": "nothing has to be offered", "offered": 0},
    ]
    found = measure(Inform, batch_of(NORTH, [offer({"area": "west"})], database))
    assert found.evidence[0]["why"] == "the database has nothing for the predicted state"


# Success


WANTED = {"hotel": Goal({"area": "north"}, ("phone", "address", "internet"), {"day": "monday"})}
"""Phone, address and a reference are wanted; whether there is internet is not looked for."""


@pytest.mark.parametrize(
    ("responses", "booked", "missing"),
    [
        (["[name] [phone] [address]", "[reference]"], [(), ("hotel",)], []),
        (["[name] [phone]", "[reference]"], [(), ("hotel",)], ["address"]),
        (["[name] [phone] [address]", "done"], [(), ("hotel",)], ["ref"]),
        (["[name] [phone] [address] [reference]", ""], [(), ("hotel",)], ["ref"]),  # too early to be a real one
        (["[name] [phone] [address]", "[reference]"], [("taxi",), ("taxi",)], ["ref"]),  # another booking
        (["[hotel_name]", "[hotel_phone], [hotel_address], [hotel_reference]"], [("hotel",), ("hotel",)], []),
    ],
)
def test_success(responses: list[str], booked: list[tuple[str, ...]], missing: list[str], database: Database) -> None:
    batch = batch_of(WANTED, [offer({"area": "north"}, text) for text in responses], database, booked=booked)
    found = measure(Success, batch)
    assert found.statistics == (float(not missing),)
    assert found.evidence[0]["missing"] == missing
    assert measure(Inform, batch).statistics == (1.0,)


def test_success_needs_inform(database: Database) -> None:
    goal = {"hotel": Goal({"area": "north"}, ("phone",), None), "taxi": Goal({}, ("phone", "car type"), None)}
    turns = [offer({"area": "south"}, "[name] [phone]"), offer({}, "[phone]", "taxi")]
    found = measure(Success, batch_of(goal, turns, database))
    assert found.statistics == (0.0,)
    assert found.parts is not None
    assert (found.parts.names, found.parts.statistics) == (["hotel", "taxi"], ([0.0, 1.0],))


def test_an_attribute_counts_for_the_active_domain_only(database: Database) -> None:
    goal = {**NORTH, "taxi": Goal({}, ("phone",), None)}
    turns = [offer({"area": "north"}, "[name] [phone]")]
    assert measure(Success, batch_of(goal, turns, database)).statistics == (0.0,)
    turns.append(offer({}, "call [phone]", "taxi"))
    assert measure(Success, batch_of(goal, turns, database)).statistics == (1.0,)


def test_the_worked_examples_of_the_pages(database: Database) -> None:
    turns = [
        offer({"stars": "4"}, "which area?"),
        offer({"stars": "4"}, "how about [value_name]?"),  # oak lodge and mill house
        offer({"stars": "4", "area": "north"}, "[value_name] then"),  # oak lodge
        offer({"area": "north"}, "[value_name] is nice"),  # oak lodge and station inn: oak lodge stays
    ]
    found = measure(Inform, batch_of(NORTH, turns, database))
    assert (found.statistics, found.evidence[0]["offered"]) == ((1.0,), 1)
    found = measure(Inform, batch_of(NORTH, turns[:2], database))
    assert (found.statistics, found.evidence[0]["offered"]) == ((0.0,), 2)

    goal = {"hotel": Goal({"area": "north"}, ("phone", "address"), {"day": "monday"})}
    responses = ["[value_name], call [value_phone]; your reference is [value_reference]", "booked! [value_reference]"]
    batch = batch_of(goal, [offer({"area": "north"}, text) for text in responses], database, booked=[(), ("hotel",)])
    found = measure(Success, batch)
    assert (found.statistics, found.evidence[0]["missing"]) == ((0.0,), ["address"])
    assert measure(Inform, batch).statistics == (1.0,)


# The active domain


def test_the_domain_by_the_change_of_the_state() -> None:
    states: list[State | None] = [
        {},
        {"hotel-area": "north", "hotel-stars": "none"},  # hotel
        None,  # nothing predicted: stays
        {"hotel-area": "North", "taxi-leave": "17:00", "taxi-departure": "ely"},  # only the taxi changed
        {"hotel-area": "south", "taxi-leave": "17:00", "taxi-departure": "cambridge"},  # both: it stays, hotel waits
        {"hotel-area": "south", "taxi-leave": "17:00", "taxi-departure": "cambridge"},  # nothing: hotel has its turn
        {"hotel-area": "south", "taxi-leave": "17:00"},  # nothing was added: stays
        {"train-day": "monday", "attraction-area": "north", "attraction-type": "park"},  # two slots against one
    ]
    expected = [(), "hotel", "hotel", "taxi", "taxi", "hotel", "hotel", "attraction"]
    found = domains_by_state(states, query_normaliser())
    assert found == [(domain,) if isinstance(domain, str) else domain for domain in expected]


def test_three_sources_of_the_active_domain(database: Database) -> None:
    goal = {"hotel": Goal({"area": "north"}, (), None)}
    state = {"hotel-area": "north"}
    says_taxi = {"response": "[value_name]", "state": state, "domains": ("taxi",)}
    assert inform(goal, [says_taxi], database) == 0  # its own word
    assert inform(goal, [says_taxi], database, active_domain="state") == 1
    assert inform(goal, [says_taxi], database, active_domain="placeholder") == 0  # names no domain
    named = {**says_taxi, "response": "[hotel_name]"}
    assert inform(goal, [named], database, active_domain="placeholder") == 1
    silent = {"response": "[value_name]", "state": state}
    assert inform(goal, [{"response": "hello", "state": state}, silent], database) == 1  # no word: its state, kept
    assert Inform().signature == "dialogue/inform|v1|profile=turnwise|active_domain=predicted"


# What is missing


def test_who_is_not_scored(database: Database) -> None:
    right = [offer({"area": "north"})]
    for metric in (Inform, Success):
        found = measure(metric, batch_of(NORTH, right, None))
        assert (found.status, found.reason) == (Status.SKIPPED, "no database: give --database DIR")
        no_goals: list[dict[str, Goal] | None] = [None, {}]
        for goal in no_goals:
            found = measure(metric, batch_of(goal, right, database))
            assert (found.status, found.reason) == (Status.NOT_APPLICABLE, "no goal")
        found = measure(metric, batch_of(NORTH, [{"state": {"hotel-area": "north"}}], database))
        assert (found.status, found.reason) == (Status.SKIPPED, "no predicted response")
        found = measure(metric, batch_of({"spa": Goal({}, (), None)}, right, database))
        assert (found.status, found.reason) == (Status.SKIPPED, "the database has no spa")


def test_responses_with_names_are_not_taken_for_empty_ones(database: Database) -> None:
    found = measure(Inform, batch_of(NORTH, [offer({})], database, delexicalised=False))
    assert (found.status, found.reason) == (Status.SKIPPED, "the responses have no placeholders")


def test_a_dialogue_that_was_not_submitted_is_wrong(database: Database) -> None:  # 004-20
    taxi = {"taxi": Goal({}, ("phone",), None)}
    for metric in (Inform, Success):
        assert measure(metric, batch_of(taxi, [None, None], database)).statistics == (0.0,)
    assert measure(Inform, batch_of(taxi, [{"response": ""}], database)).statistics == (1.0,)  # what silence gets
    found = measure(Inform, batch_of(taxi, [None, None], database, submitted_only=True))
    assert (found.status, found.reason) == (Status.SKIPPED, "missing prediction")


def test_success_must_know_when_the_reference_had_booked(database: Database) -> None:
    batch = batch_of(WANTED, [offer({"area": "north"})], database, booked=[])
    found = measure(Success, batch)
    assert (found.status, found.reason) == (
        Status.SKIPPED,
        "not known when the reference had booked: give --booked-domains FILE",
    )
    assert measure(Inform, batch).statistics == (1.0,)
    batch = batch_of(NORTH, [offer({"area": "north"})], database, booked=[])  # nothing is to be booked
    assert measure(Success, batch).statistics == (1.0,)


# Published numbers: percent of the 1,000 dialogues of the MultiWOZ test set

PUBLISHED = {"augpt": (76.6, 60.5), "pptod": (83.1, 72.7), "ubar": (83.4, 70.3)}
EMPTY = (22.1, 2.5)


@cache
def dialogues(*parts: str) -> Dialogues:
    return read_dialogues(shared(*parts))


@cache
def batches(system: str, booked: bool) -> list[ExchangeBatch]:
    table = read_booked_domains(shared("multiwoz_predictions", "booked_domains.json")) if booked else None
    source = DialogueSource(
        dialogues("multiwoz21", "test.json.zip"),
        dialogues("multiwoz_predictions", f"{system}.json"),
        load_normaliser("multiwoz-v1"),
        resources=Resources(database=load_database(shared("multiwoz_db"))),
        booked=table,
    )
    return list(source.batches())


def percent(metric: type[Inform], made: list[ExchangeBatch], **values: str) -> float:
    found = [m.statistics for b in made for _, _, m in metric(Settings(values=values)).measure(b)]
    assert len(found) == 1000
    scored = [statistics[0] for statistics in found if statistics is not None]
    assert len(scored) == 1000
    return 100 * sum(scored) / 1000


@pytest.mark.parametrize("system", sorted(PUBLISHED))
@pytest.mark.parametrize("booked", [True, False], ids=["booked-file", "booked-by-the-corpus"])
def test_published_inform_and_success(system: str, booked: bool) -> None:
    made = batches(system, booked)
    found = percent(Inform, made), percent(Success, made)
    assert found == pytest.approx(PUBLISHED[system], abs=0.05)  # published to one decimal


def test_the_published_numbers_of_an_empty_system() -> None:
    made = [empty_system(batch) for batch in batches("augpt", True)]
    assert (percent(Inform, made), percent(Success, made)) == pytest.approx(EMPTY)


def test_the_source_of_the_active_domain_matters() -> None:
    made = batches("augpt", True)  # says itself which domains are active
    assert percent(Inform, made, active_domain="state") == pytest.approx(76.0)
    assert percent(Success, made, active_domain="state") == pytest.approx(58.4)
