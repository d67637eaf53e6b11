"""The runs of `turnwise demo`: which there are, and that they show what they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

import turnwise
from turnwise.demo import DemoRun, demo_runs, examples_folder

RUNS = {run.folder: run for run in demo_runs()}


def evaluate(run: DemoRun, out: Path) -> turnwise.Result:
    return turnwise.evaluate(None, suite=run.room, **{**run.options, "resamples": 100, "out": out})


def test_every_run_has_a_folder_of_its_own() -> None:
    assert [run.folder for run in demo_runs()] == list(RUNS)
    dialogue = ["dialogue", "dialogue/version-2", "dialogue/delexicalised", "dialogue/trials"]
    translation = ["translation", "translation/version-2", "translation/ground-truth"]
    duplex = ["duplex", "duplex/recordings", "duplex/recordings-version-2"]
    assert list(RUNS) == [*dialogue, *translation, *duplex]


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
        ("translation", "bleu"),
        ("translation", "chrf"),
        ("translation", "mcd"),
        ("translation/version-2", "mcd"),
        ("duplex", "challenge_total"),
        ("duplex/recordings", "stop_latency"),
        ("duplex/recordings-version-2", "stop_latency"),
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
