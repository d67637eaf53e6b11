"""Other data: refused, unless nothing pairs up and that is in the nature of what was evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import turnwise
from tests.comparison.keeping import compared
from turnwise.kernel.errors import UsageError
from turnwise.store.store import Store

ROOT = Path(__file__).parents[2] / "examples"


@pytest.fixture
def db(tmp_path: Path) -> str:
    return str(tmp_path / "runs.sqlite")


def evaluated(db: str, records: dict[str, object], suite: str, version: str) -> str:
    metrics = ["joint_goal_accuracy"] if suite == "dialogue" else ["objective_quality_score"]
    return turnwise.evaluate(records, suite=suite, version=version, db=db, metrics=metrics).run.id


def session(name: str, replies: list[str]) -> list[dict[str, object]]:
    return [
        {"session_id": name, "turn": n, "query": "What now?", "response": reply, "processing_time_ms": 900}
        for n, reply in enumerate(replies, 1)
    ]


@pytest.mark.parametrize("by_name", [True, False])
def test_sessions_of_an_assistant_are_compared_unpaired(db: str, tmp_path: Path, by_name: bool) -> None:
    runs = []
    for version, reply in (("1", "Please call the employee."), ("2", "Per our Attendance Policy, call the employee.")):
        turns = [turn for n in range(4) for turn in session(f"{version}-{n}", [reply, f"{reply} Then document it."])]
        path = tmp_path / f"{version}.jsonl"
        path.write_text("\n".join(map(json.dumps, turns)))
        runs.append(evaluated(db, {"turns": path}, "assistant", version))
    a, b = ("version:1", "version:2") if by_name else runs
    found = compared(Store(db), a, b)
    assert found.pairing == "unpaired"
    assert any("unpaired" in warning for warning in found.warnings)


def dialogues(db: str) -> tuple[str, str]:
    folder = ROOT / "dialogue"
    one = {"references": folder / "references.jsonl", "predictions": folder / "predictions.jsonl"}
    two = {"references": folder / "trials_references.jsonl", "predictions": folder / "trials.jsonl"}
    return evaluated(db, one, "dialogue", "1"), evaluated(db, two, "dialogue", "2")


def test_two_runs_on_other_references_are_refused(db: str) -> None:
    with pytest.raises(UsageError, match="not the same data"):
        compared(Store(db), *dialogues(db))


def test_two_versions_that_share_no_item_are_compared_unpaired(db: str) -> None:
    dialogues(db)
    assert compared(Store(db), "version:1", "version:2").pairing == "unpaired"
