"""The five scales rated by a judge: beside people, never mixed with them unless asked, and the same again on replay."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import turnwise
from tests.assistant.judging import by_judge, judging
from tests.assistant.rating_runs import document_turn, rate
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.assistant.era_csv import write_era_csv
from turnwise.assistant.outcomes import turn_outcomes
from turnwise.assistant.scales import SUBJECTIVE
from turnwise.judge.calibration_run import from_run
from turnwise.judge.rubric import packaged_rubric
from turnwise.kernel.score import Source, Status
from turnwise.report.summary import stored_or_new
from turnwise.store.reading import stream_scores
from turnwise.store.store import Store

SCORES = {
    "one": {"empathy": 4},
    "two": {"empathy": 2},
    "three": {"empathy": 5},
}
"""By query; every other scale, and every other query, is 3."""
ROWS = [document_turn("a", 1, query="one"), document_turn("a", 2, query="two"), document_turn("b", 1, query="three")]


def run(rows: list[dict[str, Any]], **options: Any) -> turnwise.Result:
    return turnwise.evaluate({"turns": rows}, suite="assistant", embedding="none", resamples=100, **options)


def line(results: list[dict[str, Any]], metric: str, variant: str = "", rollup: str = "micro") -> dict[str, Any]:
    (found,) = (
        one
        for one in results
        if (one["metric"], one["output"], one["variant"], one["rollup"]) == (metric, "value", variant, rollup)
        and not one["group"]
    )
    return found


def kept(db: str) -> list[dict[str, Any]]:
    """Every row of the newest run, as the store gives it."""
    store = Store(db)
    try:
        return list(stream_scores(store, store.run("latest")))
    finally:
        store.close()


# --- rows ---------------------------------------------------------------------------------------------------


def test_a_judge_rates_every_turn_on_every_scale() -> None:
    """Empathy: micro (4 + 2 + 5) / 3, macro ((4 + 2) / 2 + 5) / 2 = 4. All other scales are 3."""
    with Server(judging(SCORES)) as server:
        found = run(ROWS, **by_judge(server.url))
        assert len(server.requests) == 3 * 5
    empathy = line(found.results, "empathy_score", "judge")
    assert empathy["value"] == pytest.approx(11 / 3)
    assert (empathy["n_scored"], empathy["n_total"]) == (3, 3)
    assert line(found.results, "empathy_score", "judge", "macro")["value"] == 4
    assert line(found.results, "clarity_score", "judge")["value"] == 3
    assert f"|judge={MODEL}|" in empathy["signature"]
    assert f"|rubric=empathy_score:{packaged_rubric('assistant', 'empathy_score').hash}" in empathy["signature"]
    ratings = [one for one in found.scores if one.metric.partition("/")[2] in SUBJECTIVE]
    assert {(one.variant, one.source, one.rater, one.status) for one in ratings} == {
        ("judge", Source.JUDGE, MODEL, Status.SCORED)
    }
    (first,) = (one for one in ratings if one.metric == "assistant/empathy_score" and one.unit.id == "a#1")
    assert first.evidence["answers"] == [{"reasoning": "empathy of this reply", "scores": {"empathy": 4.0}}]


def test_without_being_asked_for_nothing_is_made_of_them() -> None:
    with Server(judging(SCORES)) as server:
        found = run(ROWS, **by_judge(server.url))
    for name in ("subjective_quality_score", "overall_quality_score"):
        quality = line(found.results, name)
        assert (quality["value"], quality["n_scored"]) == (None, 0)
        assert [one["variant"] for one in found.results if one["metric"] == name and one["variant"]] == []
    assert line(found.results, "subjective_quality_score")["missing"] == {"no input has a value": 3}


def test_a_run_without_a_judge_is_as_it_was() -> None:
    found = run(ROWS)
    assert not any(one["metric"] in SUBJECTIVE for one in found.results)
    assert not any(one.metric.partition("/")[2] in SUBJECTIVE for one in found.scores)
    assert not any("judge" in name for name in found.run.config["context"])
    quality = line(found.results, "subjective_quality_score")
    assert re.fullmatch(
        r"assistant/subjective_quality_score\|v1\|profile=turnwise\|inputs=\w{12}\|subjective_weights=equal",
        quality["signature"],
    )


def test_a_turn_that_cannot_be_judged_says_why() -> None:
    rows = [document_turn("a", 1, query=None), document_turn("a", 2, response=None), document_turn("a", 3, query="one")]
    with Server(judging(SCORES)) as server:
        found = run(rows, **by_judge(server.url))
        assert len(server.requests) == 5
    empathy = line(found.results, "empathy_score", "judge")
    assert (empathy["value"], empathy["n_scored"], empathy["n_total"]) == (4, 1, 3)
    assert empathy["missing"] == {"no query": 1, "no response": 1}


def test_an_unreadable_answer_is_an_error_and_outside_the_mean() -> None:
    """Of 4, nothing and 5 the mean is 4.5; the judge was asked once more for what could not be read."""
    scores: dict[str, Any] = {**SCORES, "two": {"empathy": "Six out of five, I would say."}}
    with Server(judging(scores)) as server:
        found = run(ROWS, **by_judge(server.url), set={"judge_ratings": "true"})
        assert len(server.requests) == 3 * 5 + 1
    empathy = line(found.results, "empathy_score", "judge")
    assert (empathy["value"], empathy["n_scored"], empathy["n_total"]) == (4.5, 2, 3)
    assert sum(empathy["missing"].values()) == 1
    (failed,) = (one for one in found.scores if one.status is Status.ERROR)
    assert (failed.unit.id, failed.metric, failed.variant) == ("a#2", "assistant/empathy_score", "judge")
    assert "Six out of five, I would say." in json.dumps(failed.evidence)
    # Nothing stands in for it: of the turns (4 + 3 * 4) / 25, (3 * 4) / 20 and (5 + 3 * 4) / 25.
    assert found.value("subjective_quality_score") == pytest.approx((16 / 25 + 12 / 20 + 17 / 25) / 3)


def test_repeats_are_combined_and_say_how_far_they_agree() -> None:
    """3, 4 and 4: the median is 4, and two of three say so."""
    order = iter([3, 4, 4])

    def answer(request: Request) -> Reply:
        return completion(json.dumps({"reasoning": "", "empathy": next(order)}))

    with Server(answer) as server:
        found = run(ROWS[:1], **by_judge(server.url), judge_repeats=3, metrics=["empathy_score"])
    assert line(found.results, "empathy_score", "judge")["value"] == 4
    (agreed,) = (one for one in found.results if one["output"] == "self_consistency" and not one["group"])
    assert (agreed["variant"], agreed["value"]) == ("judge", pytest.approx(2 / 3))


# --- beside people ------------------------------------------------------------------------------------------


def test_people_and_judge_stand_side_by_side(tmp_path: Path) -> None:
    """People: 1 for one turn. The judge: (4 + 2 + 5) / 3. Subjective is 1 / 5, of the one rating by a person."""
    db = str(tmp_path / "runs.sqlite")
    with Server(judging(SCORES)) as server:
        name = run(ROWS, **by_judge(server.url), db=db).run.id
    store = Store(db)
    rate(store, name, "a#1", "HR partner", empathy=1)
    stored = store.run(name)
    results = stored_or_new(store, stored)
    people, judge = line(results, "empathy_score"), line(results, "empathy_score", "judge")
    assert (people["value"], people["n_scored"]) == (1, 1)
    assert judge["value"] == pytest.approx(11 / 3)
    assert re.fullmatch(r"assistant/empathy_score\|v1\|profile=turnwise\|guide=\w{12}", people["signature"])
    assert judge["signature"].startswith(f"{people['signature']}|judge={MODEL}|")
    assert line(results, "subjective_quality_score")["value"] == pytest.approx(0.2)
    # Objective 0.85: 0.4 * 0.85 + 0.6 * 0.2 = 0.46.
    assert line(results, "overall_quality_score")["value"] == pytest.approx(0.46)
    (first, second, _) = turn_outcomes(store, stored)
    assert (first.values["empathy_score"], first.judged["empathy_score"]) == (1, 4)
    assert first.ratings == {"empathy_score": {"HR partner": 1}}
    assert "empathy_score" not in second.values
    assert second.qualities.subjective is None
    store.close()


def test_what_people_said_can_be_calibrated_against(tmp_path: Path) -> None:
    db = str(tmp_path / "runs.sqlite")
    with Server(judging(SCORES)) as server:
        name = run(ROWS, **by_judge(server.url), db=db).run.id
    store = Store(db)
    rate(store, name, "a#1", "HR partner", empathy=3)
    rate(store, name, "b#1", "HR partner", empathy=5)
    found = from_run(packaged_rubric("assistant", "empathy_score"), store, store.run(name), None)
    pairs = {one.id: (one.people, one.said.score) for one in found.dimensions["empathy"]}
    assert pairs == {"a#1": ({"HR partner": 3}, 4), "b#1": ({"HR partner": 5}, 5)}
    assert (found.model, found.unrated) == (MODEL, {"empathy": 1})
    store.close()


def test_ratings_by_people_compare_whoever_judged_beside_them(tmp_path: Path) -> None:
    """One version has a judge and the other has none; what people said of both is the same measurement."""
    db = str(tmp_path / "runs.sqlite")
    with Server(judging(SCORES)) as server:
        a = run(ROWS, db=db, system="assistant", version="a")
        b = run(ROWS, db=db, system="assistant", version="b", **by_judge(server.url))
    store = Store(db)
    for name, score in ((a.run.id, 2), (b.run.id, 4)):
        for turn in ("a#1", "a#2", "b#1"):
            rate(store, name, turn, "HR partner", empathy=score)
    store.close()
    found = {one["metric"]: one for one in a.compare(b) if one["primary"]}
    assert (found["empathy_score"]["a"], found["empathy_score"]["b"]) == (2, 4)
    assert (found["subjective_quality_score"]["a"], found["subjective_quality_score"]["b"]) == pytest.approx((0.4, 0.8))


# --- where they are asked to stand in -----------------------------------------------------------------------


def test_a_judge_stands_in_where_people_gave_none(tmp_path: Path) -> None:
    """Turn a#1: a person gave empathy 1, the judge 3 on the other four: (1 + 12) / 25 = 0.52.

    The others are the judge's alone: (2 + 12) / 25 = 0.56 and (5 + 12) / 25 = 0.68.
    """
    db = str(tmp_path / "runs.sqlite")
    with Server(judging(SCORES)) as server:
        made = run(ROWS, **by_judge(server.url), db=db, set={"judge_ratings": "true"})
    # Before anybody rated: (4 + 12) / 25 = 0.64 for the first.
    assert made.value("subjective_quality_score") == pytest.approx((0.64 + 0.56 + 0.68) / 3)
    (told,) = (one for one in made.run.findings if "ratings of the judge" in one["message"])
    assert told["message"].endswith(f"ratings of the judge {MODEL} in 3 of 3 turns")
    store = Store(db)
    rate(store, made.run.id, "a#1", "HR partner", empathy=1)
    stored = store.run(made.run.id)
    results = stored_or_new(store, stored)
    subjective = line(results, "subjective_quality_score")
    assert subjective["value"] == pytest.approx((0.52 + 0.56 + 0.68) / 3)
    assert "|judge_ratings=true|" in subjective["signature"]
    # Objective 0.85: 0.34 + 0.6 * 0.52 = 0.652, 0.34 + 0.6 * 0.56 = 0.676, 0.34 + 0.6 * 0.68 = 0.748.
    assert line(results, "overall_quality_score")["value"] == pytest.approx((0.652 + 0.676 + 0.748) / 3)
    assert line(results, "empathy_score")["value"] == 1  # people's own stays people's own
    outcomes = list(turn_outcomes(store, stored))
    assert [one.qualities.subjective for one in outcomes] == pytest.approx([0.52, 0.56, 0.68])
    others = [name for name in SUBJECTIVE if name != "empathy_score"]
    assert [one.qualities.made_of["subjective"]["by_judge"] for one in outcomes] == [
        others,
        [*SUBJECTIVE],
        [*SUBJECTIVE],
    ]
    file = io.StringIO()
    write_era_csv(store, stored, file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [float(one["Subjective Score"]) for one in rows] == pytest.approx([0.52, 0.56, 0.68])
    store.close()


def test_the_signature_says_whose_ratings_stand_in() -> None:
    signatures: dict[tuple[str, str], str] = {}
    with Server(judging(SCORES)) as server:
        for judge_ratings in ("true", "false"):
            for model in (MODEL, "judge-2"):
                options = {**by_judge(server.url), "judge_model": model, "set": {"judge_ratings": judge_ratings}}
                found = run(ROWS[:1], **options, metrics=["subjective_quality_score"])
                signatures[judge_ratings, model] = line(found.results, "subjective_quality_score")["signature"]
    assert signatures["true", MODEL] != signatures["true", "judge-2"]
    assert signatures["false", MODEL] == signatures["false", "judge-2"]


def test_a_setting_without_a_judge_is_noted() -> None:
    found = run(ROWS[:1], set={"judge_ratings": "yes"})
    assert any("the run has no judge" in one["message"] for one in found.run.findings)
    assert found.value("subjective_quality_score") is None


# --- files --------------------------------------------------------------------------------------------------


def test_the_files_have_both(tmp_path: Path) -> None:
    with Server(judging(SCORES)) as server:
        run(ROWS, **by_judge(server.url), out=tmp_path)
    with (tmp_path / "turns.csv").open(encoding="utf-8", newline="") as file:
        turns = list(csv.DictReader(file))
    assert [(one["empathy_score"], one["empathy_score_judge"]) for one in turns] == [
        ("", "4.0"),
        ("", "2.0"),
        ("", "5.0"),
    ]
    lines = [json.loads(one) for one in (tmp_path / "turns.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["judged"]["empathy_score"] for one in lines] == [4, 2, 5]
    assert lines[0]["ratings"] == {}
    with (tmp_path / "versions.csv").open(encoding="utf-8", newline="") as file:
        (version,) = csv.DictReader(file)
    assert float(version["avg_empathy_score_judge"]) == pytest.approx(11 / 3)
    assert version["avg_empathy_score"] == ""


# --- again --------------------------------------------------------------------------------------------------


def test_replaying_gives_the_same_rows_byte_for_byte(tmp_path: Path) -> None:
    scores: dict[str, Any] = {**SCORES, "two": {"empathy": "no JSON at all"}}
    first, second, third = (str(tmp_path / f"{name}.sqlite") for name in ("asked", "replayed", "in_processes"))
    with Server(judging(scores)) as server:
        asked = run(ROWS, **by_judge(server.url), db=first, judge_cassette=tmp_path / "cassette")
    replay = {"judge_replay": tmp_path / "cassette"}  # and nobody answers any more
    replayed = run(ROWS, **replay, db=second)
    assert kept(second) == kept(first)
    assert len(kept(first)) > 3 * 5
    assert replayed.results == asked.results
    run(ROWS, **replay, db=third, executor="processes", workers=1)
    assert kept(third) == kept(first)
