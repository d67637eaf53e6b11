"""Joining two files and checking them: nothing is dropped silently, and what cannot be meant is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.dialogue.load import DialogueSource
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.read import read_dialogues
from turnwise.kernel.errors import InputError

NONE = load_normaliser("none")
Rows = list[dict[str, Any]]


def dialogue(name: str, turns: int = 3, *, ids: bool = True, **changes: Any) -> Rows:
    """A dialogue whose state grows: hotel-s0, then hotel-s0 and hotel-s1, ..."""
    rows = []
    for turn in range(turns):
        state = {f"hotel-s{i}": "x" for i in range(turn + 1)}
        rows.append({"dialogue_id": name, **({"turn_id": turn} if ids else {}), "state": state, **changes})
    return rows


def in_memory(_: Path, rows: Rows, side: str) -> Any:
    return read_dialogues(rows, None, side)


def in_a_file(folder: Path, rows: Rows, side: str) -> Any:
    path = folder / f"{side}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_dialogues(path)


Join = Callable[..., DialogueSource]


@pytest.fixture(params=[in_memory, in_a_file])
def join(request: pytest.FixtureRequest, tmp_path: Path) -> Join:
    """A source from two lists of exchanges, which come from memory or from files."""

    def make(references: Rows, predictions: Rows, **options: Any) -> DialogueSource:
        sides = [request.param(tmp_path, references, "references"), request.param(tmp_path, predictions, "predictions")]
        return DialogueSource(*sides, NONE, **options)

    return make


def findings(source: DialogueSource) -> dict[str, int]:
    return {finding.check: finding.count for finding in source.findings}


def pairs(source: DialogueSource) -> dict[str, Any]:
    """The predicted turn id (or response) of each exchange; None where nothing was predicted."""
    found = {}
    for name in source.references.ids():
        for pair in source.pairs(name):
            found[pair.unit.id] = pair.prediction and (pair.prediction.response or pair.prediction.turn_id)
    return found


# Dialogue ids


def test_everything_has_a_partner(join: Join) -> None:
    source = join(dialogue("a") + dialogue("b", 2), dialogue("b", 2) + dialogue("a"))
    assert findings(source) == {}
    assert source.coverage == {
        "dialogues": 2,
        "dialogues_predicted": 2,
        "exchanges": 5,
        "exchanges_predicted": 5,
    }
    assert pairs(source) == {"a/0": "0", "a/1": "1", "a/2": "2", "b/0": "0", "b/1": "1"}


def test_unknown_and_missing_dialogues_are_counted(join: Join) -> None:
    source = join(dialogue("a") + dialogue("b"), dialogue("a") + dialogue("x") + dialogue("y"))
    assert findings(source) == {"unknown_dialogues": 2, "missing_dialogues": 1}
    assert source.coverage["dialogues_predicted"] == 1
    assert source.coverage["exchanges_predicted"] == 3
    messages = {finding.check: finding.message for finding in source.findings}
    assert "x, y" in messages["unknown_dialogues"]
    assert messages["missing_dialogues"].endswith(": b")


def test_no_known_dialogue_is_bad_input(join: Join) -> None:
    with pytest.raises(InputError) as caught:
        join(dialogue("a"), dialogue("x"))
    error = caught.value
    assert "predictions" in (error.where or "")
    assert error.found == "x"
    assert "a" in (error.expected or "")
    assert error.remedy


@pytest.mark.parametrize(
    ("reference", "predicted"),
    [("SNG0073.json", "sng0073"), ("sng0073", "SNG0073.json"), ("Sng0073", "sNG0073"), ("a.JSON", "A")],
)
def test_ids_match_but_for_case_and_ending(join: Join, reference: str, predicted: str) -> None:
    source = join(dialogue(reference), dialogue(predicted))
    assert findings(source) == {}
    assert list(pairs(source)) == [f"{reference}/{turn}" for turn in range(3)]  # the reference's name stays


def test_an_exact_id_wins_over_a_folded_one(join: Join) -> None:
    source = join(dialogue("a"), dialogue("A", response="folded") + dialogue("a", response="exact"))
    assert set(pairs(source).values()) == {"exact"}
    assert findings(source) == {"unknown_dialogues": 1}


def test_ids_that_could_mean_two_dialogues_mean_none(join: Join) -> None:
    source = join(dialogue("a") + dialogue("b"), dialogue("A") + dialogue("a.json") + dialogue("b"))
    assert findings(source) == {"unknown_dialogues": 2, "missing_dialogues": 1}


# Turns


@pytest.mark.parametrize("ids", [True, False])
def test_missing_and_extra_turns_are_counted(join: Join, ids: bool) -> None:
    source = join(dialogue("a", 4) + dialogue("b", 2), dialogue("a", 3, ids=ids) + dialogue("b", 4, ids=ids))
    assert findings(source) == {"missing_exchanges": 1, "extra_exchanges": 2}
    assert source.coverage["exchanges_predicted"] == 5
    messages = {finding.check: finding.message for finding in source.findings}
    assert "a/3" in messages["missing_exchanges"]
    assert "counted as wrong" in messages["missing_exchanges"]
    assert "b/2, b/3" in messages["extra_exchanges"]


def test_turns_match_by_id_whatever_their_order(join: Join) -> None:
    predicted = [row for row in dialogue("a", 4) if row["turn_id"] != 1]
    source = join(dialogue("a", 4), predicted[::-1])
    assert pairs(source) == {"a/0": "0", "a/1": None, "a/2": "2", "a/3": "3"}


def test_turns_without_ids_match_by_position(join: Join) -> None:
    predicted = [{**row, "response": f"r{i}"} for i, row in enumerate(dialogue("a", 2, ids=False))]
    assert pairs(join(dialogue("a"), predicted)) == {"a/0": "r0", "a/1": "r1", "a/2": None}
    without = join(dialogue("a", ids=False), predicted)
    assert pairs(without) == {"a/0": "r0", "a/1": "r1", "a/2": None}


def test_no_known_turn_is_bad_input(join: Join) -> None:
    shifted = [{**row, "turn_id": row["turn_id"] + 100} for row in dialogue("a")]
    with pytest.raises(InputError) as caught:
        join(dialogue("a"), shifted)
    error = caught.value
    assert "a/100" in (error.found or "")
    assert "a/0" in (error.expected or "")
    assert "turn_id" in (error.remedy or "")


def test_an_exchange_that_is_there_twice_is_refused(join: Join) -> None:
    twice = dialogue("a") + dialogue("b") + dialogue("a", 1)  # also when the dialogue's lines are scattered
    for sides in ((twice, dialogue("a")), (dialogue("a"), twice), (dialogue("a"), dialogue("a", 1) * 2)):
        with pytest.raises(InputError, match="exchange 0 of dialogue a is there twice") as caught:
            join(*sides)
        assert caught.value.where
        assert caught.value.remedy


@pytest.mark.parametrize("without", [0, 1, 2])
@pytest.mark.parametrize("between", [[], dialogue("b")])
def test_some_turns_with_ids_and_some_without_are_refused(join: Join, without: int, between: Rows) -> None:
    mixed = dialogue("a")
    del mixed[without]["turn_id"]
    with pytest.raises(InputError, match="some exchanges have a turn_id and some have none") as caught:
        join(dialogue("a") + dialogue("b"), mixed[:2] + between + mixed[2:])
    assert "a" in caught.value.what
    assert caught.value.remedy


def test_one_dialogue_with_ids_and_another_without_is_no_mixture(join: Join) -> None:
    source = join(dialogue("a") + dialogue("b"), dialogue("a") + dialogue("b", ids=False))
    assert findings(source) == {}


# Predictions that cannot be used


@pytest.mark.parametrize("said", [{}, {"note": "no field of an exchange"}, {"user": "hello"}])
def test_predictions_that_predict_nothing_are_bad_input(said: dict[str, str]) -> None:
    with pytest.raises(InputError, match="nothing to measure") as caught:
        turnwise.evaluate({"references": dialogue("a"), "predictions": [{"dialogue_id": "a", "turn_id": 0, **said}]})
    assert "state" in (caught.value.expected or "")


def test_predictions_that_no_metric_can_use_are_bad_input() -> None:
    predictions = [{"dialogue_id": "a", "turn_id": 0, "response": "hello"}]
    with pytest.raises(InputError, match="nothing to measure") as caught:
        turnwise.evaluate({"references": dialogue("a"), "predictions": predictions})
    assert "prediction.state" in (caught.value.expected or "")


def test_what_a_system_never_gives_is_not_counted_as_wrong() -> None:
    references = [{**line, "domain": "hotel"} for line in dialogue("a")]
    predictions = [{"dialogue_id": "a", "turn_id": 0, "domain": "hotel"}]
    for metrics in (None, ["joint_goal_accuracy"]):
        found = turnwise.evaluate({"references": references, "predictions": predictions}, metrics=metrics)
        [result] = [
            r for r in found.results if r["metric"] == "joint_goal_accuracy" and r["primary"] and not r["group"]
        ]
        assert (result["value"], result["n_scored"], result["group"]) == (None, 0, {})
        assert result["missing"] == {"no prediction.state": result["n_total"]}
        assert result["n_total"] == len(references)
        statuses = [score.status for score in found.scores if score.metric == "dialogue/joint_goal_accuracy"]
        assert statuses == ["skipped"] * len(references)


@pytest.mark.parametrize("content", [{"a": []}, {"a": [], "b": []}])
def test_predicted_dialogues_without_turns_are_bad_input(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        DialogueSource(read_dialogues(dialogue("a")), read_dialogues(path), NONE)
    assert str(path) in (caught.value.where or "")


@pytest.mark.parametrize("side", ["references", "predictions"])
def test_no_exchange_at_all_is_bad_input(side: str) -> None:
    records = {"references": dialogue("a"), "predictions": dialogue("a"), side: []}
    with pytest.raises(InputError, match=f"{side} has no exchange"):
        turnwise.evaluate(records)


def test_slots_that_no_reference_has_are_reported(join: Join) -> None:
    odd = dialogue("a", response="r")
    odd[0]["state"] = {"hotel-s0": "x", "Hotel-Book Day": "monday", "spa-mood": "calm", "spa-none": "none"}
    reference = dialogue("a")
    reference[0]["state"] = {"hotel-s0": "x", "hotel-day": "monday"}
    source = join(reference, odd)
    [finding] = [finding for finding in source.findings if finding.check == "unknown_slots"]
    assert "spa-mood" in finding.message
    assert "bookday" not in finding.message  # a dialect, not another slot
    assert (finding.count, "spa-none" in finding.message) == (1, False)  # absent: nothing was predicted


# The same state everywhere


def constant(name: str, turns: int = 3, state: Any = None) -> Rows:
    return dialogue(name, turns, state={"hotel-s0": "x", "hotel-s1": "x"} if state is None else state)


def test_a_state_that_never_changes_in_most_dialogues_is_refused(join: Join) -> None:
    references = [row for name in "abcde" for row in dialogue(name)]
    aliased = [row for name in "abc" for row in constant(name)] + dialogue("d") + dialogue("e")
    with pytest.raises(InputError, match="the same in every exchange of 3 of 5 dialogues") as caught:
        join(references, aliased)
    assert "dialogue a" in (caught.value.where or "")
    assert "copy it per turn" in (caught.value.remedy or "")
    accepted = join(references, aliased, allow_constant_state=True)
    assert findings(accepted) == {"constant_state": 3}


def each(names: str, make: Callable[..., Rows], *arguments: Any, **options: Any) -> Rows:
    return [row for name in names for row in make(name, *arguments, **options)]


@pytest.mark.parametrize(
    ("references", "predictions", "counted"),
    [
        # So few dialogues may be like that.
        (each("ab", dialogue), each("ab", constant), {"constant_state": 2}),
        # Half of the dialogues is not most.
        (each("abcd", dialogue), each("ab", constant) + each("cd", dialogue), {}),
        # The reference does not change either.
        (each("abcd", constant), each("abcd", constant), {}),
        # Nothing is predicted: an empty system, not an aliased one.
        (each("abcd", dialogue), each("abcd", constant, state={}), {}),
        # One exchange each: nothing that could change.
        (each("abcd", dialogue), each("abcd", constant, 1), {"missing_exchanges": 8}),
    ],
)
def test_a_constant_state_that_is_no_bug(join: Join, references: Rows, predictions: Rows, counted: Any) -> None:
    assert findings(join(references, predictions)) == counted


# What comes with the records


def test_metadata_and_domain_become_dimensions(join: Join) -> None:
    references = dialogue("a", 1, domain=["taxi", "hotel"], city="york", tier="gold")
    source = join(references, dialogue("a", 1, domain="train", city="bath", prompt=7))
    [pair] = source.pairs("a")
    assert pair.unit.dimensions == {"domain": "taxi", "city": "york", "tier": "gold", "prompt": "7"}
    notes = [finding for finding in source.findings if finding.check == "input"]
    assert {finding.message.split(" is ")[0] for finding in notes} == {
        "references: column 'city'",
        "references: column 'tier'",
        "predictions: column 'city'",
        "predictions: column 'prompt'",
    }


def test_an_empty_state_is_a_state(join: Join) -> None:
    """Before the user has asked for anything, nothing is the right answer."""
    greeting = dialogue("a", state={})
    source = join(greeting, greeting)
    assert source.fields["reference.state"] == source.fields["prediction.state"] == 3
    result = turnwise.evaluate({"references": greeting, "predictions": greeting}, resamples=100)
    assert result.value("joint_goal_accuracy") == 1
    assert result.value("slot_accuracy") is None


def test_fingerprints_tell_what_changed(join: Join) -> None:
    source = join(dialogue("a"), dialogue("a"))
    other_prediction = join(dialogue("a"), dialogue("a", 2))
    assert source.dataset_fingerprint == other_prediction.dataset_fingerprint
    assert source.input_fingerprint != other_prediction.input_fingerprint
    assert source.dataset_fingerprint != join(dialogue("a", 2), dialogue("a")).dataset_fingerprint


def test_a_batch_never_splits_a_dialogue(join: Join) -> None:
    rows = [row for i in range(5) for row in constant(f"d{i}", 300)]
    batches = [[pair.unit.cluster for pair in batch.pairs] for batch in join(rows, rows).batches()]
    assert [sorted(set(batch)) for batch in batches] == [["d0", "d1", "d2", "d3"], ["d4"]]
    assert [len(batch) for batch in batches] == [1200, 300]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", {"hotel-stars": float("nan")}),
        ("state", {"hotel-stars": [float("inf")]}),
        ("latency_ms", float("nan")),
        pytest.param("latency_ms", 10**400, id="latency_ms-huge"),
        ("user", "half a character: \ud83d"),
        ("state", {"hotel-area": "\ud83d"}),
        ("state", {5: "x"}),
        ("turn_id", 1.0),
    ],
)
def test_python_values_that_no_file_can_hold_are_refused(field: str, value: Any) -> None:
    """In memory there may be what JSON does not know: an error of turnwise with its place, not one of Python."""
    bad = [*dialogue("a", 2), {"dialogue_id": "a", "turn_id": 2, "state": {}, field: value}]
    with pytest.raises(InputError, match=r"predictions\[2\]"):
        turnwise.evaluate({"references": dialogue("a"), "predictions": bad}, resamples=100)


def test_a_python_value_in_a_column_nobody_knows_is_left_out_and_noted() -> None:
    rows = dialogue("a", when=datetime(2026, 1, 1, tzinfo=UTC))
    result = turnwise.evaluate({"references": dialogue("a"), "predictions": rows}, resamples=100)
    [note] = [f for f in result.summary["run"]["findings"] if "'when'" in f["message"]]
    assert "left out" in note["message"]
    assert note["count"] == 3


def test_odd_characters_go_through(tmp_path: Path) -> None:
    odd = "NUL \u0000, tab\t, return\r, newline\n, \u2028, 🙂, '\";--"
    references = [{"dialogue_id": "a b/c", "turn_id": "x\ty", "domain": odd, "user": odd, "city": odd}]
    references[0]["state"] = {"hotel-area": odd}
    predictions = [{**references[0], "state": {"hotel-area": "north", odd: odd}}]
    records = {"references": references, "predictions": predictions}
    result = turnwise.evaluate(records, normaliser="none", resamples=100, by=["city"], out=tmp_path)
    assert result.value("slot_accuracy", city=odd) == 0
    [turn] = (json.loads(line) for line in (tmp_path / "turns.jsonl").read_text(encoding="utf-8").split("\n") if line)
    assert turn["domain"] == odd.lower().strip()
    assert turn["scores"]["slot_accuracy"]["evidence"] == [
        {"slot": "hotel-area", "expected": odd.lower(), "found": "north"}
    ]
