"""The evaluation document by its reader: every numbered example of its metrics 1 to 10, through the public interface.

`# 004-7` names a decision on what the document leaves open or contradicts itself about. The arithmetic stands beside
each value; `spec` is the profile that takes the document to the letter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import turnwise

Row = dict[str, Any]
PROFILES = ("turnwise", "spec")
both_profiles = pytest.mark.parametrize("profile", PROFILES)


def rows(dialogue: str, turns: list[Row]) -> list[Row]:
    return [{"dialogue_id": dialogue, "turn_id": number, **turn} for number, turn in enumerate(turns)]


def run(dialogues: dict[str, list[tuple[Row, Row | None]]], *metrics: str, **options: Any) -> turnwise.Result:
    """Evaluate dialogues, each a list of (reference, prediction or None where nothing was submitted)."""
    references = [row for name, pairs in dialogues.items() for row in rows(name, [pair[0] for pair in pairs])]
    predictions = [
        {"dialogue_id": name, "turn_id": number, **prediction}
        for name, pairs in dialogues.items()
        for number, (_, prediction) in enumerate(pairs)
        if prediction is not None
    ]
    sides = {"references": references, "predictions": predictions}
    return turnwise.evaluate(sides, metrics=list(metrics), resamples=100, allow_constant_state=True, **options)


def one(metric: str, *pairs: tuple[Row, Row | None], output: str | None = None, **options: Any) -> float | None:
    """The value of a single dialogue."""
    return run({"d": list(pairs)}, metric, **options).value(metric, output=output)


def statuses(result: turnwise.Result, metric: str) -> list[str]:
    return [score.status.value for score in result.scores if score.metric == f"dialogue/{metric}"]


def outputs(metric: str, reference: Row, prediction: Row) -> dict[str, float | None]:
    result = run({"d": [(reference, prediction)]}, metric)
    return {name: result.value(metric, output=name) for name in ("accuracy", "precision", "recall")}


# 1. Domain routing accuracy


@both_profiles
def test_1_the_example(profile: str) -> None:
    reference = {"intents": ["find_restaurant"]}
    assert one("domain_accuracy", (reference, {"domain": "hotel"}), profile=profile) == 0
    assert one("domain_accuracy", (reference, {"domain": "restaurant"}), profile=profile) == 1


def test_1_is_a_mean_over_dialogues_and_beside_it_over_turns() -> None:  # 004-1
    hotel = {"intents": ["find_hotel"]}
    right, wrong = (hotel, {"domain": "hotel"}), (hotel, {"domain": "train"})
    result = run({"a": [right, wrong], "b": [right]}, "domain_accuracy")
    assert result.value("domain_accuracy") == pytest.approx((1 / 2 + 1) / 2)  # the document's step 3
    assert result.value("domain_accuracy", "macro") == pytest.approx((1 / 2 + 1) / 2)
    assert result.value("domain_accuracy", "micro") == pytest.approx(2 / 3)


def test_1_the_service_of_the_frame_comes_before_the_intent_s_name() -> None:  # 004-9
    named = {"intents": ["police"], "domain": "police"}
    assert one("domain_accuracy", (named, {"domain": "police"})) == 1
    # A prediction that says no domain is taken by the name of its intent.
    assert one("domain_accuracy", ({"intents": ["find_restaurant"]}, {"intents": ["find_restaurant"]})) == 1
    assert one("domain_accuracy", ({"intents": ["find_restaurant"]}, {"intents": ["find_hotel"]})) == 0


def test_1_several_domains_are_compared_as_sets() -> None:  # 004-9
    reference = {"intents": ["find_restaurant", "find_hotel"]}
    assert one("domain_accuracy", (reference, {"domain": ["hotel", "restaurant"]})) == 1
    assert one("domain_accuracy", (reference, {"domain": ["hotel"]})) == 0
    assert one("domain_accuracy", ({"intents": ["find_hotel"]}, {"domain": ["hotel", "train"]})) == 0


# 2. Intent accuracy


@both_profiles
def test_2_the_example(profile: str) -> None:
    reference = {"intents": ["find_restaurant"]}
    for predicted, expected in (("find_restaurant", 1), ("find_hotel", 0)):
        assert one("intent_accuracy", (reference, {"intents": [predicted]}), profile=profile) == expected


def test_2_missing_and_extra_intents() -> None:
    find, both = {"intents": ["find_hotel"]}, {"intents": ["find_hotel", "book_hotel"]}
    # Missing: 1 of the 1 predicted is right, 1 of the 2 true ones is found.
    assert outputs("intent_accuracy", both, find) == {"accuracy": 0, "precision": 1 / 1, "recall": 1 / 2}
    # Extra: 1 of the 2 predicted is right, 1 of the 1 true one is found.
    assert outputs("intent_accuracy", find, both) == {"accuracy": 0, "precision": 1 / 2, "recall": 1 / 1}
    turned = {"intents": ["book_hotel", "find_hotel"]}
    assert outputs("intent_accuracy", both, turned) == {"accuracy": 1, "precision": 1, "recall": 1}


@pytest.mark.parametrize("metric", ["domain_accuracy", "intent_accuracy"])
@pytest.mark.parametrize("nothing", [["NONE"], []])
def test_2_turns_without_an_intent_are_left_out(metric: str, nothing: list[str]) -> None:  # 004-9
    hotel, state = {"intents": ["find_hotel"], "domain": "hotel"}, {"state": {"hotel-area": "north"}}
    thanks = {"intents": nothing, **state}
    result = run({"d": [({**hotel, **state}, hotel | state), (thanks, {**hotel, **state})]}, metric, "slot_accuracy")
    assert set(statuses(result, metric)) == {"scored", "not_applicable"}
    assert result.value(metric) == 1 / 1
    assert statuses(result, "slot_accuracy") == ["scored", "scored"]  # other metrics keep the turn


# 3. Action-type accuracy


@both_profiles
def test_3_the_example(profile: str) -> None:
    reference = {"acts": ["Restaurant-Inform"]}
    for predicted, expected in (("Restaurant-Inform", 1), ("Restaurant-Request", 0)):
        assert one("action_type_accuracy", (reference, {"acts": [predicted]}), profile=profile) == expected


def test_3_missing_and_extra_acts() -> None:
    two = {"acts": ["Restaurant-Inform", "Restaurant-Request"]}
    # Missing: 1 of 1 predicted, 1 of 2 true ones.
    found = outputs("action_type_accuracy", two, {"acts": ["Restaurant-Inform"]})
    assert found == {"accuracy": 0, "precision": 1 / 1, "recall": 1 / 2}
    # Extra: 2 of 3 predicted (the document's 0.67), 2 of 2 true ones.
    hotel = {"acts": ["Hotel-Inform", "Hotel-Request"]}
    found = outputs("action_type_accuracy", hotel, {"acts": ["Hotel-Inform", "Hotel-Request", "Hotel-Book"]})
    assert found == pytest.approx({"accuracy": 0, "precision": 2 / 3, "recall": 2 / 2})
    # "order doesn't matter"
    found = outputs("action_type_accuracy", two, {"acts": ["Restaurant-Request", "Restaurant-Inform"]})
    assert found == {"accuracy": 1, "precision": 1, "recall": 1}


def test_3_the_extension_to_act_slots() -> None:
    north, south = ({"acts": [f"Restaurant-Inform(area={area})"]} for area in ("north", "south"))
    assert one("act_slot_accuracy", (north, north)) == 1
    assert one("act_slot_accuracy", (north, south)) == 0
    assert one("action_type_accuracy", (north, south)) == 1  # the types are right
    assert one("act_slot_accuracy", (north, {"acts": {"Restaurant-Inform": [["area", "north"]]}})) == 1
    both = {"acts": ["Restaurant-Inform(area=north, food=thai)"]}
    assert outputs("act_slot_accuracy", both, north) == {"accuracy": 0, "precision": 1 / 1, "recall": 1 / 2}


@pytest.mark.parametrize(("metric", "field"), [("intent_accuracy", "intents"), ("action_type_accuracy", "acts")])
def test_2_3_are_means_over_dialogues(metric: str, field: str) -> None:  # 004-1
    reference = {field: ["a"]}
    right, wrong = (reference, reference), (reference, {field: ["b"]})
    result = run({"a": [right, wrong, wrong], "b": [right]}, metric)
    assert result.value(metric, output="accuracy") == pytest.approx((1 / 3 + 1) / 2)
    assert result.value(metric, "micro", output="accuracy") == pytest.approx(2 / 4)


# 4. Slot-level accuracy

CENTRE = {"restaurant-area": "centre"}
CHEAP = {**CENTRE, "restaurant-pricerange": "cheap"}
EXPENSIVE = {**CENTRE, "restaurant-pricerange": "expensive"}
THAI = {"restaurant-food": "thai"}


@both_profiles
@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        (CHEAP, EXPENSIVE, 1 / 2),  # the example
        ({**CHEAP, **THAI}, CHEAP, 2 / 3),  # "truth has 3 slots, but we predict only 2 correct ones"
        (CHEAP, {**CHEAP, **THAI}, 2 / 2),  # "truth has 2 slots, and we predict those 2 plus 1 hallucinated"
    ],
)
def test_4(reference: Row, prediction: Row, expected: float, profile: str) -> None:
    found = one("slot_accuracy", ({"state": reference}, {"state": prediction}), profile=profile)
    assert found == pytest.approx(expected)


# 5. Joint goal accuracy


@both_profiles
@pytest.mark.parametrize(
    ("prediction", "expected"),
    [(EXPENSIVE, 1), (CHEAP, 0), (CENTRE, 0), ({**EXPENSIVE, **THAI}, 0)],  # example, example, missing, extra
)
def test_5(prediction: Row, expected: float, profile: str) -> None:
    assert one("joint_goal_accuracy", ({"state": EXPENSIVE}, {"state": prediction}), profile=profile) == expected


@pytest.mark.parametrize(
    ("metric", "turns"),
    [("slot_accuracy", (1, 0, 0)), ("joint_goal_accuracy", (1, 0, 0)), ("slot_hallucination", (0, 1, 1))],
)
def test_4_5_6_are_means_over_turns(metric: str, turns: tuple[float, ...]) -> None:  # 004-1
    north, south = {"hotel-area": "north"}, {"hotel-area": "south"}
    right = ({"state": north, "domain": "hotel"}, {"state": north, "domain": "hotel"})
    wrong = ({"state": north, "domain": "hotel"}, {"state": south, "domain": "hotel"})
    result = run({"a": [right], "b": [wrong, wrong]}, metric)
    assert result.value(metric) == pytest.approx(sum(turns) / 3)
    assert result.value(metric, "macro") == pytest.approx((turns[0] + turns[1]) / 2)  # a and b


# 6. Hallucination rate


@pytest.mark.parametrize(
    ("reference", "prediction", "turnwise_value", "spec_value"),
    [
        ({"restaurant-area": "south"}, {"restaurant-area": "north"}, 1 / 1, 1 / 1),  # the example
        # Case 1, wrong domain. The letter looks at the active domain only: nothing of the restaurant was predicted.
        (CENTRE, {"hotel-area": "centre"}, 1 / 1, 0),  # 004-7
        (CENTRE, {"restaurant-parking": "yes"}, 1 / 1, 1 / 1),  # case 2, wrong slot name
        (CENTRE, {"restaurant-area": "north"}, 1 / 1, 1 / 1),  # case 3, wrong value
        (CHEAP, EXPENSIVE, 1 / 2, 1 / 2),  # one of the two
        (CHEAP, {}, 0, 0),  # 004-6
    ],
)
def test_6(reference: Row, prediction: Row, turnwise_value: float, spec_value: float) -> None:
    pair = ({"state": reference, "domain": "restaurant"}, {"state": prediction, "domain": "restaurant"})
    assert one("slot_hallucination", pair) == turnwise_value
    assert one("slot_hallucination", pair, profile="spec") == spec_value


# 7. Cross-domain memory transfer


def restaurant_then_hotel(
    first: Row, second: Row, predicted_first: Row, predicted_second: Row
) -> list[tuple[Row, Row | None]]:
    """Two exchanges, one per domain; states are accumulated."""
    return [
        ({"domain": "restaurant", "state": first}, {"domain": "restaurant", "state": predicted_first}),
        (
            {"domain": "hotel", "state": {**first, **second}},
            {"domain": "hotel", "state": {**predicted_first, **predicted_second}},
        ),
    ]


NORTH, HOTEL_NORTH = {"restaurant-area": "north"}, {"hotel-area": "north"}


@both_profiles
@pytest.mark.parametrize(
    ("carried", "expected"),
    [(HOTEL_NORTH, 1 / 1), ({"hotel-area": "south"}, 0 / 1), ({}, 0 / 1)],  # the example, wrong, forgotten
)
def test_7_the_example(carried: Row, expected: float, profile: str) -> None:
    pairs = restaurant_then_hotel(NORTH, HOTEL_NORTH, NORTH, carried)
    assert one("memory_transfer", *pairs, profile=profile) == expected


def test_7_a_constraint_that_the_user_does_not_reuse() -> None:  # 004-17
    stars = {"hotel-stars": "4"}
    pairs = restaurant_then_hotel(NORTH, stars, NORTH, stars)
    result = run({"d": pairs}, "memory_transfer")
    assert statuses(result, "memory_transfer") == ["not_applicable"]
    assert one("memory_transfer", *pairs, profile="spec") == 0 / 1  # "0.0 is correct - not a bug"
    elsewhere = {"hotel-area": "south"}  # another area is no repetition either
    assert one("memory_transfer", *restaurant_then_hotel(NORTH, elsewhere, NORTH, elsewhere)) is None


@both_profiles
def test_7_area_and_pricerange_transfer_and_bookings_do_not(profile: str) -> None:
    first = {"restaurant-area": "north", "restaurant-pricerange": "cheap", "restaurant-bookday": "monday"}
    second = {"hotel-area": "north", "hotel-pricerange": "cheap", "hotel-bookday": "monday"}
    without_day = {"hotel-area": "north", "hotel-pricerange": "cheap"}
    assert one("memory_transfer", *restaurant_then_hotel(first, second, first, without_day), profile=profile) == 2 / 2
    area_only = {"hotel-area": "north"}
    assert one("memory_transfer", *restaurant_then_hotel(first, second, first, area_only), profile=profile) == 1 / 2


@both_profiles
def test_7_is_a_mean_over_dialogues_with_a_switch(profile: str) -> None:
    two = {"restaurant-area": "north", "restaurant-pricerange": "cheap"}
    both = {"hotel-area": "north", "hotel-pricerange": "cheap"}
    half = restaurant_then_hotel(two, both, two, HOTEL_NORTH)  # 1 of 2
    whole = restaurant_then_hotel(NORTH, HOTEL_NORTH, NORTH, HOTEL_NORTH)  # 1 of 1
    unswitched: list[tuple[Row, Row | None]] = [whole[0]]
    result = run({"a": half, "b": whole, "c": unswitched}, "memory_transfer", profile=profile)
    assert result.value("memory_transfer") == pytest.approx((1 / 2 + 1) / 2)
    assert result.value("memory_transfer", "micro") == pytest.approx(2 / 3)
    assert sorted(statuses(result, "memory_transfer")) == ["not_applicable", "scored", "scored"]


# 8. Policy compliance

HOTEL = {"hotel-name": "university arms", "hotel-bookday": "saturday", "hotel-bookpeople": "2", "hotel-bookstay": "2"}


def without(*slots: str) -> Row:
    return {name: value for name, value in HOTEL.items() if name.removeprefix("hotel-") not in slots}


def hotel(state: Row, does: str | Row, intent: str = "book_hotel", **more: Any) -> tuple[Row, Row]:
    """An exchange about a hotel whose state is tracked without a mistake; `does` is an action or fields."""
    doing: Row = {"action": does} if isinstance(does, str) else does
    user = {"domain": "hotel", "intents": [intent] if intent else [], "state": state}
    return user, {**user, **doing, **more}


@both_profiles
@pytest.mark.parametrize("does", ["book_hotel", "book", {"acts": ["Booking-Book"]}, {"acts": ["Hotel-Book"]}])
@pytest.mark.parametrize("missing", ["bookstay", "bookday", "bookpeople", "name"])
def test_8_the_example(does: str | Row, missing: str, profile: str) -> None:  # 004-11
    def policy(state: Row, output: str) -> float | None:
        return one("policy_compliance", hotel(state, does), output=output, profile=profile)

    assert policy(without(missing), "compliance") == 0
    assert policy(without(missing), "violation_rate") == 1
    assert policy(HOTEL, "compliance") == 1
    assert policy(HOTEL, "violation_rate") == 0


def test_8_a_wish_to_book_violates_nothing_but_by_the_letter() -> None:  # 004-12
    asks = hotel(without("bookstay"), "request")
    assert one("policy_compliance", asks, output="compliance") == 1
    assert one("policy_compliance", asks, output="compliance", profile="spec") == 0
    assert one("policy_compliance", asks, output="violations", profile="spec") == 1


def test_8_a_booking_without_the_intent() -> None:  # 004-12
    books = hotel(without("bookstay"), "book", intent="find_hotel")
    assert one("policy_compliance", books, output="compliance") == 0
    assert one("policy_compliance", books, output="compliance", profile="spec") == 1  # "If intent is book_hotel"


def test_8_counts_violations_over_all_turns() -> None:
    search, premature, proper = (
        hotel({"hotel-area": "north"}, "search", intent="find_hotel"),
        hotel(without("bookstay"), "book"),
        hotel(HOTEL, "book"),
    )
    result = run({"a": [search, premature, search], "b": [proper]}, "policy_compliance")
    assert result.value("policy_compliance", output="violation_rate") == pytest.approx(1 / 4)  # of four turns
    assert result.value("policy_compliance", output="compliance") == pytest.approx(1 - 1 / 4)
    assert result.value("policy_compliance", output="violations") == 1
    assert result.value("policy_compliance", output="violations_per_booking") == pytest.approx(1 / 2)
    # Step 2: one violation in dialogue a, none in b.
    assert result.value("policy_compliance", "macro", output="violations") == pytest.approx((1 + 0) / 2)


TRAIN = {"train-day": "monday", "train-departure": "ely", "train-destination": "cambridge", "train-bookpeople": "1"}
TAXI = {"taxi-departure": "ely", "taxi-destination": "cambridge"}
RESTAURANT = {"name": "nandos", "bookday": "monday", "bookpeople": "2", "booktime": "18:00"}


@pytest.mark.parametrize(
    ("domain", "acts", "state", "compliance"),
    [
        ("restaurant", ["Booking-Book"], {f"restaurant-{slot}": value for slot, value in RESTAURANT.items()}, 1),
        (
            "restaurant",
            ["Booking-Book"],
            {f"restaurant-{slot}": RESTAURANT[slot] for slot in RESTAURANT if slot != "booktime"},
            0,
        ),
        ("train", ["Train-OfferBooked"], {**TRAIN, "train-leave": "10:00"}, 1),  # leave or arrive
        ("train", ["Train-OfferBooked"], {**TRAIN, "train-arrive": "10:00"}, 1),
        ("train", ["Train-OfferBooked"], TRAIN, 0),
        ("train", ["Train-OfferBook"], TRAIN, 1),  # offers a booking, makes none
        ("taxi", {"Taxi-Inform": [["car", "red volvo"]]}, {**TAXI, "taxi-leave": "10:00"}, 1),
        ("taxi", {"Taxi-Inform": [["car", "red volvo"]]}, {**TAXI, "taxi-arrive": "10:00"}, 1),
        ("taxi", {"Taxi-Inform": [["car", "red volvo"]]}, TAXI, 0),
        ("hotel", ["Booking-NoBook"], {}, 1),
    ],
)
def test_8_what_each_booking_needs(domain: str, acts: Any, state: Row, compliance: float) -> None:  # 004-11, 004-21
    user = {"domain": domain, "intents": [f"book_{domain}"], "state": state}
    assert one("policy_compliance", (user, {**user, "acts": acts}), output="compliance") == compliance


def test_8_the_requirements_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "our-hotels.yaml"
    path.write_text("booking: {hotel: [name]}", encoding="utf-8")
    books = hotel(without("bookstay"), "book")
    assert one("policy_compliance", books, output="compliance", policy=path) == 1
    assert one("policy_compliance", hotel(without("name"), "book"), output="compliance", policy=path) == 0


# 9. System correctness

FOUND = {
    "name": "Midsummer House",
    "area": "centre",
    "pricerange": "expensive",
    "food": "british",
    "phone": "01223369299",
    "postcode": "cb41ha",
    "address": "Midsummer Common",
}
ELSEWHERE = {**FOUND, "name": "Pizza Hut Fen Ditton", "area": "east", "pricerange": "cheap", "phone": "01223323737"}
SEARCHED = {"restaurant-pricerange": "expensive", "restaurant-area": "centre"}
INVENTED = "I recommend The Golden Dragon, phone: 123-456-7890"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two restaurants, one of which is expensive and in the centre."""
    (tmp_path / "restaurant_db.json").write_text(json.dumps([FOUND, ELSEWHERE]), encoding="utf-8")
    return tmp_path


