"""Published numbers on real data: three systems on MultiWOZ 2.1 (1,000 dialogues, 7,372 exchanges).

Joint goal accuracy is compared with the numbers the field reports; the other two metrics with a computation in this
file that reads the same data by the rule printed in issue 2, in plain Python.
"""

from __future__ import annotations

import json
import zipfile
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest

import turnwise
from tests.shared_data import shared

METRICS = ["slot_accuracy", "joint_goal_accuracy", "joint_goal_accuracy_without_dontcare", "slot_hallucination"]
PUBLISHED = {  # joint goal accuracy, and the same without dontcare
    "augpt": (0.49105, 0.54639),
    "pptod": (0.37819, 0.41305),
    "ubar": (0.35187, 0.37832),
}
UNANSWERED = {"augpt": 0, "pptod": 1, "ubar": 0}
"""Exchanges that a published file leaves out."""

# The rule, written down a second time.

ABSENT = {"", "none", "not mentioned", "not given", "unknown"}
DONTCARE = {"dontcare", "dont care", "don't care", "do n't care", "do nt care", "do not care", "any", "does not care"}
DONTCARE |= {"doesn't care", "not care", "no preference", "does not matter", "doesn't matter"}


def canonical(domain: str, slot: str) -> str:
    domain, slot = domain.lower().replace(" ", ""), slot.lower().replace(" ", "")
    slot = {"arriveby": "arrive", "leaveat": "leave"}.get(slot, slot)
    if domain in ("hotel", "restaurant", "train") and slot in ("stay", "people", "time"):
        slot = f"book{slot}"
    if domain in ("hotel", "restaurant") and slot == "day":
        slot = "bookday"
    return f"{domain}-{slot}"


def plain(domains: dict[str, dict[str, Any]]) -> dict[str, str]:
    state = {}
    for domain, slots in domains.items():
        for slot, raw in slots.items():
            text = str(raw).strip().lower()
            if text not in ABSENT:
                state[canonical(domain, slot)] = "dontcare" if text in DONTCARE else text
    return state


@cache
def reference_states() -> dict[str, list[dict[str, str]]]:
    with zipfile.ZipFile(shared("multiwoz21", "test.json.zip")) as archive:
        data = json.loads(archive.read(archive.namelist()[0]))
    found = {}
    for name, dialogue in data.items():
        states = []
        for turn in dialogue["log"][1::2]:
            merged = {
                domain: {**parts["semi"], **{s: v for s, v in parts["book"].items() if s != "booked"}}
                for domain, parts in turn["metadata"].items()
            }
            states.append(plain(merged))
        found[name.lower().removesuffix(".json")] = states
    return found


def second_opinion(system: str) -> dict[str, float]:
    """What is not answered is wrong, and invents nothing."""
    predictions = json.loads(shared("multiwoz_predictions", f"{system}.json").read_bytes())
    values: dict[str, list[float]] = {name: [] for name in METRICS}
    for name, references in reference_states().items():
        for reference, turn in zip_longest(references, predictions[name]):
            prediction = None if turn is None else plain(turn["state"])
            agreed = sum((prediction or {}).get(slot) == value for slot, value in reference.items())
            cared = [{s: v for s, v in (state or {}).items() if v != "dontcare"} for state in (prediction, reference)]
            values["joint_goal_accuracy"].append(prediction == reference)
            values["joint_goal_accuracy_without_dontcare"].append(turn is not None and cared[0] == cared[1])
            if reference:
                values["slot_accuracy"].append(agreed / len(reference))
            if prediction is not None:
                values["slot_hallucination"].append(1 - agreed / len(prediction) if prediction else 0)
    return {name: sum(found) / len(found) for name, found in values.items()}


@pytest.fixture(scope="module", params=sorted(PUBLISHED))
def evaluated(request: pytest.FixtureRequest) -> tuple[str, turnwise.Result]:
    sides = {
        "references": shared("multiwoz21", "test.json.zip"),
        "predictions": shared("multiwoz_predictions", f"{request.param}.json"),
    }
    return request.param, turnwise.evaluate(
        sides,
        metrics=METRICS,
        normaliser="none",
        set={"scope": "all"},
        resamples=100,
    )


def test_published_joint_goal_accuracy(evaluated: tuple[str, turnwise.Result]) -> None:
    system, result = evaluated
    with_dontcare, without = PUBLISHED[system]
    assert result.value("joint_goal_accuracy", "micro") == pytest.approx(with_dontcare, abs=0.0002)
    assert result.value("joint_goal_accuracy_without_dontcare", "micro") == pytest.approx(without, abs=0.0002)


def test_every_metric_against_a_second_computation(evaluated: tuple[str, turnwise.Result]) -> None:
    system, result = evaluated
    found = {metric: result.value(metric, "micro") for metric in METRICS}
    assert found == pytest.approx(second_opinion(system), abs=1e-12)


def test_coverage(evaluated: tuple[str, turnwise.Result]) -> None:
    system, result = evaluated
    answered = 7372 - UNANSWERED[system]
    counts = {"dialogues": 1000, "dialogues_predicted": 1000, "exchanges": 7372, "exchanges_predicted": answered}
    assert result.summary["run"]["coverage"] == counts
    [whole] = [r for r in result.results if r["metric"] == "joint_goal_accuracy" and r["primary"] and not r["group"]]
    assert (whole["n_scored"], whole["n_total"], whole["missing"]) == (7372, 7372, {})
    assert whole["low"] < whole["value"] < whole["high"]
