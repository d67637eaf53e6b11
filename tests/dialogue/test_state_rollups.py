"""Roll-ups, groups, baselines and files of the state metrics on a data set that fits on a page."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import turnwise

NORTH = {"hotel-area": "north"}
BOTH = {"hotel-area": "north", "taxi-leave": "10:00"}

REFERENCES = [
    {"dialogue_id": "a", "turn_id": 0, "domain": "hotel", "state": NORTH, "city": "york"},
    {"dialogue_id": "b", "turn_id": 0, "domain": "hotel", "state": NORTH, "city": "bath"},
    {"dialogue_id": "b", "turn_id": 1, "domain": "taxi", "state": BOTH, "city": "bath"},
    {"dialogue_id": "b", "turn_id": 2, "state": BOTH, "city": "bath"},  # thanks: no domain is active
]
PREDICTIONS = [
    {"dialogue_id": "a", "turn_id": 0, "domain": "hotel", "state": NORTH},
    {"dialogue_id": "b", "turn_id": 0, "domain": "hotel", "state": {"hotel-area": "south"}},
    {"dialogue_id": "b", "turn_id": 1, "domain": "taxi", "state": {**BOTH, "taxi-arrive": "11:00"}},
]
# Exchange            a/0   b/0   b/1   b/2 (not submitted)
# slot_accuracy       1/1   0/1   2/2   0/2
# joint_goal_accuracy 1     0     0     0
# slot_hallucination  0/1   1/1   1/2   skipped (b/1: the taxi's two slots are in scope, the hotel is memory)


def evaluate(**options: Any) -> turnwise.Result:
    sides = {"references": REFERENCES, "predictions": PREDICTIONS}
    return turnwise.evaluate(sides, normaliser="none", resamples=100, **options)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def result() -> turnwise.Result:
    return evaluate(by=["city", "city,slot"])


@pytest.mark.parametrize(
    ("metric", "micro", "macro"),
    [
        ("slot_accuracy", (1 + 0 + 1 + 0) / 4, (1 + 1 / 3) / 2),  # dialogue a: 1; dialogue b: (0 + 1 + 0) / 3
        ("joint_goal_accuracy", (1 + 0 + 0 + 0) / 4, (1 + 0) / 2),
        ("joint_goal_accuracy_without_dontcare", 1 / 4, 1 / 2),
        ("slot_hallucination", (0 + 1 + 1 / 2) / 3, (0 + (1 + 1 / 2) / 2) / 2),
    ],
)
def test_micro_is_over_turns_and_macro_over_dialogues(
    result: turnwise.Result, metric: str, micro: float, macro: float
) -> None:
    assert result.value(metric, "micro") == pytest.approx(micro)
    assert result.value(metric, "macro") == pytest.approx(macro)
    assert result.value(metric) == result.value(metric, "micro")  # 004-1: the turn mean is the document's own


@pytest.mark.parametrize(
    ("metric", "group", "value"),
    [
        ("slot_accuracy", {"domain": "hotel"}, (1 + 0) / 2),
        ("slot_accuracy", {"domain": "taxi"}, 2 / 2),
        ("joint_goal_accuracy", {"domain": "hotel"}, (1 + 0) / 2),
        ("joint_goal_accuracy", {"domain": "taxi"}, 0),
        ("slot_hallucination", {"domain": "taxi"}, 1 / 2),
        # hotel-area: right in a/0 and b/1, wrong in b/0 and in b/2, which was not submitted.
        ("slot_accuracy", {"slot": "hotel-area"}, 2 / 4),
        ("joint_goal_accuracy", {"slot": "hotel-area"}, 2 / 4),
        ("slot_accuracy", {"slot": "taxi-leave"}, 1 / 2),
        ("joint_goal_accuracy", {"slot": "taxi-arrive"}, 0 / 1),
        # In scope: a/0 and b/0 only; b/1 is about the taxi.
        ("slot_hallucination", {"slot": "hotel-area"}, 1 / 2),
        ("slot_hallucination", {"slot": "taxi-leave"}, 0 / 1),
        ("slot_hallucination", {"slot": "taxi-arrive"}, 1 / 1),
        ("slot_accuracy", {"city": "york"}, 1),
        ("slot_accuracy", {"city": "bath"}, 1 / 3),
        ("slot_accuracy", {"city": "bath", "slot": "hotel-area"}, 1 / 3),
    ],
)
def test_groups(result: turnwise.Result, metric: str, group: dict[str, str], value: float) -> None:
    assert result.value(metric, "micro", **group) == pytest.approx(value)


def test_what_has_no_domain_is_in_no_domain_s_group(result: turnwise.Result) -> None:
    counts = {r["group"]["domain"]: r["n_total"] for r in _entries(result, "slot_accuracy") if "domain" in r["group"]}
    assert counts == {"hotel": 2, "taxi": 1}  # b/2 has none


def test_a_slot_that_the_reference_lacks_is_no_group_of_slot_accuracy(result: turnwise.Result) -> None:
    slots = {r["group"]["slot"] for r in _entries(result, "slot_accuracy") if list(r["group"]) == ["slot"]}
    assert slots == {"hotel-area", "taxi-leave"}


def test_missing_ones_are_counted_with_their_reason(result: turnwise.Result) -> None:
    [whole] = [r for r in _entries(result, "slot_hallucination") if r["group"] == {}]
    assert (whole["n_scored"], whole["n_total"], whole["missing"]) == (3, 4, {"missing prediction": 1})


def test_submitted_only_leaves_them_out_of_every_mean() -> None:
    found = evaluate(submitted_only=True)
    assert found.value("slot_accuracy") == pytest.approx((1 + 0 + 1) / 3)
    assert found.value("joint_goal_accuracy") == pytest.approx(1 / 3)
    [whole] = [r for r in _entries(found, "joint_goal_accuracy") if r["group"] == {}]
    assert (whole["n_scored"], whole["n_total"], whole["missing"]) == (3, 4, {"missing prediction": 1})
    assert "missing=left out" in whole["signature"]


def test_baselines_are_variants_beside_the_real_thing() -> None:
    found = evaluate(baselines=True)
    values = {(r["metric"], r["variant"]): r["value"] for r in found.results if r["primary"] and not r["group"]}
    assert values["slot_accuracy", "empty"] == 0
    assert values["joint_goal_accuracy", "empty"] == 0  # no reference state is empty
    assert values["slot_hallucination", "empty"] == 0  # the best value: hence the warning on the metric's page
    assert [values[metric, "oracle"] for metric in ("slot_accuracy", "joint_goal_accuracy")] == [1, 1]
    assert values["slot_hallucination", "oracle"] == 0
    assert found.value("joint_goal_accuracy") == 1 / 4  # the real one is what a name alone means


def test_operations_are_rolled_up_beside_quality() -> None:
    """Latency of three answers: 10, 20 and 40 ms; nothing is said of tokens and cost, so nothing is said about them."""
    timed = [{**p, "latency_ms": ms} for p, ms in zip(PREDICTIONS, (10, 20, 40), strict=True)]
    found = turnwise.evaluate({"references": REFERENCES, "predictions": timed}, resamples=100)
    assert found.value("system_latency_ms", "mean") == pytest.approx((10 + 20 + 40) / 3)
    assert found.value("system_latency_ms", "p50") == 20
    assert {r["metric"] for r in found.results} & {"system_tokens", "system_cost"} == set()
    operations = {"system_latency_ms", "system_tokens", "system_cost"}
    assert not [r for r in evaluate().results if r["metric"] in operations]


def test_files_beside_the_summary(tmp_path: Path) -> None:
    evaluate(out=tmp_path, baselines=True)
    turns = table(tmp_path / "turns.csv")
    assert [(t["dialogue_id"], t["turn_id"], t["domain"]) for t in turns] == [
        ("a", "0", "hotel"),
        ("b", "0", "hotel"),
        ("b", "1", "taxi"),
        ("b", "2", ""),
    ]
    assert [float(t["slot_accuracy"]) for t in turns] == [1, 0, 1, 0]
    assert turns[3]["slot_hallucination"] == ""
    assert turns[3]["missing"] == "domain_accuracy: no reference domain; slot_hallucination: missing prediction"
    dialogues = table(tmp_path / "dialogues.csv")
    assert [(d["dialogue_id"], d["exchanges"]) for d in dialogues] == [("a", "1"), ("b", "3")]
    assert float(dialogues[1]["slot_accuracy"]) == pytest.approx(1 / 3)
    assert float(dialogues[1]["slot_hallucination"]) == pytest.approx((1 + 1 / 2) / 2)


def test_turns_jsonl_has_the_evidence_of_what_failed(tmp_path: Path) -> None:
    evaluate(out=tmp_path)
    turns = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [turn["turn_id"] for turn in turns] == ["0", "0", "1", "2"]
    assert "evidence" not in turns[0]["scores"]["joint_goal_accuracy"]
    assert turns[1]["scores"]["joint_goal_accuracy"] == {
        "value": 0.0,
        "status": "scored",
        "evidence": [{"slot": "hotel-area", "expected": "north", "found": "south"}],
    }
    assert turns[2]["scores"]["slot_hallucination"]["evidence"] == [
        {"slot": "taxi-arrive", "expected": None, "found": "11:00"}
    ]
    assert turns[3]["scores"]["slot_hallucination"] == {"status": "skipped", "reason": "missing prediction"}


def test_rewrites_are_listed(tmp_path: Path) -> None:
    predicted = [{**p, "state": {**p["state"], "hotel-name": "None"}} for p in PREDICTIONS]
    reference = [{**r, "state": {"Hotel-Area": "North"}} for r in REFERENCES]
    turnwise.evaluate(
        {"references": reference, "predictions": predicted}, normaliser="none", resamples=100, out=tmp_path
    )
    rows = table(tmp_path / "rewrites.csv")
    assert rows == [
        {"side": "reference", "slot": "hotel-area", "written": "North", "normal_form": "north", "count": "4"},
        {"side": "prediction", "slot": "hotel-name", "written": "None", "normal_form": "(absent)", "count": "3"},
    ]


def test_rewrites_of_alternatives_in_one_text_are_listed_one_by_one(tmp_path: Path) -> None:
    reference = [{"dialogue_id": "a", "state": {"hotel-area": "center|north"}}]
    predicted = [{"dialogue_id": "a", "state": {"hotel-area": "centre"}}]
    found = turnwise.evaluate({"references": reference, "predictions": predicted}, resamples=100, out=tmp_path)
    assert found.value("joint_goal_accuracy") == 1
    rows = [(r["written"], r["normal_form"]) for r in table(tmp_path / "rewrites.csv")]
    assert rows == [("center", "centre")]


def test_numbers_do_not_depend_on_the_order_of_dialogues() -> None:
    def values(result: turnwise.Result) -> dict[Any, float | None]:
        return {(r["metric"], r["rollup"], tuple(sorted(r["group"].items()))): r["value"] for r in result.results}

    turned = turnwise.evaluate(
        {"references": REFERENCES[1:] + REFERENCES[:1], "predictions": PREDICTIONS[::-1]},
        normaliser="none",
        resamples=100,
    )
    assert values(turned) == pytest.approx(values(evaluate()))


def _entries(result: turnwise.Result, metric: str) -> list[dict[str, Any]]:
    return [r for r in result.results if r["metric"] == metric and r["rollup"] == "micro" and not r["variant"]]
