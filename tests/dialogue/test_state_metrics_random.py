"""The state metrics against a second implementation: plain dictionaries, one turn after the other.

It shares nothing with turnwise but the input. Random dialogues come with dialects, alternatives, lists, absent values,
spellings of dontcare, missing exchanges, and active domains that are given, left to the intents, or to the changes of
the state.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import turnwise

METRICS = ("slot_accuracy", "joint_goal_accuracy", "joint_goal_accuracy_without_dontcare", "slot_hallucination")

# Canonical name: how it may be written, flat.
SLOTS = {
    "hotel-area": ["hotel-area", "Hotel-Area", "hotel- area"],
    "hotel-bookday": ["hotel-book day", "hotel-day", "hotel-bookday"],
    "restaurant-food": ["restaurant-food"],
    "taxi-leave": ["taxi-leaveAt", "taxi-leave"],
}
# Written value: what it means; None is absent.
VALUES = {"a": "a", " A": "a", "b": "b", "c": "c", "dontcare": "dontcare", "Don't care": "dontcare"}
ABSENT = {"": None, "none": None, "Not mentioned": None}
CANONICAL = {written: name for name, spellings in SLOTS.items() for written in spellings}
DOMAINS = ["hotel", "restaurant", "taxi"]


@st.composite
def states(draw: st.DrawFn, plain: bool = False) -> dict[str, Any]:
    """A state; a plain one has one spelling per slot and value, so that equal states are equal texts."""
    state = {}
    for name in draw(st.lists(st.sampled_from(sorted(SLOTS)), unique=True)):
        if plain:
            state[name] = draw(st.sampled_from(["a", "b", "dontcare"]))
        else:
            one = st.sampled_from([*VALUES, *ABSENT])
            state[draw(st.sampled_from(SLOTS[name]))] = draw(one | st.lists(one, max_size=3))
    return state


@st.composite
def data_sets(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    references: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    for dialogue in range(draw(st.integers(1, 4))):
        own_domains = draw(st.booleans())
        for turn in range(draw(st.integers(1, 4))):
            place = {"dialogue_id": f"d{dialogue}", "turn_id": turn}
            reference = {**place, "state": draw(states())}
            match draw(st.integers(0, 2)):
                case 0:
                    reference["domain"] = draw(st.lists(st.sampled_from(DOMAINS), unique=True, max_size=2))
                case 1:
                    reference["intents"] = [f"find_{name}" for name in draw(st.lists(st.sampled_from(DOMAINS)))]
            references.append(reference)
            if not predictions or draw(st.integers(0, 4)):
                prediction = {**place, "state": draw(states(plain=not own_domains))}
                if own_domains:
                    prediction["domain"] = draw(st.lists(st.sampled_from(DOMAINS), unique=True))
                predictions.append(prediction)
    return references, predictions


# The second implementation


def meant(state: dict[str, Any], first: bool = False) -> dict[str, list[str]]:
    found = {}
    for written, raw in state.items():
        forms = [{**VALUES, **ABSENT}[text] for text in (raw if isinstance(raw, list) else [raw])]
        present = [form for form in forms if form is not None]
        if present:
            found[CANONICAL[written]] = present[:1] if first else present
    return found


def domains_of(state: dict[str, Any]) -> set[str]:
    return {name.split("-")[0] for name in state}


def expected_cells(
    reference: dict[str, Any], prediction: dict[str, Any], before: dict[str, Any], first: bool, scope: str
) -> dict[str, dict[str, bool]]:
    """Per metric, the slots that count and whether each is a hit."""
    wanted, given = meant(reference["state"], first), meant(prediction.get("state", {}))
    right = {slot: slot in wanted and slot in given and set(given[slot]) <= set(wanted[slot]) for slot in SLOTS}
    either = set(wanted) | set(given)
    needed = set()
    for slot in either:
        open_wish = slot not in wanted or "dontcare" in wanted[slot]
        open_guess = slot not in given or set(given[slot]) == {"dontcare"}
        if not (open_wish and open_guess):
            needed.add(slot)
    active = set(reference.get("domain", [name.split("_")[1] for name in reference.get("intents", [])]))
    if scope == "active":
        now = prediction.get("state", {})
        changed = {slot for slot in {*now, *before} if now.get(slot) != before.get(slot)}
        active |= set(prediction.get("domain", domains_of(dict.fromkeys(changed))))
        active |= set(DOMAINS) - domains_of(wanted)
    scoped = {slot for slot in given if scope == "all" or slot.split("-")[0] in active}
    return {
        "slot_accuracy": {slot: right[slot] for slot in wanted},
        "joint_goal_accuracy": {slot: right[slot] for slot in either},
        "joint_goal_accuracy_without_dontcare": {slot: right[slot] for slot in needed},
        "slot_hallucination": {slot: not right[slot] for slot in scoped},
    }


def expected_value(metric: str, cells: dict[str, bool], submitted: bool, submitted_only: bool) -> float | None:
    if not submitted and (submitted_only or metric == "slot_hallucination"):
        return None
    if metric.startswith("joint"):
        return float(submitted and all(cells.values()))
    if not cells:
        return None if metric == "slot_accuracy" else 0.0
    return sum(cells.values()) / len(cells)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


class Expected:
    """Values per exchange, and the rows of each group by dialogue."""

    def __init__(self, references: list[Any], predictions: list[Any], options: dict[str, Any]) -> None:
        self.values: dict[tuple[str, str], float | None] = {}
        self.groups: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        by_place = {(p["dialogue_id"], p["turn_id"]): p for p in predictions}
        before: dict[str, Any] = {}
        last = None
        for reference in references:
            dialogue, turn = reference["dialogue_id"], reference["turn_id"]
            before = before if dialogue == last else {}
            prediction = by_place.get((dialogue, turn))
            cells = expected_cells(reference, prediction or {}, before, options["first"], options["scope"])
            active = reference.get("domain", [name.split("_")[1] for name in reference.get("intents", [])])
            for metric in METRICS:
                found = expected_value(metric, cells[metric], prediction is not None, options["submitted_only"])
                self.values[metric, f"{dialogue}/{turn}"] = found
                if found is None:
                    continue
                self.groups[metric, "", ""][dialogue].append(found)
                if active:
                    self.groups[metric, "domain", active[0]][dialogue].append(found)
                for slot, hit in cells[metric].items():
                    self.groups[metric, "slot", slot][dialogue].append(float(hit))
            last, before = dialogue, before if prediction is None else prediction["state"]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=data_sets(),
    first=st.booleans(),
    scope=st.sampled_from(["active", "reference", "all"]),
    submitted_only=st.booleans(),
)
def test_against_a_turn_by_turn_implementation(data: Any, first: bool, scope: str, submitted_only: bool) -> None:
    references, predictions = data
    expected = Expected(references, predictions, {"first": first, "scope": scope, "submitted_only": submitted_only})
    result = turnwise.evaluate(
        {"references": references, "predictions": predictions},
        metrics=list(METRICS),
        normaliser="none",
        set={"first": first, "scope": scope},
        submitted_only=submitted_only,
        allow_constant_state=True,
        resamples=100,
    )
    found = {(score.metric.partition("/")[2], score.unit.id): score.value for score in result.scores}
    assert found == pytest.approx(expected.values)

    rolled_up = {
        (r["metric"], *(next(iter(r["group"].items())) if r["group"] else ("", "")), r["rollup"]): r["value"]
        for r in result.results
        if r["value"] is not None
    }
    wanted = {}
    for key, by_dialogue in expected.groups.items():
        wanted[*key, "micro"] = mean([value for values in by_dialogue.values() for value in values])
        wanted[*key, "macro"] = mean([mean(values) for values in by_dialogue.values()])
    assert rolled_up == pytest.approx(wanted)
    for r in result.results:
        if r["low"] is not None:
            assert 0 <= r["low"] <= r["high"] <= 1
