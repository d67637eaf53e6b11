"""The state metrics on single exchanges: the cases of the document's metrics 4, 5 and 6, and the decisions 004-2 to -7.

Every expected value is a fraction that can be counted off the two states beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import turnwise.dialogue.metrics  # noqa: F401  (registers the metrics)
from turnwise.dialogue.formats.jsonl import held
from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.normalise import load_normaliser
from turnwise.kernel.score import Measurement, Status
from turnwise.kernel.selection import select_metrics

NONE = load_normaliser("none")
SA, JGA, SH = "slot_accuracy", "joint_goal_accuracy", "slot_hallucination"
WITHOUT = "joint_goal_accuracy_without_dontcare"
State = dict[str, Any]


def measure(
    references: list[State],
    predictions: list[State],
    metric: str,
    *,
    profile: str = "turnwise",
    submitted_only: bool = False,
    **settings: str,
) -> dict[str, tuple[float | None, Measurement]]:
    """Value and measurement of each exchange by its id."""
    sides = held(references, "references"), held(predictions, "predictions")
    source = DialogueSource(*sides, NONE, submitted_only, allow_constant_state=True)
    [chosen] = select_metrics("dialogue", [metric], profile=profile, overrides=settings).metrics
    found = {}
    for batch in source.batches():
        for unit, output, measurement in chosen.measure(batch):
            assert output == "value"
            statistics = measurement.statistics
            value = None if statistics is None else float(chosen.value(output, np.array(statistics, dtype=float)))
            found[unit.id] = (value, measurement)
    return found


def one(reference: State, prediction: State, metric: str, **options: Any) -> tuple[float | None, Measurement]:
    """The only exchange of a dialogue; `domain` and `predicted_domain` say what is active."""
    domains = {
        side: {"domain": options.pop(side)} if side in options else {} for side in ("domain", "predicted_domain")
    }
    found = measure(
        [{"dialogue_id": "d", "state": reference, **domains["domain"]}],
        [{"dialogue_id": "d", "state": prediction, **domains["predicted_domain"]}],
        metric,
        **options,
    )
    return found["d/0"]


def value(reference: State, prediction: State, metric: str, **options: Any) -> float | None:
    return one(reference, prediction, metric, **options)[0]


# Metric 4


CENTRE_CHEAP = {"restaurant-area": "centre", "restaurant-pricerange": "cheap"}


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        # The document's example: the area is right, the price is not.
        (CENTRE_CHEAP, {"restaurant-area": "centre", "restaurant-pricerange": "expensive"}, 1 / 2),
        # "If truth has 3 slots, but we predict only 2 correct ones": a missing slot costs.
        ({**CENTRE_CHEAP, "restaurant-food": "thai"}, CENTRE_CHEAP, 2 / 3),
        # "If truth has 2 slots, and we predict those 2 plus 1 hallucinated": an extra one does not.
        (CENTRE_CHEAP, {**CENTRE_CHEAP, "restaurant-food": "thai"}, 2 / 2),
        (CENTRE_CHEAP, {}, 0 / 2),
        (CENTRE_CHEAP, {"hotel-area": "centre", "hotel-pricerange": "cheap"}, 0 / 2),  # the same values elsewhere
    ],
)
def test_slot_accuracy_cases_of_the_document(reference: State, prediction: State, expected: float) -> None:
    assert value(reference, prediction, SA) == pytest.approx(expected)


# Metric 5


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        # The document writes values as lists of one.
        ({"restaurant-area": ["centre"], "restaurant-pricerange": ["expensive"]}, 1),
        ({"restaurant-area": ["centre"], "restaurant-pricerange": ["cheap"]}, 0),
        ({"restaurant-area": "centre"}, 0),  # missing
        ({"restaurant-area": "centre", "restaurant-pricerange": "expensive", "restaurant-food": "thai"}, 0),  # extra
        ({}, 0),
    ],
)
@pytest.mark.parametrize("metric", [JGA, WITHOUT])
def test_joint_goal_accuracy_cases_of_the_document(prediction: State, expected: int, metric: str) -> None:
    reference = {"restaurant-area": ["centre"], "restaurant-pricerange": ["expensive"]}
    assert value(reference, prediction, metric) == expected


# Metric 6


@pytest.mark.parametrize(
    ("prediction", "active", "everything", "to_the_letter"),
    [
        # Case 1, wrong domain: the reference knows no hotel, so both hotel slots are invented; the letter of the
        # document looks at the restaurant alone and sees nothing.
        ({"hotel-area": "centre", "hotel-stars": "4"}, 2 / 2, 2 / 2, 0),
        # Case 1 beside right slots: 1 of 3; by the letter 0 of 2.
        ({**CENTRE_CHEAP, "hotel-area": "centre"}, 1 / 3, 1 / 3, 0),
        # Case 2, wrong slot name: 1 of 2.
        ({"restaurant-area": "centre", "restaurant-food": "thai"}, 1 / 2, 1 / 2, 1 / 2),
        # Case 3, wrong value: 1 of 1.
        ({"restaurant-area": "north"}, 1 / 1, 1 / 1, 1 / 1),
        # Nothing invented; nothing predicted (004-6).
        (CENTRE_CHEAP, 0 / 2, 0 / 2, 0 / 2),
        ({}, 0, 0, 0),
    ],
)
def test_slot_hallucination_cases_of_the_document(
    prediction: State, active: float, everything: float, to_the_letter: float
) -> None:
    def rate(**options: Any) -> float | None:
        return value(CENTRE_CHEAP, prediction, SH, domain="restaurant", predicted_domain="restaurant", **options)

    assert rate() == pytest.approx(active)
    assert rate(scope="all") == pytest.approx(everything)
    assert rate(profile="spec") == pytest.approx(to_the_letter)
    assert rate(scope="reference") == pytest.approx(to_the_letter)


def test_the_document_s_example_of_a_hallucination() -> None:
    assert value({"restaurant-area": "south"}, {"restaurant-area": "north"}, SH, domain="restaurant") == 1.0


@pytest.mark.parametrize(
    ("remembered", "active", "everything"),
    [
        # The hotel is memory: right or wrong, it is out of scope while the taxi is talked about. 0 of 1 taxi slot.
        ({"hotel-area": "north", "hotel-stars": "4"}, 0 / 1, 0 / 3),
        ({"hotel-area": "south", "hotel-stars": "4"}, 0 / 1, 1 / 3),
    ],
)
def test_cross_domain_memory_is_not_hallucination(remembered: State, active: float, everything: float) -> None:
    reference = {"hotel-area": "north", "hotel-stars": "4", "taxi-leave": "10:00"}
    prediction = {**remembered, "taxi-leave": "10:00"}
    about_the_taxi = {"domain": "taxi", "predicted_domain": "taxi"}
    assert value(reference, prediction, SH, **about_the_taxi) == active
    assert value(reference, prediction, SH, profile="spec", **about_the_taxi) == active
    assert value(reference, prediction, SH, scope="all", **about_the_taxi) == pytest.approx(everything)


def test_a_domain_that_only_the_prediction_takes_for_active_is_in_scope() -> None:
    """004-7: reference-active, predicted-active, and domains absent from the reference state."""
    reference = {"hotel-area": "north", "taxi-leave": "10:00"}
    prediction = {"hotel-area": "south", "taxi-leave": "10:00"}
    assert value(reference, prediction, SH, domain="taxi", predicted_domain="hotel") == 1 / 2
    assert value(reference, prediction, SH, domain="taxi", predicted_domain=["hotel", "taxi"]) == 1 / 2
    assert value(reference, prediction, SH, domain="taxi", predicted_domain="hotel", profile="spec") == 0 / 1
    # Nothing is active (thanks, goodbye): nothing is in scope.
    assert value(reference, prediction, SH, domain=[], predicted_domain=[]) == 0
    assert value(reference, prediction, SH, domain=[], predicted_domain=[], scope="all") == 1 / 2


def test_without_a_predicted_domain_the_one_whose_state_changed_is_active() -> None:
    references = [
        {"dialogue_id": "d", "turn_id": 0, "domain": "hotel", "state": {"hotel-area": "north"}},
        {"dialogue_id": "d", "turn_id": 1, "domain": "taxi", "state": {"hotel-area": "north", "taxi-leave": "10:00"}},
        {"dialogue_id": "d", "turn_id": 2, "domain": "taxi", "state": {"hotel-area": "north", "taxi-leave": "10:00"}},
    ]
    states = [{"hotel-area": "south"}, {"hotel-area": "south", "taxi-leave": "10:00"}]
    states.append({"hotel-area": "east", "taxi-leave": "10:00"})
    predictions = [{"dialogue_id": "d", "turn_id": turn, "state": state} for turn, state in enumerate(states)]
    found = measure(references, predictions, SH)
    # 0: the hotel is active on both sides, 1 of 1. 1: only the taxi changed, 0 of 1. 2: the hotel changed, 1 of 2.
    assert [found[f"d/{turn}"][0] for turn in range(3)] == [1 / 1, 0 / 1, 1 / 2]


def test_a_state_that_is_only_written_differently_has_not_changed() -> None:
    """An absent value that is spelt out, or a capital letter, makes no domain active."""
    references = [
        {"dialogue_id": "d", "turn_id": turn, "domain": "taxi", "state": {"hotel-area": "north", "taxi-leave": "10:00"}}
        for turn in range(2)
    ]
    before = {"hotel-area": "south", "taxi-leave": "10:00"}
    for after in ({**before, "hotel-area": " South"}, {**before, "hotel-stars": "none"}, {**before, "hotel-name": ""}):
        predictions = [
            {"dialogue_id": "d", "turn_id": turn, "state": state} for turn, state in enumerate((before, after))
        ]
        assert measure(references, predictions, SH)["d/1"][0] == 0 / 1, after


def test_the_reference_s_intents_stand_in_for_its_domain() -> None:
    reference = [
        {"dialogue_id": "d", "intents": ["find_hotel"], "state": {"hotel-area": "north", "taxi-leave": "1:00"}}
    ]
    prediction = [{"dialogue_id": "d", "domain": [], "state": {"hotel-area": "south", "taxi-leave": "2:00"}}]
    assert measure(reference, prediction, SH, profile="spec")["d/0"][0] == 1 / 1  # the hotel alone


def test_hallucination_and_accuracy_are_precision_and_recall() -> None:
    reference = {"hotel-area": "north", "hotel-stars": "4", "hotel-parking": "yes"}
    prediction = {"hotel-area": "north", "hotel-stars": "3"}
    assert value(reference, prediction, SA) == pytest.approx(1 / 3)  # recall: 1 of 3 reference slots
    assert value(reference, prediction, SH, scope="all") == pytest.approx(1 - 1 / 2)  # 1 of 2 predicted is right


# Alternatives (004-2)

TWO_NAMES = {"hotel-name": ["mill house", "mill lodge"], "hotel-area": "north"}


@pytest.mark.parametrize(
    ("name", "accuracy", "joint", "invented", "first"),
    [
        ("mill house", 2 / 2, 1, 0 / 2, (2 / 2, 1, 0 / 2)),
        ("mill lodge", 2 / 2, 1, 0 / 2, (1 / 2, 0, 1 / 2)),
        ("mill inn", 1 / 2, 0, 1 / 2, (1 / 2, 0, 1 / 2)),
        # A predicted list is right only if each of its values is acceptable: hedging does not pay.
        (["mill house", "mill lodge"], 2 / 2, 1, 0 / 2, (1 / 2, 0, 1 / 2)),
        (["mill house", "mill house"], 2 / 2, 1, 0 / 2, (2 / 2, 1, 0 / 2)),
        (["mill house", "mill inn"], 1 / 2, 0, 1 / 2, (1 / 2, 0, 1 / 2)),
        # `|` separates alternatives in a reference only, and only under multiwoz-v1.
        ("mill house|mill lodge", 1 / 2, 0, 1 / 2, (1 / 2, 0, 1 / 2)),
    ],
)
def test_alternatives(name: Any, accuracy: float, joint: int, invented: float, first: tuple[float, ...]) -> None:
    prediction = {"hotel-name": name, "hotel-area": "north"}
    found = [value(TWO_NAMES, prediction, metric, domain="hotel") for metric in (SA, JGA, SH)]
    assert found == [accuracy, joint, invented]
    strict = [value(TWO_NAMES, prediction, metric, domain="hotel", first="true") for metric in (SA, JGA, SH)]
    assert strict == list(first)


def test_the_first_alternative_is_the_first_that_says_something() -> None:
    reference = {"hotel-name": ["", "none", "mill house", "mill lodge"]}
    assert value(reference, {"hotel-name": "mill house"}, JGA, first="true") == 1
    assert value(reference, {"hotel-name": "mill lodge"}, JGA, first="true") == 0


# dontcare and absent values (004-3)


@pytest.mark.parametrize("spelling", ["dontcare", "don't care", "do n't care", "Dont Care", " any ", "no preference"])
def test_dontcare_is_one_value(spelling: str) -> None:
    reference = {"hotel-area": "dontcare", "hotel-stars": "4"}
    prediction = {"hotel-area": spelling, "hotel-stars": "4"}
    assert [value(reference, prediction, metric, domain="hotel") for metric in (SA, JGA, WITHOUT, SH)] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("reference", "prediction", "joint", "without"),
    [
        ("dontcare", None, 0, 1),
        (None, "dontcare", 0, 1),
        ("dontcare", "north", 0, 0),  # extra
        ("north", "dontcare", 0, 0),  # missing
        (["north", "dontcare"], None, 0, 1),  # leaving it open was acceptable
        (["north", "dontcare"], "north", 1, 1),
        (["north", "dontcare"], "south", 0, 0),
        ("dontcare", ["dontcare", "north"], 0, 0),
    ],
)
def test_joint_goal_accuracy_without_dontcare(reference: Any, prediction: Any, joint: int, without: int) -> None:
    stars = {"hotel-stars": "4"}
    states = [stars if area is None else {**stars, "hotel-area": area} for area in (reference, prediction)]
    assert value(*states, JGA) == joint
    assert value(*states, WITHOUT) == without


@pytest.mark.parametrize("nothing", ["", "none", "None", "not mentioned", "not given", "unknown", "  ", None, [], [""]])
def test_absent_values_are_absent_on_both_sides(nothing: Any) -> None:
    stars, with_nothing = {"hotel-stars": "4"}, {"hotel-stars": "4", "hotel-area": nothing}
    for states in ((stars, with_nothing), (with_nothing, stars), (with_nothing, with_nothing)):
        found = [value(*states, metric, domain="hotel") for metric in (SA, JGA, WITHOUT, SH)]
        assert found == [1, 1, 1, 0]


def test_slot_dialects_are_one_slot() -> None:
    reference = {"hotel-book day": "monday", "train-arriveBy": "10:00", "restaurant-time": "12:00"}
    prediction = {"hotel": {"day": "Monday"}, "train": {"arrive": "10:00"}, "restaurant": {"book_time": "12:00"}}
    assert value(reference, prediction, JGA) == 1


# Empty states, missing predictions (004-6, 004-20)


def test_empty_states() -> None:
    accuracy = one({}, {}, SA)[1]
    assert (accuracy.status, accuracy.reason) == (Status.NOT_APPLICABLE, "no reference slots")
    assert one({}, {"hotel-area": "north"}, SA)[1].status is Status.NOT_APPLICABLE
    assert [value({}, {}, metric) for metric in (JGA, WITHOUT, SH)] == [1, 1, 0]
    assert [value({}, {"hotel-area": "north"}, metric) for metric in (JGA, WITHOUT, SH)] == [0, 0, 1]
    assert value({}, {"hotel-area": "dontcare"}, WITHOUT) == 1


TWO_TURNS = [
    {"dialogue_id": "d", "turn_id": 0, "domain": "hotel", "state": {"hotel-area": "north"}},
    {"dialogue_id": "d", "turn_id": 1, "domain": "hotel", "state": {}},
]


@pytest.mark.parametrize("absent", [0, 1])
def test_a_missing_prediction_is_wrong(absent: int) -> None:
    given = [TWO_TURNS[1 - absent]]
    for metric in (JGA, WITHOUT):  # wrong even where the reference state is empty
        assert measure(TWO_TURNS, given, metric)[f"d/{absent}"][0] == 0
        assert measure(TWO_TURNS, given, metric)[f"d/{1 - absent}"][0] == 1
    accuracy, found = measure(TWO_TURNS, given, SA)[f"d/{absent}"]
    assert accuracy == 0 if absent == 0 else found.status is Status.NOT_APPLICABLE
    invented = measure(TWO_TURNS, given, SH)[f"d/{absent}"][1]
    assert (invented.status, invented.reason) == (Status.SKIPPED, "missing prediction")


@pytest.mark.parametrize("metric", [SA, JGA, WITHOUT, SH])
def test_submitted_only_leaves_missing_predictions_out(metric: str) -> None:
    found = measure(TWO_TURNS, [TWO_TURNS[1]], metric, submitted_only=True)["d/0"][1]
    assert (found.status, found.reason) == (Status.SKIPPED, "missing prediction")


@pytest.mark.parametrize("metric", [SA, JGA, WITHOUT, SH])
def test_what_has_no_reference_state_is_skipped(metric: str) -> None:
    unknown = [{"dialogue_id": "d", "turn_id": 2, "domain": "hotel"}]
    found = measure(TWO_TURNS + unknown, [*TWO_TURNS, {**unknown[0], "state": {}}], metric)["d/2"][1]
    assert (found.status, found.reason) == (Status.SKIPPED, "no reference state")


# Evidence


def test_evidence_names_slot_expected_and_found() -> None:
    reference = {"hotel-area": "north", "hotel-name": ["mill house", "mill lodge"], "hotel-stars": "4"}
    prediction = {"hotel-area": " South", "hotel-name": ["mill inn", "mill house"], "hotel-parking": "yes"}
    area = {"slot": "hotel-area", "expected": "north", "found": "south"}
    name = {"slot": "hotel-name", "expected": ["mill house", "mill lodge"], "found": ["mill inn", "mill house"]}
    stars = {"slot": "hotel-stars", "expected": "4", "found": None}
    parking = {"slot": "hotel-parking", "expected": None, "found": "yes"}

    def evidence(metric: str, **options: str) -> list[Any]:
        return sorted(one(reference, prediction, metric, **options)[1].evidence, key=lambda line: line["slot"])

    assert evidence(SA) == [area, name, stars]  # what was missed
    assert evidence(JGA) == evidence(WITHOUT) == [area, name, parking, stars]
    assert evidence(SH, scope="all") == [area, name, parking]  # what was invented
    assert evidence(SA, first="true")[1] == {**name, "expected": "mill house"}


@pytest.mark.parametrize("metric", [SA, JGA, WITHOUT, SH])
def test_what_is_right_needs_no_evidence(metric: str) -> None:
    assert one(TWO_NAMES, {"hotel-name": "mill lodge", "hotel-area": "north"}, metric)[1].evidence is None


def test_evidence_of_a_missing_prediction_says_so() -> None:
    evidence = measure(TWO_TURNS, [TWO_TURNS[1]], JGA)["d/0"][1].evidence
    assert evidence["missing"] == "prediction"
    assert evidence["expected"] == [{"slot": "hotel-area", "expected": "north", "found": None}]
