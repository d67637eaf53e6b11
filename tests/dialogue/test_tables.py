"""The tables of policy, transfer and actions: what is built in, and files of a user's own, good and bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.dialogue.records import ACTIONS
from turnwise.dialogue.tables import load_actions, load_policy, load_transfer
from turnwise.kernel.errors import InputError

Loader = Callable[[Path], Any]
LOADERS: dict[str, Loader] = {"policy": load_policy, "transferable": load_transfer, "actions": load_actions}


def write(folder: Path, content: str | bytes, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# What is built in


@pytest.mark.parametrize(
    ("domain", "slots", "missing"),
    [
        ("hotel", "", "name bookday bookpeople bookstay"),  # the document's two
        ("hotel", "name bookday bookpeople bookstay", ""),
        ("restaurant", "", "name bookday bookpeople booktime"),
        ("restaurant", "name bookday bookpeople booktime area", ""),
        ("train", "day departure destination bookpeople leave", ""),  # 004-21
        ("train", "day departure destination bookpeople arrive", ""),
        ("taxi", "departure destination arrive", ""),
        ("attraction", "", ""),  # nothing is required
    ],
)
def test_the_policy(domain: str, slots: str, missing: str) -> None:
    filled = [f"{domain}-{slot}" for slot in slots.split()]
    assert load_policy().missing(domain, filled) == [f"{domain}-{slot}" for slot in missing.split()]


def test_what_one_of_two_slots_would_meet_is_missing_once() -> None:
    trip = ["taxi-departure", "taxi-destination"]
    assert load_policy().missing("taxi", trip) == ["taxi-leave or taxi-arrive"]
    assert load_policy().missing("taxi", [*trip, "train-leave"]) == ["taxi-leave or taxi-arrive"]  # of another domain


def test_what_transfers() -> None:
    assert load_transfer().slots == ("area", "pricerange")


@pytest.mark.parametrize(
    ("act", "slots", "action"),
    [
        ("Booking-Book", [], "book"),  # 004-11
        ("Hotel-Book", [], "book"),  # the document's, although MultiWOZ has none
        ("Train-OfferBooked", [], "book"),
        ("Train-OfferBook", [], "offer"),
        ("Booking-Inform", [], "offer"),
        ("Hotel-Inform", ["area"], "inform"),
        ("Taxi-Inform", [], "inform"),
        ("Taxi-Inform", ["leave", "Car"], "book"),  # any of its slots
        ("Hotel-Inform", ["phone"], "inform"),
        ("Restaurant-Recommend", ["name"], "offer"),
        ("Restaurant-NoOffer", ["food"], "fail"),
        ("Booking-NoBook", [], "fail"),
        ("Hotel-Request", ["area"], "request"),
        ("general-bye", [], "inform"),
        (" HOTEL-SEARCH ", [], "search"),
        ("Hotels_2-NOTIFY_SUCCESS", [], "book"),
        ("Hotels_2-NOTIFY_FAILURE", [], "fail"),
        ("Hotel-Dance", ["area"], None),
        ("", [], None),
    ],
)
def test_what_an_act_does(act: str, slots: list[str], action: str | None) -> None:
    assert load_actions().action(act, slots) == action


def test_what_meets_an_expected_action() -> None:
    met = {expected: {done for done in ACTIONS if load_actions().accepts(expected, [done])} for expected in ACTIONS}
    assert met == {action: {action} for action in ACTIONS} | {"search": {"search", "offer", "inform", "fail"}}  # 004-14
    assert not load_actions().accepts("search", [])
    assert load_actions().accepts("request", ["inform", "request"])  # one of several is enough


# Files of one's own


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    own = load_policy(write(tmp_path, "booking:\n  Spa: [Name, [day, ' week ']]\n", "wellness.yaml"))
    assert own.name == "wellness"
    assert own.missing("spa", ["spa-week"]) == ["spa-name"]
    assert own.missing("spa", ["spa-name"]) == ["spa-day or spa-week"]
    assert own.missing("hotel", []) == []  # it replaces the built-in one, it does not add to it


def test_transfer_of_ones_own(tmp_path: Path) -> None:
    assert load_transfer(write(tmp_path, "slots: [Area, stars, area]")).slots == ("area", "stars")
    assert load_transfer(write(tmp_path, "slots: []", "none.yaml")).slots == ()


def test_actions_of_ones_own(tmp_path: Path) -> None:
    own = load_actions(
        write(tmp_path, 'acts: {"spa-*": book, "*-inform(price)": offer, "*-*": inform}\nmeets: {book: [offer]}\n')
    )
    assert [own.action(act) for act in ("Spa-Inform", "Hotel-Inform", "hotel")] == ["book", "inform", None]
    assert own.action("Hotel-Inform", ["price"]) == "offer"
    assert own.action("Spa-Inform", ["area"]) == "book"  # no pattern for the slot: that of the act
    assert own.accepts("book", ["offer"])
    assert own.accepts("book", ["book"])  # an action always meets itself
    assert not own.accepts("search", ["inform"])


def test_the_first_pattern_decides(tmp_path: Path) -> None:
    one = load_actions(write(tmp_path, 'acts: {"*-book": book, "spa-*": inform}', "one.yaml"))
    two = load_actions(write(tmp_path, 'acts: {"spa-*": inform, "*-book": book}', "two.yaml"))
    assert (one.action("Spa-Book"), two.action("Spa-Book")) == ("book", "inform")
    assert one.digest != two.digest


@pytest.mark.parametrize(
    ("kind", "content", "changed"),
    [
        ("policy", "booking: {spa: [name]}", "booking: {spa: [day]}"),
        ("transferable", "slots: [area]", "slots: [stars]"),
        ("actions", "acts: {spa-book: book}", "acts: {spa-book: offer}"),
    ],
)
def test_the_digest_follows_the_content(kind: str, content: str, changed: str, tmp_path: Path) -> None:
    load = LOADERS[kind]
    first = load(write(tmp_path, content, "a.yaml"))
    assert load(write(tmp_path, f"# a comment\n{content}\n", "b.yaml")).digest == first.digest
    assert load(write(tmp_path, changed, "c.yaml")).digest != first.digest


def test_a_file_that_was_edited_is_read_anew(tmp_path: Path) -> None:
    before = load_policy(write(tmp_path, "booking: {spa: [name]}"))
    after = load_policy(write(tmp_path, "booking: {spa: [day]}"))  # between two evaluations, as in a notebook
    assert (before.missing("spa", []), after.missing("spa", [])) == (["spa-name"], ["spa-day"])


# A file through the interface

HOTEL = {"hotel-name": "acorn", "hotel-bookday": "monday", "hotel-bookpeople": "2"}


def evaluate(metric: str, reference: list[dict[str, Any]], prediction: list[dict[str, Any]], **options: Any) -> Any:
    references, predictions = (
        [{"dialogue_id": "d", "turn_id": number, **turn} for number, turn in enumerate(side)]
        for side in (reference, prediction)
    )
    sides = {"references": references, "predictions": predictions}
    return turnwise.evaluate(sides, metrics=[metric], resamples=100, **options)


def booking(**fields: Any) -> list[dict[str, Any]]:
    return [{"domain": "hotel", "intents": ["book_hotel"], "state": HOTEL, **fields}]


@pytest.mark.parametrize(
    ("needs", "compliance"),
    [
        ("[name, bookday]", 1),
        ("[name, bookstay]", 0),
        ("[name, [bookstay, bookday]]", 1),
        ("[]", 1),
        # 004-5: the document writes `hotel-bookstay`; a slot has one name however it is written.
        ("[hotel-name, hotel-bookday]", 1),
        ("[Name, book day]", 1),
        ("[hotel-bookstay]", 0),
    ],
)
def test_policy(needs: str, compliance: float, tmp_path: Path) -> None:
    path = write(tmp_path, f"booking: {{hotel: {needs}}}")
    result = evaluate("policy_compliance", booking(), booking(action="book"), policy=path)
    assert result.value("policy_compliance", output="compliance") == compliance


def test_transferable(tmp_path: Path) -> None:
    states = [{"restaurant-stars": "4"}, {"restaurant-stars": "4", "hotel-stars": "4"}]
    turns = [{"domain": domain, "state": state} for domain, state in zip(("restaurant", "hotel"), states, strict=True)]
    assert evaluate("memory_transfer", turns, turns).value("memory_transfer") is None  # stars do not transfer
    path = write(tmp_path, "slots: [stars]")
    assert evaluate("memory_transfer", turns, turns, transferable=path).value("memory_transfer") == 1 / 1


def test_actions(tmp_path: Path) -> None:
    reference, prediction = booking(), booking(acts=["Hotel-Reserve"])
    rate = "violations"
    found = evaluate("policy_compliance", reference, prediction).value("policy_compliance", output=rate)
    assert found == 0  # an act that nobody knows books nothing
    path = write(tmp_path, 'acts: {"*-reserve": book}')
    found = evaluate("policy_compliance", reference, prediction, actions=path).value("policy_compliance", output=rate)
    assert found == 1  # bookstay is missing


def test_the_table_is_part_of_the_signature(tmp_path: Path) -> None:
    path = write(tmp_path, "booking: {hotel: [name]}", "lenient.yaml")
    signatures = {
        score.signature
        for options in ({}, {"policy": path})
        for score in evaluate("policy_compliance", booking(), booking(action="book"), **options).scores
    }
    assert len(signatures) == 2
    assert sum("lenient" in signature for signature in signatures) == 1


# Files that are wrong


@pytest.mark.parametrize(
    ("kind", "content", "facts"),
    [
        ("policy", "", ["the whole file", "found: None", "sections: booking"]),
        ("policy", "[]", ["the whole file", "found: []"]),
        ("policy", "bookings: {hotel: [name]}", ["own.yaml: book", "sections: booking"]),
        ("policy", "booking: [hotel]", ["own.yaml: booking", "found: ['hotel']"]),
        ("policy", "booking: {hotel: name}", ["booking > hotel", "found: 'name'"]),
        ("policy", "booking: {hotel: [1]}", ["booking > hotel > 0", "found: 1"]),
        ("policy", "booking: {hotel: [no]}", ["booking > hotel > 0", "found: False", "quote"]),
        ("policy", "booking: {hotel: [name, []]}", ["booking > hotel > 1"]),
        ("policy", "booking: {hotel: ['']}", ["booking > hotel > 0", "found: ''"]),
        ("policy", "booking: {hotel: [[name, 7]]}", ["booking > hotel > 0"]),
        ("policy", "booking: {}\nextra: 1", ["own.yaml: extra", "found: 1"]),
        ("transferable", "slots: area", ["own.yaml: slots", "found: 'area'"]),
        ("transferable", "slots: [area, {a: b}]", ["slots > 1", "found: {'a': 'b'}"]),
        ("transferable", "- area", ["the whole file", "sections: slots"]),
        ("actions", "acts: {hotel-book: reserve}", ["acts > hotel-book", "found: 'reserve'", "'book'"]),
        ("actions", "acts: {hotel-book: }", ["acts > hotel-book", "found: None"]),
        ("actions", "acting: {}", ["own.yaml: acting", "sections: acts, meets, slots"]),
        ("actions", "acts: {}\nmeets: {search: find}", ["meets > search", "found: 'find'"]),
        ("actions", "acts: {}\nmeets: {find: [search]}", ["meets > find"]),
        ("actions", "acts: {}\nslots: {post: 4}", ["slots > post", "found: 4"]),
    ],
)
def test_wrong_shapes_say_where_and_what(kind: str, content: str, facts: list[str], tmp_path: Path) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        LOADERS[kind](path)
    error = caught.value
    for fact in [str(path), f"the shape of {kind}.yaml", *facts]:
        assert fact in str(error)
    assert all((error.what, error.where, error.found, error.expected, error.remedy))


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("booking: {hotel: [name\nslots: 1", "line 2"),
        ("a: 1\n\tb: 2", "line 2, column 1"),
        ("{[a]: {}: 1", "line 1"),
        (b"slots: [\xff\xfe]", "own.yaml"),
        (b"slots: [\x00]", "own.yaml"),
        ("slots: !!python/object/apply:os.getcwd []", "line 1"),
    ],
)
def test_what_is_not_yaml(kind: str, content: str | bytes, place: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError, match="not YAML") as caught:
        LOADERS[kind](path)
    error = caught.value
    assert error.where is not None
    assert error.where.startswith(str(path))
    assert place in error.where
    assert all((error.found, error.expected))


@pytest.mark.parametrize("kind", LOADERS)
def test_files_that_are_not_there(kind: str, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.yaml", tmp_path):
        with pytest.raises(InputError, match="cannot be read") as caught:
            LOADERS[kind](path)
        error = caught.value
        assert error.where == str(path)
        assert all((error.found, error.expected))


@pytest.mark.parametrize("content", [None, "slots: [", b"slots: [\xff]", "slots: 1"])
def test_every_message_has_all_five_facts_on_a_line_each(content: str | bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml" if content is None else write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        load_transfer(path)
    lines = str(caught.value).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["where:", "found:", "expected:", "remedy:"]


@pytest.mark.parametrize("option", LOADERS)
def test_a_bad_file_stops_an_evaluation_with_its_place(option: str, tmp_path: Path) -> None:
    path = write(tmp_path, "spoons: 3")
    options: dict[str, Any] = {option: path}
    with pytest.raises(InputError) as caught:
        evaluate("policy_compliance", booking(), booking(action="book"), **options)
    assert str(path) in str(caught.value)