def restaurant(does: str | Row, response: str | None = None, **user: Any) -> tuple[Row, Row]:
    """'Find me an expensive restaurant in the center', and what the system makes of it."""
    asked = {"domain": "restaurant", "intents": ["find_restaurant"], "state": SEARCHED, **user}
    doing: Row = {"action": does} if isinstance(does, str) else does
    return asked, {**asked, **doing, **({"response": response} if response is not None else {})}


@both_profiles
def test_9_example_1_handles_an_incomplete_booking(profile: str) -> None:
    said = "I need the hotel name, check-in date, and number of nights to complete your booking"
    for asks in ("request", {"acts": ["Booking-Request"]}, {"acts": ["Hotel-Request"]}):
        pair = hotel(without("name", "bookday", "bookstay"), asks, response=said)
        assert one("system_correctness", pair, profile=profile) == 1


@both_profiles
def test_9_example_2_enforces_the_policy(profile: str) -> None:  # 004-13
    said = "I cannot complete the booking without the duration. Please provide the number of nights."
    assert one("system_correctness", hotel(without("bookstay"), "request", response=said), profile=profile) == 1
    # Booking all the same is the violation.
    assert one("system_correctness", hotel(without("bookstay"), "book"), profile=profile) == 0


@both_profiles
@pytest.mark.parametrize(
    "does",
    [
        "search",
        "offer",
        {"acts": ["Restaurant-Recommend"]},
        {"acts": {"Restaurant-Recommend": [["name", "The Golden Dragon"], ["phone", "123-456-7890"]]}},
        {"action": "search", "spans": [["restaurant-name", "The Golden Dragon"], ["restaurant-phone", "123-456-7890"]]},
    ],
    ids=["search", "offer", "act", "act with slots", "spans"],
)
def test_9_example_3_hallucinates(does: str | Row, profile: str, database: Path) -> None:  # 004-8
    pair = restaurant(does, INVENTED)
    result = run({"d": [pair]}, "entity_hallucination", "system_correctness", database=database, profile=profile)
    assert result.value("entity_hallucination") == 1
    assert result.value("system_correctness") == 0


