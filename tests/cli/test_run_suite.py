"""`turnwise run suite.yaml`: runs from a file, for CI."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import EXAMPLES, Cli

ENTRY = {"room": "dialogue", "references": "refs.jsonl", "predictions": "pred.jsonl", "resamples": 100}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples under short names; suite files go there."""
    place = tmp_path / "suite"
    place.mkdir()
    for name, source in {"refs": "references", "pred": "predictions", "pred2": "predictions_v2"}.items():
        (place / f"{name}.jsonl").write_bytes((EXAMPLES / f"{source}.jsonl").read_bytes())
    return place


def write(folder: Path, content: Any, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return path


def joint(summary: Any) -> float:
    [value] = [
        r["value"]
        for r in summary["results"]
        if r["metric"] == "joint_goal_accuracy" and r["primary"] and not r["group"] and not r["variant"]
    ]
    return float(value)


def test_one_run_with_paths_relative_to_the_file(program: Cli, folder: Path, tmp_path: Path) -> None:
    write(folder, {"db": "runs.sqlite", "runs": [{**ENTRY, "out": "results"}]})
    done = program("run", Path("suite") / "suite.yaml", "--json")  # from the folder above
    assert joint(done.json()) == pytest.approx(21 / 52)
    assert (folder / "results" / "summary.json").is_file()
    assert (folder / "runs.sqlite").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["suite"]


def test_two_runs(cli: Cli, folder: Path) -> None:
    second = {**ENTRY, "predictions": "pred2.jsonl", "version": 2, "name": "new"}
    path = write(folder, {"runs": [{**ENTRY, "version": 1}, second]}, "nightly.yml")
    done = cli("run", path, "--out", folder / "results", "--json")
    summaries = done.json()["runs"]
    assert [joint(summary) for summary in summaries] == pytest.approx([21 / 52, 42 / 52])
    assert [summary["run"]["version"] for summary in summaries] == ["1", "2"]
    assert {path.name for path in (folder / "results").iterdir()} == {"00-dialogue", "new"}
    shown = cli("run", path)
    assert "run 1 of 2: dialogue" in shown.err
    assert shown.out.count("(turnwise profile)") == 2


def test_two_runs_of_one_name_do_not_overwrite_each_other(cli: Cli, folder: Path) -> None:
    path = write(folder, {"runs": [{**ENTRY, "name": "a"}, {**ENTRY, "predictions": "pred2.jsonl", "name": "a"}]})
    done = cli("run", path, "--out", folder / "results", code=2)
    assert "'a'" in done.err


def test_every_option_of_the_room(cli: Cli, folder: Path) -> None:
    options = {
        "metrics": ["slot_accuracy", "joint_goal_accuracy"],
        "set": {"first": True},
        "by": ["scenario", "scenario,domain"],
        "submitted-only": True,
        "baselines": True,
        "system": "bot",
        "profile": "spec",
        "reference-format": "jsonl",
    }
    summary = cli("run", write(folder, {"runs": [{**ENTRY, **options}]}), "--json").json()
    assert {r["metric"] for r in summary["results"]} == {"slot_accuracy", "joint_goal_accuracy"}
    assert {r["variant"] for r in summary["results"]} == {"", "empty", "oracle"}
    assert ("scenario", "domain") in {tuple(r["group"]) for r in summary["results"]}
    assert (summary["run"]["system"], summary["run"]["profile"]) == ("bot", "spec")
    assert "first=true" in summary["results"][0]["signature"]


def test_a_normaliser_beside_the_file(program: Cli, folder: Path) -> None:
    write(folder, 'rules: [{slots: ["*-area"], map: {"center": "centre"}}]\n', "town.yaml")
    write(folder, {"runs": [{**ENTRY, "normaliser": "town.yaml"}]})
    summary = program("run", Path("suite") / "suite.yaml", "--json").json()
    [signature] = {r["signature"] for r in summary["results"] if r["metric"] == "joint_goal_accuracy"}
    assert "normaliser=town:" in signature


def test_dry_run(cli: Cli, folder: Path) -> None:
    path = write(folder, {"db": "runs.sqlite", "runs": [ENTRY, ENTRY]})
    plans = cli("run", path, "--dry-run", "--json").json()["runs"]
    assert [plan["items"] for plan in plans] == [52, 52]
    assert not (folder / "runs.sqlite").exists()


def test_an_option_on_the_command_line_wins(cli: Cli, folder: Path, tmp_path: Path) -> None:
    path = write(folder, {"db": "runs.sqlite", "runs": [{**ENTRY, "out": "inside"}]})
    cli("run", path, "--db", tmp_path / "other.sqlite", "--out", tmp_path / "results", "--json")
    assert json.loads((tmp_path / "results" / "dialogue" / "summary.json").read_text(encoding="utf-8"))
    assert (tmp_path / "other.sqlite").is_file()
    assert not (folder / "inside").exists()
    assert not (folder / "runs.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("runs: [", ["suite.yaml", "not YAML", "line"]),
        ("a: b: c", ["suite.yaml", "not YAML"]),
        ("\x00", ["suite.yaml", "not YAML"]),
        ("", ["needs a list of runs"]),
        ("just text", ["needs a list of runs", "just text"]),
        ([1, 2], ["needs a list of runs"]),
        ({}, ["needs a list of runs"]),
        ({"runs": []}, ["needs a list of runs"]),
        ({"runs": {"room": "dialogue"}}, ["needs a list of runs"]),
        ({"runs": [ENTRY, "dialogue"]}, ["needs a list of runs"]),
        ({"runs": [ENTRY], "database": "x"}, ["'database'", "runs, db"]),
        ({"runs": [ENTRY], 5: "x"}, ["5", "runs, db"]),
        ({"runs": [ENTRY], "db": 5}, ["db"]),
        ({"runs": [{"references": "x"}]}, ["runs[0]", "needs a room"]),
        ({"runs": [{**ENTRY, "room": "dialog"}]}, ["'dialog'", "did you mean dialogue?", "runs[0]"]),
        ({"runs": [{**ENTRY, "room": 5}]}, ["runs[0]", "needs a room"]),
        ({"runs": [ENTRY, {**ENTRY, "metric": ["slot_accuracy"]}]}, ["runs[1]", "'metric'", "did you mean metrics"]),
        ({"runs": [{**ENTRY, "db": "x"}]}, ["runs[0]", "db"]),
        ({"runs": [{"room": "dialogue", "references": "refs.jsonl"}]}, ["runs[0]", "'predictions' is missing"]),
        ({"runs": [{**ENTRY, "references": 5}]}, ["runs[0]", "references", "5"]),
        ({"runs": [{**ENTRY, "references": None}]}, ["'references' is missing"]),
        ({"runs": [{**ENTRY, "resamples": "many"}]}, ["runs[0]", "resamples", "many"]),
        ({"runs": [{**ENTRY, "resamples": 5}]}, ["runs[0]", "resamples", "100"]),
        ({"runs": [{**ENTRY, "metrics": ["slot_acuracy"]}]}, ["did you mean slot_accuracy"]),
        ({"runs": [{**ENTRY, "metrics": {"a": 1}}]}, ["runs[0]", "metrics"]),
        ({"runs": [{**ENTRY, "set": ["first"]}]}, ["runs[0]", "set"]),
        ({"runs": [{**ENTRY, "set": {"frist": True}}]}, ["did you mean first?"]),
        ({"runs": [{**ENTRY, "by": "scenaro"}]}, ["did you mean scenario?"]),
        ({"runs": [{**ENTRY, "by": 5}]}, ["runs[0]", "by"]),
        ({"runs": [{**ENTRY, "profile": "specs"}]}, ["runs[0]", "did you mean spec?"]),
        ({"runs": [{**ENTRY, "normaliser": "multiwoz-v2"}]}, ["did you mean multiwoz-v1?"]),
        ({"runs": [{**ENTRY, "references": "nothing.jsonl"}]}, ["nothing.jsonl cannot be read"]),
        ({"runs": [{**ENTRY, "executor": "cluster"}]}, ["runs[0]", "no engine 'cluster'", "inline or processes"]),
        ({"runs": [ENTRY, {**ENTRY, "engine": "dask:abc"}]}, ["runs[1]", "'dask:abc' does not say how many"]),
        ({"runs": [ENTRY, {**ENTRY, "engine": "processes:2", "workers": 3}]}, ["runs[1]", "contradict"]),
        ({"runs": [{**ENTRY, "engine": "inline", "executor": "dask"}]}, ["runs[0]", "contradict"]),
    ],
)
def test_what_is_wrong_is_named(cli: Cli, folder: Path, content: Any, words: list[str]) -> None:
    done = cli("run", write(folder, content), code=2)
    assert done.out == ""
    assert [word for word in words if word not in done.err] == [], done.err


def test_a_number_may_be_a_name(cli: Cli, folder: Path) -> None:
    path = write(folder, {"runs": [{**ENTRY, "name": 2026, "system": 7, "version": 1.5}]})
    summary = cli("run", path, "--out", folder / "results", "--json").json()
    assert (summary["run"]["system"], summary["run"]["version"]) == ("7", "1.5")
    assert (folder / "results" / "2026" / "summary.json").is_file()


def test_nothing_is_run_when_a_later_entry_is_wrong(cli: Cli, folder: Path) -> None:
    """A typing error in the last of ten runs must not cost the nine before it."""
    path = write(folder, {"db": "runs.sqlite", "runs": [ENTRY, {**ENTRY, "metric": "slot_accuracy"}]})
    cli("run", path, code=2)
    assert not (folder / "runs.sqlite").exists() or cli("runs", "--db", folder / "runs.sqlite", "--json").json() == []


@pytest.mark.parametrize("name", ["nothing.yaml", "nothing.yml"])
def test_a_file_that_is_not_there(cli: Cli, name: str) -> None:
    assert f"{name} cannot be read" in cli("run", name, code=2).err


def test_a_folder_called_like_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").mkdir()
    assert "cannot be read" in cli("run", tmp_path / "x.yaml", code=2).err


def test_a_suite_file_may_have_any_name(cli: Cli, folder: Path) -> None:
    path = write(folder, {"runs": [ENTRY]}, "nightly.conf")
    assert joint(cli("run", path, "--json").json()) == pytest.approx(21 / 52)


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_absolute_paths_stay(cli: Cli, folder: Path, tmp_path: Path) -> None:
    entry = {**ENTRY, "references": str(EXAMPLES / "references.jsonl"), "out": str(tmp_path / "results")}
    cli("run", write(folder, {"runs": [entry]}), "--json")
    assert (tmp_path / "results" / "summary.json").is_file()


def test_one_engine_for_all_runs(cli: Cli, folder: Path) -> None:
    path = write(folder, {"runs": [{**ENTRY, "engine": "dask:3"}, {**ENTRY, "executor": "processes", "workers": 2}]})
    done = cli("run", path, "--engine", "processes:1", "--json")
    configs = [summary["run"]["config"] for summary in done.json()["runs"]]
    assert [config["engine"] for config in configs] == ["processes:1", "processes:1"]
    assert [config["workers"] for config in configs] == [None, None]


@pytest.mark.parametrize("engine", ["", "proceses", "inline:2"])
def test_an_engine_that_is_none(cli: Cli, folder: Path, engine: str) -> None:
    done = cli("run", write(folder, {"runs": [ENTRY]}), "--engine", engine, code=2)
    assert f"there is no engine {engine!r}" in done.err
