"""`turnwise.evaluate`: the Python interface does what the command line does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise import InputError, Status, UsageError
from turnwise.store.store import Store

FOLDER = Path(__file__).parents[1] / "examples" / "dialogue"
PATHS = {"references": FOLDER / "references.jsonl", "predictions": FOLDER / "predictions.jsonl"}
NORTH = {"hotel-area": "north"}
RECORDS = {
    "references": [{"dialogue_id": "a", "state": NORTH, "city": "york"}, {"dialogue_id": "b", "state": NORTH}],
    "predictions": [{"dialogue_id": "a", "state": NORTH}, {"dialogue_id": "b", "state": {"hotel-area": "south"}}],
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def result() -> turnwise.Result:
    return turnwise.evaluate(PATHS)


def test_paths_texts_and_lists_give_the_same_numbers(result: turnwise.Result) -> None:
    texts = turnwise.evaluate({side: str(path) for side, path in PATHS.items()})
    held = turnwise.evaluate({side: lines(path) for side, path in PATHS.items()})
    mixed = turnwise.evaluate(references=PATHS["references"], predictions=lines(PATHS["predictions"]))
    assert texts.results == held.results == mixed.results == result.results
    assert texts.run.dataset_fingerprint == result.run.dataset_fingerprint


def test_the_command_line_gives_the_same_numbers(result: turnwise.Result) -> None:
    program = Path(sys.executable).with_name("turnwise")
    words = [word for side, path in PATHS.items() for word in (f"--{side}", path)]
    done = subprocess.run([program, "run", "dialogue", *words, "--json"], capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["results"] == result.results
    assert list(json.loads(done.stdout)["run"]) == list(result.summary["run"])


def test_value(result: turnwise.Result) -> None:
    assert result.value("joint_goal_accuracy") == pytest.approx(21 / 52)
    assert result.value("joint_goal_accuracy", "macro") == pytest.approx(0.429167, abs=6e-7)
    assert result.value("slot_accuracy", slot="hotel-area") == pytest.approx(9 / 14)
    assert result.value("slot_accuracy", "micro", "value", slot="hotel-area") == pytest.approx(9 / 14)
    assert result.value("system_tokens", "total") == 9053


@pytest.mark.parametrize(
    ("arguments", "group"),
    [
        (("slot_acuracy",), {}),
        (("slot_accuracy", "median"), {}),
        (("slot_accuracy", "micro", "other"), {}),
        (("slot_accuracy",), {"slot": "nothing"}),
        (("slot_accuracy",), {"city": "york"}),
    ],
)
def test_a_value_that_is_not_there(result: turnwise.Result, arguments: tuple[str, ...], group: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="there is no result for"):
        result.value(*arguments, **group)


def test_scores(result: turnwise.Result) -> None:
    # 22 outputs of exchanges, and that there is no judge; 2 of dialogues
    assert len(result.scores) == 52 * (22 + 1) + 12 * 2
    wrong = next(s for s in result.scores if s.unit.id == "hotel-02/1" and s.metric == "dialogue/joint_goal_accuracy")
    assert (wrong.value, wrong.status, wrong.unit.cluster) == (0.0, Status.SCORED, "hotel-02")
    assert wrong.unit.dimensions == {"scenario": "correction", "domain": "hotel"}
    assert wrong.evidence == [{"slot": "hotel-area", "expected": "south", "found": "north"}]
    assert "normaliser=multiwoz-v1:" in wrong.signature
    missing = [s for s in result.scores if s.value is None]
    of_states = {"dialogue/slot_accuracy", "dialogue/slot_hallucination", "dialogue/system_cost"}
    assert {(s.status, s.reason) for s in missing if s.metric in of_states} == {
        (Status.NOT_APPLICABLE, "no reference slots"),
        (Status.SKIPPED, "missing prediction"),
        (Status.SKIPPED, "not recorded"),
    }
    assert all(s.reason for s in missing)


def test_summary_is_the_file(tmp_path: Path) -> None:
    result = turnwise.evaluate(RECORDS, out=tmp_path, system="bot", version=3)
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8")) == json.loads(json.dumps(result.summary))
    assert (result.run.system, result.run.version) == ("bot", "3")
    assert result.summary["run"]["id"] == result.run.id


def test_repr_is_a_table(result: turnwise.Result) -> None:
    shown = repr(result)
    assert shown.splitlines()[0] == "dialogue: system (turnwise profile)"
    assert "joint_goal_accuracy" in shown
    assert "0.4038" in shown


def test_html_is_escaped() -> None:
    result = turnwise.evaluate(RECORDS, system="<script>alert(1)</script>")
    shown = result._repr_html_()
    assert shown.startswith("<table>")
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("metrics", ["slot_accuracy", ["slot_accuracy"], ("dialogue/slot_accuracy",)])
def test_metrics_by_name(metrics: Any) -> None:
    result = turnwise.evaluate(RECORDS, metrics=metrics)
    assert {r["metric"] for r in result.results} == {"slot_accuracy"}
    assert result.value("slot_accuracy") == 1 / 2
    both = turnwise.evaluate(RECORDS, metrics="slot_accuracy,joint_goal_accuracy")
    assert {r["metric"] for r in both.results} == {"slot_accuracy", "joint_goal_accuracy"}


def test_options() -> None:
    result = turnwise.evaluate(RECORDS, by="city", set={"scope": "all", "first": True}, profile="spec", baselines=True)
    assert result.value("slot_accuracy", city="york") == 1
    [signature] = {r["signature"] for r in result.results if r["metric"] == "slot_accuracy"}
    assert "first=true" in signature
    assert {r["variant"] for r in result.results} == {"", "empty", "oracle"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suite": "dialog"}, "there is no room 'dialog'"),
        ({"metrics": "slot_acuracy"}, "there is no metric 'slot_acuracy'"),
        ({"metric": "slot_accuracy"}, "dialogue has no option 'metric'"),
        ({"by": "nothing"}, "no item has that dimension"),
        ({"set": {"scope": "some"}}, "cannot be 'some'"),
        ({"resamples": 5}, "'resamples'"),
        ({"references": 5}, "'references"),
        ({"references": [1]}, "'references"),
        ({"predictions": None}, "'predictions"),
    ],
)
def test_wrong_calls(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        turnwise.evaluate(RECORDS, **options)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="option 'predictions' is missing"):
        turnwise.evaluate({"references": RECORDS["references"]})
    with pytest.raises(InputError, match=r"nothing\.jsonl cannot be read"):
        turnwise.evaluate({**RECORDS, "references": "nothing.jsonl"})
    with pytest.raises(InputError, match=r"predictions\[1\]"):
        turnwise.evaluate({**RECORDS, "predictions": [RECORDS["predictions"][0], {"state": {}}]})


def test_records_are_left_as_they_were() -> None:
    before = json.dumps(RECORDS)
    turnwise.evaluate(RECORDS)
    assert json.dumps(RECORDS) == before


def test_nothing_is_kept_unless_a_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_DB", str(tmp_path / "own.sqlite"))
    turnwise.evaluate(RECORDS)
    assert list(tmp_path.iterdir()) == []
    kept = turnwise.evaluate(RECORDS, db=str(tmp_path / "named.sqlite"))
    own = turnwise.evaluate(RECORDS, db=None)
    for name, run in (("named", kept.run), ("own", own.run)):
        store = Store(str(tmp_path / f"{name}.sqlite"))
        assert store.run("latest").id == run.id
        store.close()


def test_results_do_not_depend_on_what_ran_before() -> None:
    first = turnwise.evaluate(RECORDS)
    turnwise.evaluate(PATHS, resamples=100)
    assert turnwise.evaluate(RECORDS).results == first.results


def test_compare_is_paired_on_the_items_both_have() -> None:
    """One exchange better, one worse, one the same: the mean difference is 0; of two better, 2/3."""
    references = [{"dialogue_id": name, "state": NORTH} for name in "abc"]

    def predicted(*right: bool) -> turnwise.Result:
        states = [NORTH if ok else {} for ok in right]
        rows = [{"dialogue_id": name, "state": state} for name, state in zip("abc", states, strict=True)]
        return turnwise.evaluate({"references": references, "predictions": rows}, metrics="joint_goal_accuracy")

    def difference(a: turnwise.Result, b: turnwise.Result) -> float:
        [found] = [row for row in a.compare(b) if row["rollup"] == "micro"]
        return float(found["difference"])

    assert difference(predicted(True, False, True), predicted(False, True, True)) == pytest.approx(0)
    assert difference(predicted(True, False, False), predicted(True, True, True)) == pytest.approx(2 / 3)
    assert difference(predicted(True, True, True), predicted(True, False, False)) == pytest.approx(-2 / 3)


# Records that come one by one


def folders(where: Path) -> list[Path]:
    return list(where.glob("turnwise-*"))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_generator_gives_the_same_numbers_as_the_file(result: turnwise.Result, scratch: Path) -> None:
    streams = {name: (record for record in lines(path)) for name, path in PATHS.items()}
    found = turnwise.evaluate(streams)
    assert found.results == result.results
    assert len(found.scores) == len(result.scores)  # still there, without a database that anybody named
    (folder,) = folders(scratch)
    assert not list(folder.glob("*.jsonl"))  # the records are not
    del found
    assert folders(scratch) == []


def test_never_more_than_one_record_is_asked_for(scratch: Path) -> None:
    made = 0

    def predictions() -> Iterator[dict[str, Any]]:
        nonlocal made
        for record in RECORDS["predictions"]:
            made += 1
            yield record
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        turnwise.evaluate({**RECORDS, "predictions": predictions()})
    assert made == 2
    assert folders(scratch) == []


@pytest.mark.parametrize(
    ("record", "message"),
    [("a text", "not a dictionary"), ({"dialogue_id": "a", "state": object()}, "JSON cannot write")],
)
def test_a_wrong_record_of_a_generator_is_named(record: Any, message: str, scratch: Path) -> None:
    good = RECORDS["predictions"][0]
    with pytest.raises(InputError, match=message) as caught:
        turnwise.evaluate({**RECORDS, "predictions": iter([good, record])})
    assert caught.value.where == "predictions[1]"
    assert folders(scratch) == []


@pytest.mark.parametrize("engine", ["inline", "processes:2"])
def test_a_record_that_cannot_be_used_is_named_by_its_place(engine: str) -> None:
    """What it was written to in the meantime is gone, and nobody knows it."""
    turns = [{"session_id": "s", "turn": number, "query": "?", "response": "Yes."} for number in range(1, 21)]
    wrong = [*turns[:7], {**turns[7], "response": 8}, *turns[8:]]
    with pytest.raises(InputError, match="response is not a text") as error:
        turnwise.evaluate({"turns": iter(wrong)}, suite="assistant", engine=engine)
    assert error.value.where == "turns[7]"
    with pytest.raises(InputError, match="two turns number 3") as error:
        turnwise.evaluate({"turns": iter([*turns, turns[2]])}, suite="assistant", engine=engine)
    assert (error.value.where, error.value.found) == ("turns[20]", "the same session and turn as in turns[2]")


def test_other_rooms_take_generators_too(scratch: Path) -> None:
    segments = [{"id": str(n), "hypothesis": "the cat", "reference": "the cat sat"} for n in range(3)]
    found = turnwise.evaluate({"data": iter(segments)}, suite="translation", metrics="chrf")
    assert found.results == turnwise.evaluate({"data": segments}, suite="translation", metrics="chrf").results