@pytest.mark.parametrize(
    ("said", "hallucinated"),
    [
        ("I recommend Midsummer House, phone: 01223369299", False),
        ("I recommend Midsummer House, phone: 123-456-7890", True),  # its number is in no database
        ("I recommend Pizza Hut Fen Ditton", True),  # exists, but was not what the search returned
    ],
)
def test_9_example_3_against_what_the_database_returned(said: str, hallucinated: bool, database: Path) -> None:  # 004-8
    result = run({"d": [restaurant("search", said)]}, "entity_hallucination", "system_correctness", database=database)
    value = result.value("entity_hallucination")
    assert value is not None
    assert (value > 0) == hallucinated
    assert result.value("system_correctness") == (0 if hallucinated else 1)


def test_9_slots_and_entities_are_two_hallucinations(database: Path) -> None:  # 004-8
    pair = restaurant("search", INVENTED)
    result = run({"d": [pair]}, "entity_hallucination", "slot_hallucination", database=database)
    assert (result.value("entity_hallucination"), result.value("slot_hallucination")) == (1, 0)


@both_profiles
def test_9_example_4_wrong_action(profile: str) -> None:
    hilton = {**HOTEL, "hotel-name": "hilton"}
    said = "Let me search for hotels in that area..."
    assert one("system_correctness", hotel(hilton, "search", response=said), profile=profile) == 0
    assert one("system_correctness", hotel(hilton, "book"), profile=profile) == 1


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        *((action, 1) for action in ("search", "offer", "inform", "fail")),
        *((action, 0) for action in ("book", "request")),
        ({"acts": ["Restaurant-NoOffer"]}, 1),
        ({"acts": ["Restaurant-Request"]}, 0),
        ({"acts": ["Restaurant-Inform", "Restaurant-Request"]}, 1),
    ],
)
def test_9_a_search_shows_in_what_comes_of_it(does: str | Row, expected: float) -> None:  # 004-14
    assert one("system_correctness", restaurant(does)) == expected


