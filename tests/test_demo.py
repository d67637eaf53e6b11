"""The runs of `turnwise demo`: which there are, and that they show what they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

import turnwise
from turnwise.demo import DemoRun, demo_runs, examples_folder

RUNS = {run.folder: run for run in demo_runs()}


def evaluate(run: DemoRun) -> turnwise.Result:
    return turnwise.evaluate(None, suite=run.room, **{**run.options, "resamples": 100})


def test_every_run_has_a_folder_of_its_own() -> None:
    assert [run.folder for run in demo_runs()] == list(RUNS)
    dialogue = ["dialogue", "dialogue/version-2", "dialogue/delexicalised", "dialogue/trials"]
    assert list(RUNS) == [*dialogue, "translation", "translation/version-2", "translation/ground-truth"]


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
    ],
)
def test_what_a_run_is_there_for_is_measured(folder: str, metric: str) -> None:
    assert evaluate(RUNS[folder]).value(metric) is not None
