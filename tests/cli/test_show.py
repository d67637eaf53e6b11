"""Looking at what is kept: `runs`, `show`, `export`, `metrics`, `doctor`, `db upgrade`, `demo`."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import EXAMPLE, Cli
from turnwise import __version__
from turnwise.rooms import ROOMS
from turnwise.store.store import Store

# runs


def test_runs(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    assert cli("runs", "--db", db, "--json").json() == []
    ids = []
    for version in ("1", "2"):
        words = ("run", "dialogue", *EXAMPLE, "--db", db, "--resamples", 100, "--version", version, "--json")
        ids.append(cli(*words).json()["run"]["id"])
    found = cli("runs", "--db", db, "--json").json()
    assert [run["id"] for run in found] == ids[::-1]  # the newest first
    assert [run["status"] for run in found] == ["finished", "finished"]
    assert found[0]["dataset_fingerprint"] == found[1]["dataset_fingerprint"]
    table = cli("runs", "--db", db).out
    assert table.startswith(f"2 runs in {db}\n")
    assert ids[0] in table
    assert cli("runs", "--db", db, "--room", "dialogue", "--json").json() == found


def test_runs_of_a_room_that_does_not_exist(cli: Cli) -> None:
    done = cli("runs", "--room", "dialoge", code=2)
    assert "did you mean dialogue?" in done.err


# show


@pytest.mark.parametrize("name", ["latest", "{id}", "{start}"])
def test_show_is_the_summary_again(cli: Cli, kept: tuple[str, str], name: str) -> None:
    db, run = kept
    found = cli("show", name.format(id=run, start=run[:-2]), "--db", db, "--json").json()
    assert found["run"]["id"] == run
    assert found["run"]["status"] == "finished"
    values = {r["metric"]: r["value"] for r in found["results"] if r["primary"] and not r["group"]}
    assert values["joint_goal_accuracy"] == pytest.approx(21 / 52)
    shown = cli("show", run, "--db", db)
    assert shown.out.startswith("dialogue: bot 1 (turnwise profile)\n")
    assert "coverage: 12 of 12 dialogues, 51 of 52 exchanges" in shown.err


def test_show_by(cli: Cli, kept: tuple[str, str]) -> None:
    db, _ = kept
    found = cli("show", "latest", "--db", db, "--by", "scenario", "--by", "domain,slot", "--json").json()
    assert {tuple(r["group"]) for r in found["results"]} == {(), ("scenario",), ("domain", "slot")}
    table = cli("show", "latest", "--db", db, "--by", "scenario").out
    assert "joint_goal_accuracy (micro) by scenario, worst first" in table
    values = [float(re.split(r"\s{2,}", row)[1]) for row in _rows(table, "joint_goal_accuracy (micro) by scenario")]
    assert values == sorted(values)
    done = cli("show", "latest", "--db", db, "--by", "scenaro", code=2)
    assert "did you mean scenario?" in done.err


def _rows(text: str, title: str) -> list[str]:
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(title)) + 2
    end = next((i for i, line in enumerate(lines) if i > start and not line), len(lines))
    return lines[start:end]


def test_show_item(cli: Cli, kept: tuple[str, str]) -> None:
    db, _ = kept
    found = cli("show", "latest", "--db", db, "--item", "hotel-02/1", "--json").json()
    assert found["item"]["id"] == "hotel-02/1"
    assert found["item"]["content"]["reference"]["state"]["hotel-area"] == "south"
    scores = {score["metric"]: score for score in found["scores"]}
    area = {"slot": "hotel-area", "expected": "south", "found": "north"}
    assert scores["dialogue/joint_goal_accuracy"]["evidence"] == [area]
    shown = cli("show", "latest", "--db", db, "--item", "hotel-02/1").out
    assert "dialogue/slot_accuracy: 0.6667" in shown
    assert json.dumps(area) in shown or json.dumps(area, separators=(",", ":")) in shown
    missing = cli("show", "latest", "--db", db, "--item", "train-02/2").out
    assert "dialogue/slot_hallucination: skipped: missing prediction" in missing
    done = cli("show", "latest", "--db", db, "--item", "hotel-02/99", code=2)
    assert "has no item 'hotel-02/99'" in done.err


def test_show_of_what_is_not_there(cli: Cli, kept: tuple[str, str], tmp_path: Path) -> None:
    db, run = kept
    done = cli("show", run[:-1] + "x", "--db", db, code=2)
    assert f"did you mean {run}?" in done.err
    assert "no run is stored here yet" in cli("show", "latest", "--db", tmp_path / "new.sqlite", code=2).err


def test_show_of_an_unfinished_run_follows_what_is_measured(
    cli: Cli, tmp_path: Path, begin_run: Any, make_batch: Any
) -> None:
    """Results of a run that is still being measured must not be kept as if they were final."""
    db = str(tmp_path / "runs.sqlite")
    store = Store(db)
    run = begin_run(store)
    for index, n_total in enumerate((2, 4)):
        store.write_batch(run, make_batch(index, [0.0, 1.0]))
        found = cli("show", run.id, "--db", db, "--json").json()
        [whole] = [r for r in found["results"] if r["metric"] == "slot_accuracy" and r["primary"] and not r["group"]]
        assert whole["n_total"] == n_total
    assert f"run {run.id} is running" in cli("show", run.id, "--db", db).err
    store.close()


# export


def test_export_to_standard_output_and_to_a_file(cli: Cli, kept: tuple[str, str], tmp_path: Path) -> None:
    db, run = kept
    printed = cli("export", run, "--db", db).out
    rows = list(csv.DictReader(io.StringIO(printed)))
    # 4 state metrics, 10 outputs of routing and acts, 5 of policy and correctness, 3 operations, no judge;
    # 2 of dialogues.
    assert len(rows) == 52 * (4 + 10 + 5 + 3 + 1) + 12 * 2
    cli("export", run, "--db", db, "--out", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == printed
    lines = [json.loads(line) for line in cli("export", run, "--db", db, "--format", "jsonl").out.splitlines()]
    assert len(lines) == len(rows)
    assert cli("export", run, "--db", db, "--json").out == cli("export", run, "--db", db, "-f", "jsonl").out
    cli("export", run, "--db", db, "-f", "parquet", "-o", tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet").num_rows == len(rows)


def test_export_tables(cli: Cli, kept: tuple[str, str]) -> None:
    db, run = kept
    markdown = cli("export", run, "--db", db, "-f", "markdown", "--by", "domain").out
    assert "| metric | roll-up | value | 95 % interval | n | missing |" in markdown
    assert "**joint_goal_accuracy (micro) by domain, worst first**" in markdown
    assert "\\begin{tabular}" in cli("export", run, "--db", db, "-f", "latex").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "markdwon"), "did you mean markdown?"),
        (("--format", "parquet"), "name a file: --out scores.parquet"),
        (("--format", "latex", "--by", "nothing"), "no item has that dimension"),
    ],
)
def test_export_wrongly(cli: Cli, kept: tuple[str, str], words: tuple[str, ...], message: str) -> None:
    assert message in cli("export", "latest", "--db", kept[0], *words, code=2).err


@pytest.mark.parametrize("form", ["csv", "markdown", "parquet"])
@pytest.mark.parametrize("place", ["nothing/x", "file/x", "."])
def test_export_to_a_place_that_cannot_be_written(
    cli: Cli, kept: tuple[str, str], tmp_path: Path, form: str, place: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = cli("export", "latest", "--db", kept[0], "-f", form, "--out", tmp_path / place, code=1)
    assert "cannot be written" in done.err


# metrics


def test_metrics(cli: Cli) -> None:
    found = cli("metrics", "--room", "dialogue", "--json").json()
    assert [spec["metric"] for spec in found][:4] == [
        "dialogue/domain_accuracy",
        "dialogue/intent_accuracy",
        "dialogue/action_type_accuracy",
        "dialogue/act_slot_accuracy",
    ]
    everything = cli("metrics", "--json").json()
    assert [spec for spec in everything if spec["metric"].startswith("dialogue/")] == found
    assert {spec["metric"].partition("/")[0] for spec in everything} >= set(ROOMS)
    assert "How much of what the user asked for was tracked?" in cli("metrics").out


def test_one_metric(cli: Cli) -> None:
    found = cli("metrics", "slot_hallucination", "--json").json()
    assert found == cli("metrics", "dialogue/slot_hallucination", "--json").json()
    assert found["outputs"][0]["rollups"] == ["micro", "macro"]
    assert found["outputs"][0]["primary"] == "micro"
    assert found["settings"][1]["by_profile"] == {"spec": "reference"}
    shown = cli("metrics", "slot_hallucination").out
    assert "--set scope=active (active | reference | all); spec: reference:" in shown
    assert "lower is better" in shown


def test_a_metric_or_room_nobody_knows(cli: Cli) -> None:
    assert "did you mean slot_accuracy" in cli("metrics", "slot_acuracy", code=2).err
    done = cli("metrics", "--room", "dialog", code=2)
    assert "did you mean dialogue?" in done.err


# doctor and db


def test_doctor(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    found = cli("doctor", "--db", db, "--json").json()
    assert found["turnwise"] == __version__
    assert found["packages"]["numpy"]
    assert {extra["name"] for extra in found["extras"]} >= {"postgres", "parquet", "audio", "neural"}
    assert all(extra["enables"] for extra in found["extras"])
    assert found["database"] == {
        "place": str(db),
        "reachable": True,
        "schema": None,
        "note": "made at the first run",
    }
    assert not db.exists()  # asking makes nothing
    cli("runs", "--db", db)
    assert cli("doctor", "--db", db, "--json").json()["database"]["schema"]
    shown = cli("doctor", "--db", db).out
    assert f"turnwise {__version__} on Python 3." in shown
    assert "reachable" in shown
    for extra in found["extras"]:
        assert f"extra {extra['name']}: {'installed' if extra['installed'] else 'missing'}" in shown


@pytest.mark.parametrize(
    "db",
    ["postgresql://127.0.0.1:1/nothing", "postgresql://user:secret@127.0.0.1:1/x", "mysql://x/y", "{text}", "{dir}"],
)
def test_doctor_of_a_database_that_does_not_answer(cli: Cli, tmp_path: Path, db: str) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be looked at " * 100, encoding="utf-8")
    place = db.format(text=tmp_path / "notes.txt", dir=tmp_path)
    found = cli("doctor", "--db", place, "--json", code=1).json()
    assert found["database"]["reachable"] is False
    assert found["database"]["note"]
    shown = cli("doctor", "--db", place, code=1)
    assert "NOT reachable" in shown.out
    assert "None" not in shown.out.splitlines()[-1]
    assert "secret" not in shown.out + shown.err


def test_db_upgrade(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    first = cli("db", "upgrade", "--db", db, "--json").json()
    assert (first["database"], first["before"]) == (str(db), None)
    again = cli("db", "upgrade", "--db", db, "--json").json()
    assert again["before"] == again["after"] == first["after"]
    assert "nothing to do" in cli("db", "upgrade", "--db", db).out
    assert cli("runs", "--db", db, "--json").json() == []


def test_a_database_of_another_version_says_how_to_go_on(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "runs.sqlite"
    cli("runs", "--db", db)
    connection = sqlite3.connect(db)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    done = cli("runs", "--db", db, code=1)
    assert "written by another version of turnwise" in done.err
    assert "turnwise db upgrade" in done.err


# demo


def test_demo(program: Cli, tmp_path: Path) -> None:
    done = program("demo", "--out", "results")
    assert (tmp_path / "results" / "dialogue" / "summary.json").is_file()
    assert "Where to look:" in done.err
    assert str(Path("results") / "dialogue" / "summary.json") in done.err
    rooms = {
        json.loads(path.read_text(encoding="utf-8"))["run"]["suite"]
        for path in (tmp_path / "results").glob("*/summary.json")
    }
    assert rooms == set(ROOMS)
    again = program("demo", "--out", "results", "--json")  # a second time, into the same folder
    assert again.json()["dialogue"]["run"]["system"] == "example assistant"


def test_demo_without_its_examples(cli: Cli, tmp_path: Path) -> None:
    done = cli("demo", "--examples", tmp_path / "nothing", "--out", tmp_path / "results", code=2)
    assert "nothing" in done.err