@pytest.mark.parametrize(("does", "expected"), [("inform", 1), ("book", 0), ({"acts": ["general-bye"]}, 1)])
def test_9_information_is_acknowledged(does: str | Row, expected: float) -> None:  # 004-14, the fifth rule
    assert one("system_correctness", hotel(HOTEL, does, intent="")) == expected


def test_9_what_is_expected_comes_from_the_reference() -> None:  # 004-14
    user, asks = hotel(HOTEL, "request")
    forgot = {**asks, "state": without("bookstay")}  # asks again for what the user has said
    assert one("system_correctness", (user, forgot)) == 0


@both_profiles
def test_9_is_the_share_of_correct_turns(profile: str) -> None:
    pairs = [
        hotel(without("name"), "request"),
        hotel(without("bookstay"), "book"),
        hotel(HOTEL, "book"),
        hotel(HOTEL, "search"),
    ]
    assert one("system_correctness", *pairs, profile=profile) == 2 / 4


# 10. Task completion

GOODBYE = hotel(without("name"), "inform", intent="")


@both_profiles
def test_10_example_1_completed(profile: str) -> None:
    said = "Booking confirmed for University Arms Hotel, 2 guests, Saturday for 2 nights"
    assert one("task_completion", hotel(HOTEL, "book_hotel", response=said), profile=profile) == 1
    assert one("task_completion", hotel(HOTEL, {"acts": ["Booking-Book"]}), profile=profile) == 1


