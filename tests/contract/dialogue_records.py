"""Exchanges for the contract of the dialogue room: random ones, two exemplary dialogues, and a small database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from turnwise.dialogue.database import load_database
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.pairing import pair_up
from turnwise.dialogue.records import ACTIONS, ActSlot, Exchange, Goal, Pair
from turnwise.dialogue.resources import Resources

NORMALISER = load_normaliser("multiwoz-v1")

ENTITIES = {
    "hotel": [
        {"name": "oak lodge", "area": "north", "pricerange": "cheap", "phone": "01223555011", "postcode": "cb21ab"},
        {"name": "mill house", "area": "centre", "pricerange": "dontcare", "phone": "01223555012"},
        {"name": "ask", "area": "?", "parking": "yes"},
    ],
    "restaurant": [
        {"name": "red lantern", "area": "north", "food": "chinese", "phone": "01223555013", "postcode": "cb43le"},
        {"name": "köşk", "area": "centre", "food": "turkish"},
    ],
    "attraction": [{"name": "clock museum", "area": "north", "type": "museum", "entrancefee": "free"}],
    "train": [{"trainID": "TR1234", "day": "monday", "leaveAt": "17:15", "arriveBy": "18:05", "price": "10.10 pounds"}],
}


@cache
def resources() -> Resources:
    """The tables that come with turnwise, and the entities above."""
    folder = _folder()
    for domain, entities in ENTITIES.items():
        (Path(folder.name) / f"{domain}_db.json").write_text(json.dumps(entities), "utf-8")
    return Resources(database=load_database(Path(folder.name)))


@cache
def _folder() -> TemporaryDirectory[str]:
    """Kept until the end: a database that was sent elsewhere is read again from its folder."""
    return TemporaryDirectory(prefix="turnwise-contract-")


# --- random dialogues ---------------------------------------------------------------------------------------

SLOTS = [
    *("hotel-area", "hotel-book day", "hotel-bookday", "restaurant-food", "taxi-leaveAt", "spa-sauna"),
    *("restaurant-area", "hotel-pricerange", "restaurant-pricerange", "taxi-departure", "taxi-destination"),
]
BOOKING = ["hotel-name", "hotel-bookday", "hotel-bookpeople", "hotel-bookstay"]
DOMAINS = ["hotel", "restaurant", "taxi"]
ABSENT = ["", "none", "not mentioned"]
PRESENT = ["centre", "Center", "north", "17:15", "5:15 pm", "monday", "dontcare", "don't care", "köşk", "a b"]
INTENTS = ["find_hotel", "book_hotel", "Book_Hotel", "find_restaurant", "book_restaurant", "find_taxi", "book_taxi"]
ACTS = [
    *("Hotel-Inform", "hotel-inform", "Hotel-Request", "Restaurant-Recommend", "Taxi-Inform", "Booking-Book"),
    *("Booking-Request", "Booking-NoBook", "Train-OfferBooked", "Restaurant-NoOffer", "general-bye", "Spa-Soak"),
]
ACT_SLOTS = ["Area", "Post", "Phone", "Car", "Price", "Name", "Ref", "none", ""]
REQUESTED = ["hotel-phone", "hotel-post", "restaurant-postcode", "taxi-phone", "hotel-ref", "hotel-internet"]
RESPONSES = [
    *(
        "",
        "Goodbye.",
        "Which area?",
        "I recommend Oak Lodge.",
        "Ask is in the north, or ask again.",
        "TR1234 or TR9999?",
    ),
    *(
        "I recommend The Golden Dragon, phone: 123-456-7890.",
        "Call 01223 555011, postcode CB2 1AB.",
        "Booked: ABC12345.",
    ),
    *("[hotel_name] is at [value_address], phone [hotel_phone].", "[restaurant_name]: [ref]", "[train_id] at [leave]"),
    *("[value_name] has [choice] rooms [laughs]", "Köşk is in the centre; so is Mill House.", "Red Lantern's number?"),
]

_present = st.sampled_from(PRESENT)
_words = st.sampled_from([*PRESENT, *ABSENT])
_alternatives = _words | st.lists(_words, max_size=3) | st.builds("{}|{}".format, _present, _present)
_bookable = st.fixed_dictionaries(dict.fromkeys(BOOKING, _present))
_states: st.SearchStrategy[dict[str, Any]] = (
    st.dictionaries(st.sampled_from(SLOTS), _alternatives, max_size=4)
    | st.dictionaries(st.sampled_from(SLOTS), _alternatives, max_size=4)
    | _bookable
)
_operations = st.dictionaries(
    st.sampled_from(["latency_ms", "tokens", "cost"]), st.integers(0, 3000) | st.floats(0, 3000), max_size=3
)
_act_slots = st.builds(ActSlot, st.sampled_from(ACTS), st.sampled_from(ACT_SLOTS), _words | st.just("?"))
_goals = st.dictionaries(
    st.sampled_from([*DOMAINS, "train", "police"]),
    st.builds(
        Goal,
        st.dictionaries(st.sampled_from(["area", "food", "name", "leaveAt", "day"]), _present, max_size=2),
        st.lists(st.sampled_from(["phone", "post", "trainID", "area"]), unique=True, max_size=2).map(tuple),
        st.none() | st.just({"people": "2"}),
    ),
    max_size=2,
)


def _some(choices: Sequence[str], size: int = 2) -> st.SearchStrategy[tuple[str, ...] | None]:
    """Unknown, known to be none, or a few."""
    return st.none() | st.lists(st.sampled_from(choices), unique=True, max_size=size).map(tuple)


@st.composite
def _sides(draw: st.DrawFn) -> dict[str, Any]:
    """What both sides of an exchange can say, and what each can leave unsaid."""
    acts = draw(_some(ACTS, 3))
    said = draw(st.none() | st.lists(_act_slots, max_size=3))
    return {
        "domains": draw(_some(DOMAINS)),
        "intents": draw(_some(INTENTS)),
        "acts": acts,
        "act_slots": None if said is None or acts is None else tuple(one for one in said if one.act in acts),
        "spans": draw(st.none() | st.lists(st.tuples(st.sampled_from(REQUESTED), _words), max_size=2).map(tuple)),
        "requested": draw(_some(REQUESTED)),
        "action": draw(st.none() | st.sampled_from(ACTIONS)),
        "response": draw(st.none() | st.sampled_from(RESPONSES)),
        "state": draw(st.none() | _states | _states | _states),
    }


@st.composite
def records(draw: st.DrawFn, min_size: int = 0) -> list[Pair]:
    """Whole dialogues: some exchanges without a prediction, any field unknown on either side."""
    pairs: list[Pair] = []
    for number in range(draw(st.integers(min_size, 3))):
        name = f"d{number}"
        references, predictions = [], []
        for turn in range(draw(st.integers(1, 3))):
            reference = Exchange(
                dialogue_id=name,
                turn_id=str(turn),
                user=draw(st.none() | st.just("hello") | st.just("Is Oak Lodge free?")),
                booked=draw(st.none() | st.just(()) | st.just(("hotel",))),
                goal=draw(st.none() | _goals) if turn == 0 else None,
                metadata=draw(st.just({}) | st.just({"scenario": "booking"})),
                **draw(_sides()),
            )
            references.append(reference)
            if draw(st.integers(0, 4)):
                rewards = st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=5).map(tuple)
                prediction = Exchange(
                    dialogue_id=name,
                    turn_id=str(turn),
                    rewards=draw(rewards) if turn == 0 else None,
                    operations=draw(_operations),
                    **draw(_sides()),
                )
                if draw(st.integers(0, 2)) == 0:
                    prediction = replace(prediction, state=reference.state, acts=reference.acts, act_slots=None)
                predictions.append(prediction)
        pairs += pair_up(name, references, predictions, NORMALISER)
    return pairs


# --- exemplary dialogues ------------------------------------------------------------------------------------

FREE = {"latency_ms": 0.0, "tokens": 0.0, "cost": 0.0}


@cache
def exemplary() -> tuple[Pair, ...]:
    """Two dialogues whose references do everything right, so that repeating them is the best a system can do.

    In the first a hotel is booked and a restaurant found in the same area, with names in the responses. The second is
    the same with placeholders, and with a goal: what inform and success look at.
    """
    found_hotel = {"hotel-area": "north", "hotel-pricerange": "cheap"}
    booked_hotel = {
        **found_hotel,
        "hotel-name": "oak lodge",
        "hotel-bookday": "monday",
        "hotel-bookpeople": "2",
        "hotel-bookstay": "3",
    }
    both = {**booked_hotel, "restaurant-area": "north", "restaurant-food": "chinese"}
    turns: list[dict[str, Any]] = [
        {
            "intents": ("find_hotel",),
            "acts": ("Hotel-Recommend",),
            "act_slots": (ActSlot("Hotel-Recommend", "Name", "oak lodge"),),
            "state": found_hotel,
            "user": "A cheap hotel in the north, please.",
            "response": ("Oak Lodge is cheap.", "[hotel_name] is cheap."),
        },
        {
            "intents": ("book_hotel",),
            "acts": ("Booking-Book",),
            "act_slots": (ActSlot("Booking-Book", "Ref", "AB12CD34"),),
            "state": booked_hotel,
            "requested": ("hotel-ref",),
            "user": "Book it from Monday for two people and three nights. What is the reference?",
            "response": ("Oak Lodge is booked: AB12CD34.", "[hotel_name] is booked: [hotel_ref]."),
        },
        {
            "intents": ("find_restaurant",),
            "acts": ("Restaurant-Inform",),
            "act_slots": (ActSlot("Restaurant-Inform", "Phone", "01223555013"),),
            "state": both,
            "requested": ("restaurant-phone",),
            "user": "And a Chinese restaurant near it; I need its phone number.",
            "response": ("Call Red Lantern: 01223 555013.", "Call [restaurant_name]: [restaurant_phone]."),
        },
    ]
    goal = {
        "hotel": Goal({"area": "north", "pricerange": "cheap"}, (), {"day": "monday", "people": "2", "stay": "3"}),
        "restaurant": Goal({"area": "north", "food": "chinese"}, ("phone",), None),
    }
    pairs: list[Pair] = []
    for form, name in enumerate(("with-names", "with-placeholders")):
        references = [
            Exchange(
                dialogue_id=name,
                turn_id=str(number),
                domains=(turn["intents"][0].partition("_")[2],),
                booked=("hotel",) if number else (),
                goal=goal if name == "with-placeholders" and number == 0 else None,
                rewards=(1.0, 1.0, 1.0, 1.0) if number == 0 else None,
                operations=FREE,
                **{**turn, "response": turn["response"][form]},
            )
            for number, turn in enumerate(turns)
        ]
        pairs += pair_up(name, references, references, NORMALISER)
    return tuple(pairs)
