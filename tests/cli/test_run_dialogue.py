"""`turnwise run dialogue`: options, output and exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import EXAMPLE, EXAMPLES, Cli

FAST = ("--resamples", 100)


def names(summary: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(result["metric"] for result in summary["results"]))


def value(summary: dict[str, Any], metric: str, **group: str) -> float | None:
    [found] = [
        r["value"]
        for r in summary["results"]
        if r["metric"] == metric and r["primary"] and r["group"] == group and not r["variant"]
    ]
    return found


# As a program


def test_a_run_from_a_shell(program: Cli, tmp_path: Path) -> None:
    done = program("run", "dialogue", *EXAMPLE, "--out", "results", "--db", "runs.sqlite", "--system", "bot")
    lines = done.out.splitlines()
    assert lines[0] == "dialogue: bot (turnwise profile)"
    assert any(line.startswith("joint_goal_accuracy  ") and "0.4038" in line for line in lines)
    assert "coverage: 12 of 12 dialogues, 51 of 52 exchanges" in done.err
    assert "counted as wrong: train-02/2 (1)" in done.err
    assert "dialogue: measuring: 52/52" in done.err  # plain lines where there is no terminal
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert written == {
        *("summary.json", "turns.csv", "turns.jsonl", "dialogues.csv", "dialogues.jsonl", "rewrites.csv")
    }
    assert (tmp_path / "runs.sqlite").is_file()
    with (tmp_path / "results" / "turns.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 52


def test_json_is_the_summary_and_nothing_else(program: Cli, tmp_path: Path) -> None:
    done = program("run", "dialogue", *EXAMPLE, *FAST, "--out", "results", "--json")
    assert done.json() == json.loads((tmp_path / "results" / "summary.json").read_text(encoding="utf-8"))


def test_on_worker_processes_the_numbers_are_the_same(program: Cli) -> None:
    inline = program("run", "dialogue", *EXAMPLE, *FAST, "--json").json()
    spread = program("run", "dialogue", *EXAMPLE, *FAST, "--json", "--executor", "processes", "--workers", 2).json()
    assert spread["results"] == inline["results"]


# Options


@pytest.mark.parametrize(
    "words",
    [
        ("--metrics", "slot_accuracy", "joint_goal_accuracy"),
        ("--metrics", "slot_accuracy,joint_goal_accuracy"),
        ("--metrics", "slot_accuracy, joint_goal_accuracy"),
        ("--metrics", "slot_accuracy,", "joint_goal_accuracy"),
        ("--metrics", "slot_accuracy", "--metrics", "joint_goal_accuracy"),
        ("--metrics=slot_accuracy,joint_goal_accuracy",),
        ("--metrics", "dialogue/slot_accuracy", "joint_goal_accuracy", "slot_accuracy"),
    ],
)
def test_metrics_in_every_way(cli: Cli, words: tuple[str, ...]) -> None:
    before = cli("run", "dialogue", *EXAMPLE, *words, *FAST, "--json").json()
    assert names(before) == ["slot_accuracy", "joint_goal_accuracy"]
    after = cli("run", "dialogue", *words, *EXAMPLE, *FAST, "--json").json()  # also in front of another option
    assert after["results"] == before["results"]


def test_all_metrics_by_default(cli: Cli) -> None:
    summary = cli("run", "dialogue", *EXAMPLE, *FAST, "--json").json()
    assert names(summary) == [
        "domain_accuracy",
        "intent_accuracy",
        "action_type_accuracy",
        "act_slot_accuracy",
        "slot_accuracy",
        "joint_goal_accuracy",
        "joint_goal_accuracy_without_dontcare",
        "slot_hallucination",
        "memory_transfer",
        "policy_compliance",
        "system_correctness",
        "task_completion",
        "response_quality",
        "system_latency_ms",
        "system_tokens",
        "system_cost",
    ]
    assert {tuple(r["group"]) for r in summary["results"]} == {(), ("domain",), ("slot",)}


@pytest.mark.parametrize(
    ("words", "metric", "expected"),
    [
        (("--set", "scope=all"), "slot_hallucination", 0.122589),
        (("--profile", "spec"), "slot_hallucination", 0.086321),
        (("--set", "first=true", "--set", "scope=active"), "slot_hallucination", 0.149720),
        (("--set", "first=yes"), "joint_goal_accuracy", 18 / 52),
        (("--submitted-only",), "joint_goal_accuracy", 21 / 51),
        (("--normaliser", "none"), "joint_goal_accuracy", 12 / 52),
        (("--reference-format", "jsonl", "--prediction-format", "jsonl"), "joint_goal_accuracy", 21 / 52),
    ],
)
def test_settings(cli: Cli, words: tuple[str, ...], metric: str, expected: float) -> None:
    summary = cli("run", "dialogue", *EXAMPLE, *words, *FAST, "--json").json()
    assert value(summary, metric) == pytest.approx(expected, abs=6e-7)


def test_a_normaliser_of_one_s_own(cli: Cli, tmp_path: Path) -> None:
    rules = tmp_path / "town.yaml"
    rules.write_text('rules: [{slots: ["*-area"], map: {"center": "centre"}}]\n', encoding="utf-8")
    summary = cli("run", "dialogue", *EXAMPLE, "--normaliser", rules, *FAST, "--json").json()
    assert 12 / 52 < value(summary, "joint_goal_accuracy") < 21 / 52
    [signature] = {r["signature"] for r in summary["results"] if r["metric"] == "joint_goal_accuracy"}
    assert "normaliser=town:" in signature


def test_system_and_version_name_the_run(cli: Cli) -> None:
    summary = cli("run", "dialogue", *EXAMPLE, *FAST, "--json", "--system", "bot", "--version", "v7").json()
    assert (summary["run"]["system"], summary["run"]["version"]) == ("bot", "v7")


def test_by_a_column_and_by_two_crossed(cli: Cli) -> None:
    summary = cli("run", "dialogue", *EXAMPLE, *FAST, "--json", "--by", "scenario", "--by", "scenario, domain").json()
    assert {("scenario",), ("scenario", "domain")} <= {tuple(r["group"]) for r in summary["results"]}
    assert value(summary, "joint_goal_accuracy", scenario="correction") == pytest.approx(1 / 5)  # hotel-02
    crossed = [r["n_total"] for r in summary["results"] if list(r["group"]) == ["scenario", "domain"] and r["primary"]]
    assert crossed
    assert min(crossed) > 0  # only combinations that occur


@pytest.mark.parametrize("words", [("--by", "scenaro"), ("--by", "domain,scenaro"), ("--by", "scenaro", "--dry-run")])
def test_by_an_unknown_dimension(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli("run", "dialogue", *EXAMPLE, *words, "--json", code=2)
    assert "--by scenaro: no item has that dimension" in done.err
    assert "did you mean scenario?" in done.err
    assert "expected: component, domain, scenario, slot" in done.err
    assert done.out == ""


def test_baselines(cli: Cli) -> None:
    summary = cli("run", "dialogue", *EXAMPLE, *FAST, "--json", "--baselines").json()
    found = {(r["metric"], r["variant"]): r["value"] for r in summary["results"] if r["primary"] and not r["group"]}
    assert found["joint_goal_accuracy", "empty"] == pytest.approx(1 / 52)  # the one greeting
    assert found["slot_accuracy", "empty"] == 0
    assert found["joint_goal_accuracy", "oracle"] == found["slot_accuracy", "oracle"] == 1
    assert found["joint_goal_accuracy", ""] == pytest.approx(21 / 52)
    assert ("system_cost", "oracle") not in found  # a baseline has no latency and no cost
    table = cli("run", "dialogue", *EXAMPLE, *FAST, "--baselines").out
    assert "oracle" in table


def test_dry_run_prints_the_plan_and_keeps_nothing(cli: Cli, tmp_path: Path) -> None:
    db, out = tmp_path / "runs.sqlite", tmp_path / "results"
    words = ("run", "dialogue", *EXAMPLE, "--db", db, "--out", out, "--dry-run")
    plan = cli(*words, "--json").json()
    assert plan["items"] == 52
    assert plan["coverage"]["exchanges_predicted"] == 51
    planned = {metric["metric"]: metric for metric in plan["metrics"]}
    # 51 predictions; every reference has a state, the greeting's is empty.
    assert planned["dialogue/joint_goal_accuracy"]["applies_to"] == 51
    assert planned["dialogue/joint_goal_accuracy"]["missing"] == {"prediction.state": 1}
    assert {finding["check"] for finding in plan["findings"]} == {"input", "missing_exchanges"}
    shown = cli(*words)
    assert shown.out.startswith("dialogue: what would be measured\n")
    assert "coverage: 12 of 12 dialogues, 51 of 52 exchanges" in shown.err
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_the_same_in_another_order(cli: Cli, tmp_path: Path) -> None:
    lines = (EXAMPLES / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "p.jsonl").write_text("\n".join(lines[::-1]), encoding="utf-8")
    turned = cli("run", "dialogue", *EXAMPLE[:2], "--predictions", tmp_path / "p.jsonl", *FAST, "--json").json()
    straight = cli("run", "dialogue", *EXAMPLE, *FAST, "--json").json()
    assert turned["results"] == straight["results"]
    assert turned["run"]["dataset_fingerprint"] == straight["run"]["dataset_fingerprint"]


def test_out_may_be_there_already(cli: Cli, tmp_path: Path) -> None:
    for _ in range(2):
        cli("run", "dialogue", *EXAMPLE, *FAST, "--out", tmp_path / "results", "--json")
    assert len(list((tmp_path / "results").iterdir())) == 6


def test_resume_of_a_finished_run_is_refused(cli: Cli) -> None:
    run = cli("run", "dialogue", *EXAMPLE, *FAST, "--json").json()["run"]["id"]
    done = cli("run", "dialogue", "--resume", run, code=2)
    assert f"run {run} has finished" in done.err
    assert "there is no run 'nothing'" in cli("run", "dialogue", "--resume", "nothing", code=2).err