@both_profiles
def test_10_example_2_missing_information(profile: str) -> None:
    asks = hotel(without("name"), "request_info", response="I need the hotel name to complete your booking")
    assert one("task_completion", asks, GOODBYE, profile=profile) == 0


@both_profiles
def test_10_example_3_no_booking_action(profile: str) -> None:
    hilton = {**HOTEL, "hotel-name": "Hilton"}
    said = "Great choice! The Hilton is available. Would you like to proceed?"
    never_mind = hotel(hilton, "inform", intent="")
    assert one("task_completion", hotel(hilton, "inform", response=said), never_mind, profile=profile) == 0


def test_10_the_gate() -> None:  # 004-12, 004-13
    premature, asks, proper = (
        hotel(without("bookstay"), "book"),
        hotel(without("bookstay"), "request"),
        hotel(HOTEL, "book"),
    )
    assert one("task_completion", premature, proper) == 0
    assert one("task_completion", premature, proper, profile="spec") == 0
    assert one("task_completion", asks, proper) == 1
    assert one("task_completion", asks, proper, profile="spec") == 0  # the wish alone is a violation by the letter


def test_10_is_completed_over_all_dialogues() -> None:
    done, open_ = [hotel(HOTEL, "book")], [hotel(without("name"), "request"), GOODBYE]
    result = run({"a": list(done), "b": list(open_), "c": list(open_), "d": list(done)}, "task_completion")
    assert result.value("task_completion") == 2 / 4


