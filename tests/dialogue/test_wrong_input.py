"""Input that is readable but cannot be meant: it is said, with the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.kernel.errors import InputError

HOTEL = {"hotel": {"info": {"area": "north"}, "reqt": ["phone"]}}
REFERENCES = [
    {"dialogue_id": "a", "turn_id": 0, "domain": "hotel", "intents": ["find_hotel"], "state": {"hotel-area": "north"}},
    {"dialogue_id": "a", "turn_id": 1, "domain": "hotel", "intents": ["book_hotel"], "state": {"hotel-area": "east"}},
    {"dialogue_id": "b", "turn_id": 0, "domain": "train", "intents": ["find_train"], "state": {"train-day": "monday"}},
]
REFERENCES[0]["goal"] = HOTEL


@pytest.fixture
def database(tmp_path: Path) -> Path:
    entities = [{"name": "oak lodge", "area": "north", "phone": "01223111111"}]
    (tmp_path / "hotel_db.json").write_text(json.dumps(entities), encoding="utf-8")
    return tmp_path


def predictions(**changes: Any) -> list[dict[str, Any]]:
    kept = ("dialogue_id", "turn_id", "domain", "intents", "state")
    return [{**{name: line[name] for name in kept}, **changes} for line in REFERENCES]


def findings(given: list[dict[str, Any]], **options: Any) -> dict[str, str]:
    found = turnwise.evaluate({"references": REFERENCES, "predictions": given}, **options)
    return {finding["check"]: finding["message"] for finding in found.summary["run"]["findings"]}


def test_responses_in_words_where_placeholders_are_looked_for(database: Path) -> None:
    plain = predictions(response="I recommend Oak Lodge.")
    found = turnwise.evaluate({"references": REFERENCES, "predictions": plain}, database=database)
    [message] = [f["message"] for f in found.summary["run"]["findings"] if f["check"] == "lexicalised_responses"]
    assert "a/0: 'I recommend Oak Lodge.'" in message
    [inform] = [r for r in found.results if r["metric"] == "inform" and r["primary"] and not r["group"]]
    assert (inform["value"], inform["missing"]["the responses have no placeholders"]) == (None, 1)


@pytest.mark.parametrize("response", ["", "How about [hotel_name]?", "How about <hotel_name>?"])
def test_silence_and_placeholders_are_no_plain_words(response: str, database: Path) -> None:
    assert "lexicalised_responses" not in findings(predictions(response=response), database=database)


def test_intents_that_the_schema_does_not_have() -> None:
    given = predictions()
    given[1]["intents"] = ["bok_hotel"]
    assert "bok_hotel (first in a/1)" in findings(given)["unknown_intents"]
    given[1]["intents"] = ["find_attraction"]  # in the schema, though no reference has it
    assert "unknown_intents" not in findings(given)


def test_acts_that_the_table_does_not_have() -> None:
    assert "Hotel-Sing (first in a/0)" in findings(predictions(acts=["Hotel-Sing", "Hotel-Inform"]))["unknown_acts"]


def test_slots_of_a_table_that_nobody_has(tmp_path: Path) -> None:
    policy = tmp_path / "mine.yaml"
    policy.write_text("booking: {hotel: [nmae, bookday]}", encoding="utf-8")
    assert findings(predictions(), policy=policy)["unknown_table_slots"].endswith("hotel-nmae")


@pytest.mark.parametrize(("name", "one", "other"), [("goal", HOTEL, {"taxi": {"reqt": ["phone"]}}), ("reward", 1, 0)])
def test_a_dialogue_has_one_goal_and_one_reward(name: str, one: Any, other: Any) -> None:
    same = [{**line, name: one} for line in REFERENCES]
    turnwise.evaluate({"references": same, "predictions": predictions()})
    same[1][name] = other
    with pytest.raises(InputError, match=f"a second {name}"):
        turnwise.evaluate({"references": same, "predictions": predictions()})


# Two systems in one store


def run(tmp_path: Path, system: str, **changes: Any) -> dict[str, Any]:
    given = predictions(**changes)
    given[0]["state"] = {"hotel-area": "south"}
    db = str(tmp_path / "runs.sqlite")
    return turnwise.evaluate({"references": REFERENCES, "predictions": given}, system=system, db=db).summary["run"]


def checks(run: dict[str, Any]) -> list[str]:
    return [finding["check"] for finding in run["findings"]]


def test_another_system_with_exactly_the_same_scores(tmp_path: Path) -> None:
    first = run(tmp_path, "one")
    assert "identical_scores" not in checks(first)
    assert "identical_scores" not in checks(run(tmp_path, "one"))  # the same system again
    second = run(tmp_path, "two")
    [message] = [f["message"] for f in second["findings"] if f["check"] == "identical_scores"]
    assert "'one'" in message
    assert "identical_scores" not in checks(run(tmp_path, "three", intents=["find_train"]))


# --by component


def test_by_component_every_metric_stands_under_what_it_tests() -> None:
    found = turnwise.evaluate({"references": REFERENCES, "predictions": predictions()}, by=["component"])
    rows = [r for r in found.results if set(r["group"]) == {"component"} and r["primary"]]
    assert ("domain_accuracy", "triage") in {(r["metric"], r["group"]["component"]) for r in rows}
    of_states = {r["group"]["component"]: r["value"] for r in rows if r["metric"] == "joint_goal_accuracy"}
    assert of_states == {"memory": 1.0, "triage": 1.0}
