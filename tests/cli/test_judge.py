"""`turnwise judge`: calibrating from columns and runs, what is kept and written, rubrics, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from tests.cli.conftest import ROOT, Cli
from tests.judge.rating_data import pairs, write_csv
from tests.judge.server import MODEL, Reply, Request, Server, completion
from turnwise.judge.rubric import read_rubric
from turnwise.store.calibrations import calibrations
from turnwise.store.store import Store

RATINGS = ROOT / "examples" / "judge" / "ratings.csv"
RUBRIC = ROOT / "examples" / "judge" / "helpfulness.yaml"


def kept(db: str, model: str) -> list[Any]:
    store = Store(db)
    found = calibrations(store, read_rubric(RUBRIC).hash, model)
    store.close()
    return found


def test_the_example_works_without_a_key(cli: Cli, sqlite_path: str) -> None:
    found = cli("judge", "calibrate", "--ratings", RATINGS, "--rubric", RUBRIC, "--db", sqlite_path)
    assert "an unnamed model, in ratings.csv: 24 items" in found.out
    assert "2 raters; 24 items rated by two or more of them" in found.out
    # The call that both people rated 1 and the judge 4 comes first.
    assert found.out.partition("the largest disagreements")[2].splitlines()[2].split()[:3] == ["call-15", "1", "4"]
    assert found.out.splitlines()[-1].startswith("Not yet on helpfulness: n = 24 is too few, 50 are needed")
    assert "not kept, because nobody said which model gave the scores" in found.err


def test_json_has_what_scikit_learn_finds(cli: Cli, sqlite_path: str, tmp_path: Path) -> None:
    judge, human = pairs(70, 3)
    path = write_csv(tmp_path / "human.csv", ["id", "rating", "judge"], list(zip(range(70), human, judge, strict=True)))
    words = ("judge", "calibrate", "--ratings", path, "--rubric", RUBRIC, "--db", sqlite_path, "--judge-model", "m")
    found = cli(*words, "--json").json()
    (one,) = found["calibrations"]
    theirs = cohen_kappa_score(judge, human, labels=[1, 2, 3, 4, 5], weights="quadratic")
    assert one["kappa"] == pytest.approx(theirs)
    assert one["statistics"]["weighted_kappa"]["low"] < theirs < one["statistics"]["weighted_kappa"]["high"]
    assert (one["n"], one["model"], found["kept"]) == (70, "m", True)
    assert cli(*words, "--json").json()["calibrations"] == [one]  # seeded: the same intervals
    records = kept(sqlite_path, "m")
    assert [(record.dimension, record.n) for record in records] == [("helpfulness", 70)] * 2
    assert records[0].record == one
    assert kept(sqlite_path, "another") == []


def test_files(cli: Cli, sqlite_path: str, tmp_path: Path) -> None:
    out = tmp_path / "found"
    cli("judge", "calibrate", "--ratings", RATINGS, "--rubric", RUBRIC, "--db", sqlite_path, "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["calibration.json", "calibration.md", "items.csv"]
    assert json.loads((out / "calibration.json").read_text())["calibrations"][0]["n"] == 24
    lines = (out / "items.csv").read_text().splitlines()
    assert len(lines) == 25
    assert lines[:2] == [
        "dimension,id,cluster,people,judge,apart,reasoning",
        "helpfulness,call-15,call-15,1.0,4.0,3.0,It points to a way of getting an appointment.",
    ]
    assert "| kappa, quadratic weights |" in (out / "calibration.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "there is nothing to compare with"),
        (("--ratings", "none.csv"), "none.csv cannot be read"),
        (("--ratings", RATINGS, "--dimension", "tone"), "no dimension 'tone'"),
        (("--ratings", RATINGS, "--judge-url", "http://127.0.0.1:1/v1"), "already holds scores of a judge"),
        (("--ratings", RATINGS, "--run", "latest"), "holds scores of a judge, and so does --run"),
        (("--run", "latest", "--judge-model", "m"), "--judge-model is for asking a judge"),
        (("--run", "latest"), "there is no run 'latest'"),
    ],
)
def test_wrong_usage(cli: Cli, words: tuple[Any, ...], message: str) -> None:
    found = cli("judge", "calibrate", "--rubric", RUBRIC, *words, code=2)
    assert message in found.err


def test_nobody_to_ask(cli: Cli, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "human.csv", ["id", "rating", "user", "response"], [("a", 5, "?", "yes")])
    found = cli("judge", "calibrate", "--rubric", RUBRIC, "--ratings", path, code=2)
    assert "has no scores of a judge, and there is no judge to ask" in found.err
    assert "--judge-replay DIR" in found.err


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        ("helpfulness", "not a rubric"),
        ("nowhere/quality", "no room 'nowhere'"),
        ("dialogue/nothing", "no rubric 'nothing'"),
        ("missing.yaml", "missing.yaml"),
    ],
)
def test_a_rubric_that_is_none(cli: Cli, rubric: str, message: str) -> None:
    found = cli("judge", "calibrate", "--rubric", rubric, "--ratings", RATINGS, code=2)
    assert message in found.err


def test_a_rubric_shown_and_checked(cli: Cli, tmp_path: Path) -> None:
    found = cli("judge", "rubrics", RUBRIC)
    assert found.out.startswith(f"dialogue/helpfulness (version 1, hash {read_rubric(RUBRIC).hash})")
    assert "  5: The caller has what they need." in found.out
    assert cli("judge", "rubrics", RUBRIC, "--json").json()["scores"] == {"helpfulness": "1 to 5"}
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: broken\nroom: dialogue\nquestion: ?\n")
    assert "broken.yaml" in cli("judge", "rubrics", broken, code=2).err


def test_packaged_rubrics(cli: Cli) -> None:
    known = cli("judge", "rubrics", "--json").json()
    assert {one["rubric"].partition("/")[0] for one in known} >= {"dialogue"}
    assert "dialogue/response_quality" in cli("judge", "rubrics", "dialogue").out
    assert "response_quality" in cli("judge", "rubrics", "dialogue/response_quality").out
    assert "no room 'dialog'" in cli("judge", "rubrics", "dialog", code=2).err


# Asking


def opinion(request: Request) -> Reply:
    """As many points as the reply has exclamation marks; no readable answer about a reply with a question mark."""
    reply = request.body["messages"][1]["content"].partition("BEGIN response")[2]
    if "?" in reply:
        return completion("I would rather not say.")
    return completion(json.dumps({"reasoning": "counted", "helpfulness": reply.count("!")}))


def test_a_judge_is_asked_recorded_and_replayed(cli: Cli, sqlite_path: str, tmp_path: Path) -> None:
    shown = ["Yes!!!!!", "No!!", "Well!!!", "What?"]
    rows = [(f"call {n}", n + 1, "Is it?", text) for n, text in enumerate(shown)]
    ratings = write_csv(tmp_path / "human.csv", ["id", "rating", "user", "response"], rows)
    words = ("judge", "calibrate", "--ratings", ratings, "--rubric", RUBRIC, "--db", sqlite_path, "--json")
    cassette = tmp_path / "cassette"
    with Server(opinion) as server:
        named = ("--judge-url", server.url, "--judge-model", MODEL)
        asked = cli(*words, *named, "--judge-cassette", cassette)
        requests = len(server.requests)
    (found,) = asked.json()["calibrations"]
    # People 1, 2, 3 (and 4, where the judge has no score); the judge 5, 2, 3.
    assert (found["n"], found["statistics"]["exact"]["value"]) == (3, pytest.approx(2 / 3))
    assert found["statistics"]["bias"]["value"] == pytest.approx(4 / 3)
    assert found["disagreements"] == [{"id": "call 0", "human": 1.0, "judge": 5.0, "reasoning": "counted"}]
    assert sum(found["unscored"].values()) == 1
    assert requests >= 5  # four questions, and one more for the answer that could not be read
    assert f"judge {MODEL}: " in asked.err
    (again,) = cli(*words, "--judge-replay", cassette).json()["calibrations"]
    assert again == {**found, "judged": "replayed"}
    assert [record.n for record in kept(sqlite_path, MODEL)] == [3, 3]


def test_a_wrong_option_of_the_judge(cli: Cli, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "human.csv", ["id", "rating", "user", "response"], [("a", 5, "?", "yes")])
    words = ("judge", "calibrate", "--rubric", RUBRIC, "--ratings", path)
    assert "--judge-repeats" in cli(*words, "--judge-model", "m", "--judge-repeats", 0, code=2).err
    assert "one of the two" in cli(*words, "--judge-cassette", tmp_path, "--judge-replay", tmp_path, code=2).err