def test_10_every_domain_must_be_booked() -> None:  # 004-21
    state = {**HOTEL, **TRAIN, "train-leave": "10:00"}
    user = {"domain": "train", "intents": ["book_train"], "state": state}
    books, fails = ({**user, "acts": [act]} for act in ("Train-OfferBooked", "Train-NoOffer"))
    assert one("task_completion", hotel(HOTEL, "book"), (user, books)) == 1
    assert one("task_completion", hotel(HOTEL, "book"), (user, fails)) == 0
    assert one("task_completion", (user, books)) == 1
    assert one("task_completion", hotel(HOTEL, "request"), (user, books)) == 0


PHONE: Row = {"requested": ["restaurant-phone"]}
NUMBER = FOUND["phone"]


@both_profiles
@pytest.mark.parametrize(
    ("does", "expected"),
    [
        ({"acts": [f"Restaurant-Inform(phone={NUMBER})"]}, 1),
        ({"acts": ["Restaurant-Inform"], "spans": [["restaurant-phone", NUMBER]]}, 1),
        ({"acts": ["Restaurant-Inform"], "response": f"Their number is {NUMBER}."}, 1),  # a value of the database
        ({"acts": [f"Restaurant-Inform(postcode={FOUND['postcode']})"], "response": "It is in the centre."}, 0),
        ({"acts": ["Restaurant-Request"], "response": "Which one do you mean?"}, 0),
    ],
    ids=["act", "span", "text", "another slot", "nothing"],
)
def test_10_information_goals(does: Row, expected: float, profile: str, database: Path) -> None:  # 004-15
    pair = restaurant(does, **PHONE)
    pair[1].pop("requested")
    assert one("task_completion", pair, profile=profile, database=database) == expected


