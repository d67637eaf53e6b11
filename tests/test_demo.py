"""The runs of `turnwise demo` and what it plays live: which there are, and that they show what they are there for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

import turnwise
from turnwise.cli.demo import demo
from turnwise.demo import DemoRun, demo_rehearsal, demo_runs, examples_folder, missing_for_rehearsal

RUNS = {run.folder: run for run in demo_runs()}


def evaluate(run: DemoRun, out: Path) -> turnwise.Result:
    return turnwise.evaluate(None, suite=run.room, **{**run.options, "resamples": 100, "out": out})


def test_every_run_has_a_folder_of_its_own() -> None:
    assert [run.folder for run in demo_runs()] == list(RUNS)
    dialogue = ["dialogue", "dialogue/version-2", "dialogue/delexicalised", "dialogue/trials"]
    assistant = ["assistant"]
    translation = ["translation", "translation/version-2", "translation/ground-truth"]
    duplex = ["duplex", "duplex/recordings", "duplex/recordings-version-2"]
    interpreting = ["interpreting", "interpreting/version-2"]
    assert list(RUNS) == [*dialogue, *assistant, *translation, *duplex, *interpreting]


def test_every_example_is_run() -> None:
    runs = [run for run in RUNS.values() if run.room == "dialogue"]
    used = {value for run in runs for value in run.options.values() if isinstance(value, Path)}
    folder = examples_folder() / "dialogue"
    assert used == {*folder.glob("*.jsonl"), folder / "database"}


@pytest.mark.parametrize(
    ("folder", "metric"),
    [
        ("dialogue", "entity_hallucination"),
        ("dialogue/version-2", "task_completion"),
        ("dialogue/delexicalised", "inform"),
        ("dialogue/delexicalised", "success"),
        ("dialogue/trials", "memory_transfer"),
        ("dialogue/trials", "task_reward"),
        ("assistant", "objective_quality_score"),
        ("translation", "bleu"),
        ("translation", "chrf"),
        ("translation", "mcd"),
        ("translation/version-2", "mcd"),
        ("duplex", "challenge_total"),
        ("duplex/recordings", "stop_latency"),
        ("duplex/recordings-version-2", "stop_latency"),
        ("interpreting", "barge_in"),
        ("interpreting/version-2", "barge_in"),
    ],
)
def test_what_a_run_is_there_for_is_measured(folder: str, metric: str, tmp_path: Path) -> None:
    assert evaluate(RUNS[folder], tmp_path).value(metric) is not None


def test_calls_that_cannot_be_heard_are_known_from_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwise.demo.find_spec", lambda _name: None)
    runs = {run.folder: run.options for run in demo_runs()}
    recordings = [runs[f"duplex/recordings{version}"]["recordings"] for version in ("", "-version-2")]
    assert [(path.parent.name, path.name) for path in recordings] == [
        ("recordings", "truth.jsonl"),
        ("recordings_v2", "truth.jsonl"),
    ]
    assert all(path.is_file() for path in recordings)


# What is played live

LONGEST_S = 20
NEAR_MS = 150.0
"""Machines that run tests are busy."""


def test_two_scenarios_are_played_to_a_simulated_interpreter(tmp_path: Path) -> None:
    told: list[str] = []
    driven = demo_rehearsal(tmp_path, told=lambda scenario, _, what: told.append(f"{scenario.id}: {what}"))
    assert [(one.scenario.id, one.folder) for one in driven] == [
        ("patient_correction", tmp_path / "patient_correction"),
        ("no_barge_in", tmp_path / "no_barge_in"),
    ]
    assert sorted(told) == [
        f"{name}: {what}" for name in ("no_barge_in", "patient_correction") for what in ("done", "started")
    ]
    heard = {}
    for one in driven:
        capture = json.loads((one.folder / "capture.json").read_text(encoding="utf-8"))
        assert "reason" not in capture
        assert all("start_ms" in turn for turn in capture["turns"])
        assert capture["ended_ms"] < 1000 * LONGEST_S
        heard[one.scenario.id] = sum(event.get("audible_ms", 0.0) for event in one.capture.events)
    # An answer lasts 2500 ms. The first to the patient is cut off 1600 + 200 ms after it began.
    assert heard["no_barge_in"] == pytest.approx(2500 + 2500, abs=1)
    assert heard["patient_correction"] == pytest.approx(1600 + 200 + 2500, abs=2 * NEAR_MS)


def only_one_run(examples: Path | None = None) -> Iterator[DemoRun]:
    return islice(demo_runs(examples), 1)


def test_the_demonstration_says_what_it_played_and_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("turnwise.demo.demo_runs", only_one_run)
    demo(out=tmp_path, examples=None, json=False)
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("patient_correction"))
    rows = [line.split(maxsplit=3) for line in lines[first : first + 2]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("patient_correction", "2/2", "played to its end"),
        ("no_barge_in", "2/2", "played to its end"),
    ]
    assert [float(row[2]) for row in rows] == pytest.approx([4.3, 5.0], abs=2 * NEAR_MS / 1000)
    where = printed.err.split("Where to look:")[1]
    played = "captures/patient_correction"
    for place in ("dialogue/summary.json", "dialogue/turns.csv", f"{played}/events.jsonl", f"{played}/timeline.html"):
        assert str(tmp_path / place) in where
    result = json.loads((tmp_path / played / "barge_in.json").read_text())
    assert result["score"] > 90  # what was played is scored, and the simulated interpreter is a good one
    assert f"barge-in patient_correction correction: {result['score']:.1f}" in printed.err


def test_without_its_packages_nothing_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert missing_for_rehearsal() == []
    monkeypatch.setattr("turnwise.demo.find_spec", lambda name: None if name == "websockets" else name)
    assert missing_for_rehearsal() == ["live"]
    monkeypatch.setattr("turnwise.demo.demo_runs", only_one_run)
    demo(out=tmp_path, examples=None, json=True)
    printed = capsys.readouterr()
    assert 'Remedy: pip install "turnwise[live]"' in printed.err
    assert json.loads(printed.out)["captures"] == []
    assert not (tmp_path / "captures").exists()


def test_pictures_and_events_of_calls_are_pointed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("turnwise.demo.missing_for_rehearsal", lambda: ["live"])
    monkeypatch.setattr("turnwise.demo.demo_runs", lambda _examples: [RUNS["duplex/recordings"]])
    demo(out=tmp_path, examples=None, json=True)
    where = capsys.readouterr().err.split("Where to look:")[1]
    folder = tmp_path / "duplex" / "recordings"
    for place in ("summary.json", "events.csv", "timelines/*.html"):
        assert str(folder / place) in where
        assert list(folder.glob(place))
