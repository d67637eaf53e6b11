"""The entity database: three hotels, two restaurants and three trains whose matches can be read off the table."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import shared
from turnwise.dialogue.booked import read_booked_domains, with_booked
from turnwise.dialogue.database import Database, load_database, query_normaliser
from turnwise.dialogue.placeholders import Placeholder, looks_delexicalised, placeholders
from turnwise.dialogue.records import Exchange
from turnwise.kernel.errors import InputError

HOTELS = [
    {
        "id": "0",
        "name": "the Oak Lodge",
        "area": "north",
        "stars": "4",
        "type": "guesthouse",
        "price": {"single": "50"},
    },
    {"id": "1", "name": "station inn", "area": "centre", "stars": "2", "type": "hotel", "location": [52.2, 0.1]},
    {"id": "2", "name": "mill house", "area": "?", "stars": 4, "type": "guesthouse", "internet": True},
]
RESTAURANTS = [
    {"id": "7", "name": "caffe uno", "food": "italian", "introduction": "a chain", "phone": "01223448620"},
    {"id": "8", "name": "riverside", "food": "modern european"},
]
TRAINS = [
    {"trainID": "TR1", "leaveAt": "05:00", "arriveBy": "05:51", "departure": "cambridge", "day": "monday"},
    {"trainID": "TR2", "leaveAt": "17:00", "arriveBy": "17:51", "departure": "cambridge", "day": "monday"},
    {"trainID": "TR3", "leaveAt": "23:30", "arriveBy": "24:21", "departure": "ely", "day": "monday"},
]


def written(folder: Path, **domains: Any) -> Path:
    for domain, entities in domains.items():
        (folder / f"{domain}_db.json").write_text(json.dumps(entities))
    return folder


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return load_database(written(tmp_path, hotel=HOTELS, restaurant=RESTAURANTS, train=TRAINS))


def rows(database: Database, domain: str, **constraints: Any) -> list[int]:
    found = database.find(domain, {slot.replace("_", " "): value for slot, value in constraints.items()})
    return [row for row in range(len(database.entities(domain))) if found >> row & 1]


@pytest.mark.parametrize(
    ("domain", "constraints", "expected"),
    [
        ("hotel", {}, [0, 1, 2]),
        ("hotel", {"area": "centre"}, [1, 2]),  # an area that is not known matches any
        ("hotel", {"area": "City Centre", "type": "hotel"}, [1]),
        ("hotel", {"type": "guest house"}, [0, 2]),
        ("hotel", {"stars": "4 stars"}, [0, 2]),
        ("hotel", {"internet": "free"}, [2]),  # the others do not say
        ("hotel", {"stars": "dontcare", "area": "not mentioned", "type": "don't care"}, [0, 1, 2]),
        ("hotel", {"bookday": "monday", "people": "3"}, [0, 1, 2]),  # no columns: they do not constrain
        ("hotel", {"price": "50", "id": "9", "location": "here"}, [0, 1, 2]),
        ("hotel", {"stars": ["2", "4"], "area": "north"}, [0, 2]),  # of several values any will do
        ("hotel", {"stars": ["2", "dontcare"]}, [0, 1, 2]),
        ("hotel", {"name": "oak lodge"}, [0]),
        ("hotel", {"name": "oak lodge", "area": "centre"}, []),
        ("restaurant", {"name": "cafe uno"}, [0]),
        ("restaurant", {"food": "european"}, [1]),  # part of "modern european"
        ("restaurant", {"food": "thai"}, []),
        ("restaurant", {"introduction": "a chain"}, [0, 1]),
        ("train", {"arrive_by": "17:51"}, [0, 1]),  # at or before
        ("train", {"leave_at": "5 pm"}, [1, 2]),  # at or after
        ("train", {"leave": "17"}, [1, 2]),
        ("train", {"leave": "05:01", "arrive": "23:00"}, [1]),
        ("train", {"arrive": "whenever"}, []),
        ("train", {"departure": "cambridge station"}, [0, 1]),
        ("taxi", {"departure": "cambridge"}, []),
    ],
)
def test_find(database: Database, domain: str, constraints: dict[str, Any], expected: list[int]) -> None:
    assert rows(database, domain, **constraints) == expected
    assert rows(database, domain, **constraints) == expected  # and when it is remembered


def test_a_concert_hall_is_not_the_concerthall_of_the_database(tmp_path: Path) -> None:
    database = load_database(written(tmp_path, attraction=[{"type": "concerthall"}, {"type": "mutliple sports"}]))
    assert rows(database, "attraction", type="concert hall") == []
    assert rows(database, "attraction", type="concerthall") == [0]
    assert rows(database, "attraction", type="multiple sports") == [1]


def test_entities_and_values(database: Database) -> None:
    assert database.domains == ("hotel", "restaurant", "train")
    assert database.entities("hotel")[2] == {
        "id": "2",
        "name": "mill house",
        "area": "?",
        "stars": "4",
        "type": "guesthouse",
        "internet": "yes",
    }
    assert database.entities("train")[0]["trainid"] == "TR1"
    assert database.entities("spa") == ()
    assert database.values("hotel", "area") == {"north", "centre"}
    assert database.values("hotel", "name") == {"oak lodge", "station inn", "mill house"}
    assert database.values("restaurant", "phone") == {"01223448620"}
    assert database.values("hotel", "sauna") == database.values("spa", "name") == frozenset()
    assert database.matches("hotel", 1, {"area": "centre"})
    assert not database.matches("hotel", 0, {"area": "centre"})
    assert (database.identifier("hotel"), database.identifier("train")) == ("name", "trainid")


def test_it_travels_as_its_path(database: Database) -> None:
    sent = pickle.dumps(database)
    assert len(sent) < 1000
    assert pickle.loads(sent) is database


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    digests = []
    for number, hotels in enumerate([HOTELS, HOTELS, HOTELS[:2]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        digests.append(load_database(written(folder, hotel=hotels)).digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("content", "what", "found"),
    [
        (b"[{]", "this is not JSON", "string key"),
        (b'[{"name": "oak lodge"}', "ends in the middle", "end of data"),
        (b'{"name": "oak lodge"}', "wrong shape", "oak lodge"),
        (b'["oak lodge"]', "wrong shape", "oak lodge"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, what: str, found: str) -> None:
    (tmp_path / "hotel_db.json").write_bytes(content)
    with pytest.raises(InputError, match=what) as error:
        load_database(tmp_path)
    assert "hotel_db.json" in str(error.value.where)
    assert error.value.expected
    assert error.value.remedy
    assert found in str(error.value.found)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no database folder") as error:
        load_database(tmp_path / "nowhere")
    assert error.value.found == "nothing"
    file = tmp_path / "hotel_db.json"
    file.write_text("[]")
    with pytest.raises(InputError, match="no database folder") as error:
        load_database(file)
    assert error.value.remedy == "give the folder the file is in"


def test_a_folder_without_a_database(tmp_path: Path) -> None:
    (tmp_path / "hotels.json").write_text("[]")
    with pytest.raises(InputError, match="holds no database") as error:
        load_database(tmp_path)
    assert error.value.found == "hotels.json"


def test_every_name_of_the_real_database_finds_its_entity() -> None:
    database = load_database(shared("multiwoz_db"))
    assert {domain: len(database.entities(domain)) for domain in ("attraction", "hotel", "restaurant", "train")} == {
        "attraction": 79,
        "hotel": 33,
        "restaurant": 110,
        "train": 2828,
    }
    for domain in ("attraction", "hotel", "restaurant"):
        forms = [query_normaliser().value(f"{domain}-name", entity["name"]) for entity in database.entities(domain)]
        assert len(set(forms)) == len(forms)  # no two entities share a normal form
        for row, entity in enumerate(database.entities(domain)):
            assert database.matches(domain, row, {"name": entity["name"]})


# Placeholders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[value_name]", {("name", None)}),
        ("[hotel_name] or [restaurant_name]", {("name", "hotel"), ("name", "restaurant")}),
        ("the [name]s of [Hotel Name]", {("name", None), ("name", "hotel")}),
        ("[train_id] [value_id] [trainid] [id] [train_trainid]", {("trainid", "train")}),
        ("[reference] [value_reference] [ref]", {("ref", None)}),
        ("[hotel_reference] [hotel_phone]", {("ref", "hotel"), ("phone", "hotel")}),
        ("[price range] [value_pricerange]", {("pricerange", None)}),
        ("[arrive by] [value_arrive] [taxi_arriveby]", {("arrive", None), ("arrive", "taxi")}),
        ("[attraction_id] [laughs] [] [1] [value_]", set()),
        ("name and phone", set()),
    ],
)
def test_placeholders(text: str, expected: set[tuple[str, str | None]]) -> None:
    assert placeholders(text) == {Placeholder(*found) for found in expected}
    assert looks_delexicalised(text) == bool(expected)


# Booked domains


def test_booked_domains(tmp_path: Path) -> None:
    path = tmp_path / "booked.json"
    path.write_text('{"MUL1.json": [[], ["Hotel"]], "mul2": [[]]}')
    booked = read_booked_domains(path)
    assert booked == {"mul1": [(), ("hotel",)], "mul2": [()]}
    own = [Exchange(dialogue_id="Mul1", turn_id=str(i), booked=("taxi",)) for i in range(2)]
    assert [exchange.booked for exchange in with_booked(own, booked)] == [(), ("hotel",)]
    other = [Exchange(dialogue_id="mul3", booked=("taxi",))]
    assert with_booked(other, booked) == other  # what the file does not know stays
    assert with_booked([], booked) == []


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("[]", "booked.json"),
        ("{}", "booked.json"),
        ('{"a": "hotel"}', "dialogue a"),
        ('{"a": [[], "hotel"]}', "dialogue a, exchange 1"),
        ('{"a": [[1]]}', "dialogue a, exchange 0"),
        ('{"a": [[]], "A.json": [[]]}', "dialogue A.json"),
    ],
)
def test_broken_booked_domains(tmp_path: Path, content: str, where: str) -> None:
    path = tmp_path / "booked.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_booked_domains(path)
    assert str(error.value.where).endswith(where)
    assert error.value.found
    assert error.value.remedy