def test_10_an_answer_may_come_later_but_not_before() -> None:  # 004-15
    tells = {"acts": [f"Restaurant-Inform(phone={NUMBER})"]}
    silent = {"acts": ["Restaurant-Request"]}
    assert one("task_completion", restaurant(silent, **PHONE), restaurant(tells)) == 1
    assert one("task_completion", restaurant(tells), restaurant(silent, **PHONE)) == 0


def test_10_all_that_was_requested() -> None:  # 004-15: the union
    asked: Row = {"requested": ["restaurant-phone", "restaurant-postcode"]}
    phone, postcode = ({"acts": [f"Restaurant-Inform({slot}={FOUND[slot]})"]} for slot in ("phone", "postcode"))
    assert one("task_completion", restaurant(phone, **asked)) == 0
    assert one("task_completion", restaurant(phone, **asked), restaurant(postcode)) == 1


def test_10_without_a_goal_and_without_actions() -> None:  # 004-21
    result = run({"d": [restaurant("search")]}, "task_completion")
    assert statuses(result, "task_completion") == ["not_applicable"]
    user, books = hotel(HOTEL, "book")
    books.pop("action")
    result = run({"d": [(user, books)]}, "task_completion")
    assert statuses(result, "task_completion") == ["skipped"]


def test_10_the_text_decides_whether_the_user_was_told(database: Path) -> None:  # 004-15: each requested slot
    for does in ("inform", {"acts": ["Restaurant-Inform"]}):  # what exactly the act says is not known
        assert one("task_completion", restaurant(does, "It is in the centre.", **PHONE), database=database) == 0
        assert one("task_completion", restaurant(does, f"It is {NUMBER}.", **PHONE), database=database) == 1


@pytest.mark.parametrize(
    ("slot", "said"),
    [("postcode", "CB4 1HA"), ("postcode", "cb41ha"), ("phone", "01223 369299"), ("phone", "01223-369-299")],
)
def test_10_a_value_of_the_database_however_it_is_spaced(slot: str, said: str, database: Path) -> None:  # 004-15
    asked: Row = {"requested": [f"restaurant-{slot}"]}
    pair = restaurant({"acts": ["Restaurant-Request"]}, f"Certainly: {said}.", **asked)
    assert one("task_completion", pair, database=database) == 1


def test_10_names_of_requested_slots_have_dialects() -> None:  # 004-5
    asked: Row = {"requested": ["restaurant-postcode"]}
    assert one("task_completion", restaurant({"acts": ["Restaurant-Inform(Post=cb41ha)"]}, **asked)) == 1


def test_10_a_booking_belongs_to_the_domain_its_act_names() -> None:  # 004-21
    user = {"domain": ["flight", "hotel"], "intents": ["book_flight"], "state": {"hotel-area": "north"}}
    flight = (user, {**user, "intents": [], "acts": ["Flight-Book"]})
    assert one("task_completion", flight) == 1  # a flight requires nothing, and it is booked
    assert one("policy_compliance", flight, output="compliance") == 1  # no hotel is booked


