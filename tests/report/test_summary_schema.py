"""docs/summary.schema.json: what every room writes fits it, and what is wrong does not."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from turnwise.cli import main
from turnwise.demo import demo_runs
from turnwise.rooms import ROOMS

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "summary.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

# As printed in issue 2; other programs rely on them.
RUN_KEYS = ["id", "suite", "system", "version", "started", "finished"]
RUN_KEYS += ["dataset_fingerprint", "turnwise_version", "profile"]
RESULT_KEYS = ["metric", "output", "group", "rollup", "primary", "value", "low", "high"]
RESULT_KEYS += ["n_scored", "n_total", "missing", "band", "signature"]


def strict(text: str) -> Any:
    """JSON without the literals that JSON does not have."""

    def refuse(literal: str) -> None:
        raise ValueError(f"{literal} is not JSON")

    return json.loads(text, parse_constant=refuse)


def faults(summary: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(summary)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `turnwise demo` writes."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["turnwise", "demo", "--out", str(folder)])
        with pytest.raises(SystemExit) as caught:
            main()
    assert not caught.value.code
    return folder


@pytest.fixture(scope="module")
def summary(demo: Path) -> Any:
    """One with few results: checking all of them takes a while."""
    whole = strict((demo / "dialogue" / "summary.json").read_text(encoding="utf-8"))
    return {**whole, "results": whole["results"][:2]}


def test_the_schema_itself_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    result = SCHEMA["$defs"]["result"]
    assert set(RESULT_KEYS) <= set(result["required"])
    assert set(result["properties"]) - set(result["required"]) == {"calibration"}  # only judged ones have it
    assert SCHEMA["$defs"]["run"]["required"] == RUN_KEYS


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_room_s_output_fits(demo: Path, room: str) -> None:
    folders = [run.folder for run in demo_runs() if run.room == room]
    assert folders, f"turnwise demo does not run {room}"
    for folder in folders:
        found = strict((demo / folder / "summary.json").read_text(encoding="utf-8"))
        assert faults(found) == []
        assert found["run"]["suite"] == room
        assert found["results"]
        for result in found["results"]:
            assert result["n_scored"] + sum(result["missing"].values()) == result["n_total"], result
            assert (result["low"] is None) == (result["high"] is None)
            if result["low"] is not None:
                assert result["low"] <= result["value"] <= result["high"]


def test_exactly_one_primary_roll_up_per_metric_and_group(demo: Path) -> None:
    seen: dict[Any, list[bool]] = {}
    for result in strict((demo / "dialogue" / "summary.json").read_text(encoding="utf-8"))["results"]:
        key = (result["metric"], result["output"], result["variant"], json.dumps(result["group"]))
        seen.setdefault(key, []).append(result["primary"])
    assert {key for key, primary in seen.items() if sum(primary) != 1} == set()


def test_a_result_without_a_value_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    lines = [{"dialogue_id": "a", "domain": "hotel", "state": {"hotel-area": "north"}}]
    lines.append({"dialogue_id": "b", "domain": "taxi", "state": {}})  # no slots: slot accuracy has no value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    arguments = ["run", "dialogue", "--references", str(path), "--predictions", str(path), "--json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["turnwise", *arguments])
        with pytest.raises(SystemExit):
            main()
    found = strict(capsys.readouterr().out)
    assert faults(found) == []
    taxi = [r for r in found["results"] if r["group"] == {"domain": "taxi"} and r["primary"]]
    [result] = [r for r in taxi if r["metric"] == "slot_accuracy"]
    assert (result["value"], result["low"], result["high"]) == (None, None, None)
    assert result["missing"] == {"no reference slots": 1}


def test_more_keys_of_the_run_are_allowed(summary: Any) -> None:
    assert faults({**summary, "run": {**summary["run"], "prompt": "v7"}}) == []


@pytest.mark.parametrize("key", RUN_KEYS)
def test_a_run_without_one_of_its_keys_does_not_fit(summary: Any, key: str) -> None:
    run = {name: value for name, value in summary["run"].items() if name != key}
    assert faults({**summary, "run": run})


@pytest.mark.parametrize("key", SCHEMA["$defs"]["result"]["required"])
def test_a_result_without_one_of_its_keys_does_not_fit(summary: Any, key: str) -> None:
    changed = copy.deepcopy(summary)
    del changed["results"][0][key]
    assert faults(changed)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("value", "0.5"),
        ("value", None),  # a value that is missing has no interval
        ("group", {"domain": None}),
        ("group", []),
        ("primary", 1),
        ("n_scored", -1),
        ("n_total", 1.5),
        ("missing", {"no state": 0}),
        ("direction", "up"),
        ("signature", ""),
        ("note", "a key that is not documented"),
    ],
)
def test_a_result_with_a_wrong_value_does_not_fit(summary: Any, key: str, value: Any) -> None:
    changed = copy.deepcopy(summary)
    changed["results"][0][key] = value
    assert faults(changed)
