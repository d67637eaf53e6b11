"""The room as a whole: options, groups, files, profiles, ratings, resuming."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.assistant.scales import COMPOSITES, OBJECTIVE, SUBJECTIVE
from turnwise.kernel.errors import InputError
from turnwise.kernel.score import Score, Source, Unit
from turnwise.report.summary import stored_or_new
from turnwise.store.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples" / "assistant"
TURNS = EXAMPLES / "turns.jsonl"
REPLY = "Got it. Per our Attendance policy, three late arrivals lead to a conversation. Please call them."


def row(session: str, turn: int, response: str | None = REPLY, **more: Any) -> dict[str, Any]:
    return {
        "session_id": session,
        "turn": turn,
        "query": "What now?",
        "response": response,
        "is_first_response": False,
        **more,
    }


def run(data: Any, **options: Any) -> turnwise.Result:
    return turnwise.evaluate({"turns": data}, suite="assistant", embedding="none", **options)


# --- numbers ------------------------------------------------------------------------------------------------


def test_values_and_averages_per_version_and_session() -> None:
    """Version a: cited in 1 of 2 turns of one session and in 1 of 1 of the other: micro 2/3, macro (1/2 + 1) / 2."""
    rows = [
        row("s1", 1, version="a"),
        row("s1", 2, "Wait.", version="a"),
        row("s2", 1, version="a"),
        row("s3", 1, "Wait.", version="b"),
        row("s3", 2, None, version="b"),
    ]
    found = run(rows, by=["session_id"])
    assert found.value("has_policy_citation", version="a") == pytest.approx(2 / 3)
    assert found.value("has_policy_citation", "macro", version="a") == pytest.approx(3 / 4)
    assert found.value("has_policy_citation", version="b") == 0.0
    assert found.value("has_policy_citation") == 0.5
    assert found.value("has_policy_citation", session_id="s1") == 0.5
    assert found.run.version == ""  # there are two
    (line,) = (
        one
        for one in found.results
        if one["metric"] == "has_policy_citation" and one["primary"] and one["group"] == {"version": "b"}
    )
    assert (line["n_scored"], line["n_total"], line["missing"]) == (1, 2, {"no response": 1})


def test_the_objective_quality_is_the_mean_of_what_is_scored() -> None:
    """Cited 1, action 1, structure 0, length 0, sequential 1: 3 / 5; without a reply only the time: 1 / 1."""
    rows = [row("s", 1, scenario="a"), row("s", 2, None, processing_time_ms=10, scenario="b")]
    found = run(rows)
    assert found.value("objective_quality_score", scenario="a") == pytest.approx(3 / 5)
    assert found.value("objective_quality_score", scenario="b") == 1.0
    assert found.value("objective_quality_score") == pytest.approx(0.8)
    signature = next(one["signature"] for one in found.results if one["metric"] == "objective_quality_score")
    assert "objective_weights=equal" in signature


def test_weights_by_scenario_reach_the_results(tmp_path: Path) -> None:
    """In `a` a citation counts 3: (3 + 1 + 0 + 0 + 1) / 7 = 5 / 7; elsewhere 3 / 5."""
    path = tmp_path / "own.yaml"
    path.write_text("scenarios: {A: {weights: {objective: {has_policy_citation: 3}}}}\nproduction_ready: 0.5\n")
    found = run([row("s", 1, scenario="a"), row("s", 2, scenario="b"), row("s", 3)], patterns=path)
    assert found.value("objective_quality_score", scenario="a") == pytest.approx(5 / 7)
    assert found.value("objective_quality_score", scenario="b") == pytest.approx(3 / 5)
    assert found.value("objective_quality_score") == pytest.approx((5 / 7 + 3 / 5 + 3 / 5) / 3)


def test_ratings_arrive_later_and_make_the_other_two(tmp_path: Path) -> None:
    """4, 5, 5, 4, 5: 0.92; objective 3 / 5: 0.4 * 0.6 + 0.6 * 0.92 = 0.792. The other turn is not rated."""
    db = str(tmp_path / "runs.sqlite")
    first = run([row("s", 1, version="v"), row("s", 2, version="v")], db=db)
    assert first.value("overall_quality_score") is None
    store = Store(db)
    stored = store.run(first.run.id)
    signatures = {one.name: one.signature for one in store.metrics(stored)}
    scores = [
        Score(
            metric=f"assistant/{name}",
            unit=Unit("s#1", "s", kind="turn"),
            signature=signatures[f"assistant/{name}"],
            value=float(value),
            statistics=(float(value),),
            source=Source.HUMAN,
            rater="HR partner",
        )
        for name, value in zip(SUBJECTIVE, (4, 5, 5, 4, 5), strict=True)
    ]
    assert store.amend(stored, scores, by="HR partner") == 0
    found = {
        one["metric"]: one
        for one in stored_or_new(store, store.run(stored.id))
        if one["primary"] and one["group"] == {"version": "v"}
    }
    assert found["subjective_quality_score"]["value"] == pytest.approx(0.92)
    assert found["overall_quality_score"]["value"] == pytest.approx(0.792)
    assert found["overall_quality_score"]["band"] == "not_ready"
    assert found["overall_quality_score"]["n_scored"] == 1
    assert found["empathy_score"]["value"] == 5
    store.close()


# --- files --------------------------------------------------------------------------------------------------


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_files_of_a_run(tmp_path: Path) -> None:
    found = run(TURNS, out=tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"summary.json", "turns.csv", "turns.jsonl", "sessions.csv", "versions.csv"}
    turns = table(tmp_path / "turns.csv")
    lines = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(turns) == len(lines) == 60
    for cells, line in zip(turns, lines, strict=True):
        parts = line["made_of"]["objective"]
        mean = sum(parts["values"].values()) / parts["n"]
        assert float(cells["objective_quality_score"]) == pytest.approx(mean)
        assert int(cells["objective_n"]) == parts["n"] == len(OBJECTIVE) - len(line["missing"])
        assert set(line["missing"]) | set(parts["values"]) == set(OBJECTIVE)
        assert all(line["metrics"][name] is None for name in line["missing"])
    sessions = table(tmp_path / "sessions.csv")
    assert [int(one["total_turns"]) for one in sessions] == [3] * 20
    own = [float(one["objective_quality_score"]) for one in turns if one["session_id"] == "fc-no-show"]
    assert float(sessions[0]["avg_objective_quality"]) == pytest.approx(sum(own) / 3)
    versions = {one["master_prompt_version"]: one for one in table(tmp_path / "versions.csv")}
    assert set(versions) == {"fc26922", "ee59fe5"}
    for name, one in versions.items():
        assert float(one["avg_objective_quality"]) == pytest.approx(
            found.value("objective_quality_score", version=name)
        )
        assert one["avg_overall_quality"] == ""
        assert (one["total_turns"], one["n_overall"]) == ("30", "0")


def test_a_reply_that_looks_like_a_formula_is_no_formula_in_the_table(tmp_path: Path) -> None:
    run([row("=1+1", 1)], out=tmp_path)
    assert table(tmp_path / "turns.csv")[0]["session_id"] == "'=1+1"


def test_the_second_version_of_the_example_is_better() -> None:
    """What make_examples.py writes: faults in fewer conversations, so no metric gets worse."""
    found = run(TURNS)
    for name in (*OBJECTIVE, "objective_quality_score"):
        one, two = (found.value(name, version=version) for version in ("fc26922", "ee59fe5"))
        assert one is not None
        assert two is not None
        assert two > one, name


# --- options -----------------------------------------------------------------------------------------------


def test_one_version_in_the_data_is_the_version_of_the_run() -> None:
    assert run([row("s", 1, version="a")]).run.version == "a"
    assert run([row("s", 1)], version="b").run.version == "b"


def test_turns_without_anything_to_measure_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to measure"):
        run([{"session_id": "s", "turn": 1, "query": "q"}], metrics=["has_policy_citation"])


def test_chosen_metrics_bring_what_they_are_made_of() -> None:
    found = run([row("s", 1)], metrics=["overall_quality_score"])
    assert set(found.run.config["metrics"]) == {*OBJECTIVE, *SUBJECTIVE, *COMPOSITES}
    alone = run([row("s", 1)], metrics=["has_policy_citation"])
    assert alone.run.config["metrics"] == ["has_policy_citation"]


def test_baselines_are_scored_beside() -> None:
    """A reply that says nothing offers nothing, so that one of five metrics is 1: 0.2."""
    found = run([row("s", 1)], baselines=True)
    by_variant = {
        one["variant"]: one["value"]
        for one in found.results
        if one["metric"] == "objective_quality_score" and one["primary"] and not one["group"]
    }
    assert by_variant == {"": pytest.approx(3 / 5), "canned": pytest.approx(1.0), "empty": pytest.approx(0.2)}


def test_worker_processes_give_the_same(tmp_path: Path) -> None:
    here, there = run(TURNS), run(TURNS, executor="processes", workers=2)
    assert [one["value"] for one in here.results] == [one["value"] for one in there.results]


def test_the_baselines_on_the_page_of_the_objective_quality() -> None:
    """14 of 60 turns are active and first. Silent: 2/6 without asking, 2/7 with; canned: 8/8 and 8/9."""
    found = run(TURNS, baselines=True)
    values = {
        one["variant"]: one["value"]
        for one in found.results
        if one["metric"] == "objective_quality_score" and one["primary"] and not one["group"]
    }
    assert values["empty"] == pytest.approx((46 * 2 / 6 + 14 * 2 / 7) / 60)
    assert values["canned"] == pytest.approx((46 + 14 * 8 / 9) / 60)
    page = (Path(__file__).parents[2] / "docs/metrics/assistant/objective_quality_score.md").read_text("utf-8")
    assert f"{values['empty']:.4f}" in page
    assert f"{values['canned']:.4f}" in page