def test_10_slots_of_one_act_do_not_depend_on_the_act_beside_it() -> None:  # 004-11, 004-21
    user = {"domain": "taxi", "intents": ["book_taxi"], "state": {**TAXI, "taxi-leave": "10:00"}}
    for beside in ([], ["general-reqmore"], ["Taxi-Request"]):
        books = {**user, "acts": ["Taxi-Inform(car=red volvo)", *beside]}
        assert one("task_completion", (user, books)) == 1, beside


def test_10_the_final_slots_are_the_last_that_are_known() -> None:
    user, bye = hotel(HOTEL, "inform", intent="")
    bye.pop("state")  # says goodbye and no more
    assert one("task_completion", hotel(HOTEL, "book"), (user, bye)) == 1


@pytest.mark.parametrize("metric", ["policy_compliance", "system_correctness", "task_completion"])
def test_8_9_10_a_booking_whose_slots_are_not_known_is_not_judged(metric: str) -> None:  # G1: missing is never 0
    user, books = hotel(HOTEL, "book")
    books.pop("state")
    assert set(statuses(run({"d": [(user, books)]}, metric), metric)) == {"skipped"}


def test_9_without_the_reference_s_slots_nothing_is_expected() -> None:  # G1, 004-14: to book, or to request?
    user, books = hotel(HOTEL, "book")
    user.pop("state")
    assert statuses(run({"d": [(user, books)]}, "system_correctness"), "system_correctness") == ["skipped"]


# The table "Task Completion Rate vs System Correctness"


@both_profiles
@pytest.mark.parametrize(
    ("pair", "completed", "correct"),
    [
        (hotel(HOTEL, "book"), 1, 1),  # user provides all info, system books
        (hotel(without("name"), "request"), 0, 1),  # user missing info, system asks for it
        (hotel(HOTEL, "fail"), 0, 0),  # user provides all info, system fails to book
    ],
    ids=["books", "asks", "fails"],
)
def test_the_table(pair: tuple[Row, Row], completed: float, correct: float, profile: str) -> None:
    result = run({"d": [pair]}, "task_completion", "system_correctness", profile=profile)
    assert (result.value("task_completion"), result.value("system_correctness")) == (completed, correct)


@both_profiles
def test_the_table_s_hallucination_during_search(profile: str, database: Path) -> None:  # 004-16
    # The user asks for the phone number and gets one, of a restaurant that does not exist. The formula of metric 10
    # knows no hallucination; the table does, behind an option.
    tells = {"acts": {"Restaurant-Recommend": [["name", "The Golden Dragon"], ["phone", "123-456-7890"]]}}
    pair = restaurant(tells, INVENTED, **PHONE)

    def both(**options: Any) -> tuple[float | None, float | None]:
        options |= {"database": database, "profile": profile}
        result = run({"d": [pair]}, "task_completion", "system_correctness", **options)
        return result.value("task_completion"), result.value("system_correctness")

    assert both() == (1, 0)
    assert both(set={"gate_on_hallucination": "true"}) == (0, 0)


def test_the_gate_on_hallucination_leaves_the_others_alone(database: Path) -> None:  # 004-16
    tells = {"acts": [f"Restaurant-Inform(phone={NUMBER})"]}
    pair = restaurant(tells, f"Midsummer House has the number {NUMBER}.", **PHONE)
    assert one("task_completion", pair, database=database, set={"gate_on_hallucination": "true"}) == 1


# Missing predictions


@pytest.mark.parametrize(
    ("metric", "output"),
    [
        ("domain_accuracy", None),
        ("intent_accuracy", "accuracy"),
        ("action_type_accuracy", "accuracy"),
        ("slot_accuracy", None),
        ("joint_goal_accuracy", None),
        ("system_correctness", None),
        ("task_completion", None),
    ],
)
def test_missing_dialogues_count_as_wrong(metric: str, output: str | None) -> None:  # 004-20
    user, books = hotel(HOTEL, {"acts": ["Booking-Book"]})
    reference = {**user, "acts": ["Booking-Book"]}
    dialogues: dict[str, list[tuple[Row, Row | None]]] = {"a": [(reference, books)], "b": [(reference, None)]}
    assert run(dialogues, metric).value(metric, output=output) == pytest.approx(1 / 2)
    submitted = run(dialogues, metric, submitted_only=True)
    assert submitted.value(metric, output=output) == pytest.approx(1 / 1)


def test_missing_dialogues_forget_everything() -> None:  # 004-20
    whole = restaurant_then_hotel(NORTH, HOTEL_NORTH, NORTH, HOTEL_NORTH)
    dialogues: dict[str, list[tuple[Row, Row | None]]] = {"a": whole, "b": [(pair[0], None) for pair in whole]}
    assert run(dialogues, "memory_transfer").value("memory_transfer") == pytest.approx(1 / 2)
    assert run(dialogues, "memory_transfer", submitted_only=True).value("memory_transfer") == pytest.approx(1 / 1)
