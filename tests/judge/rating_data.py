"""Rubrics and ratings to calibrate with."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from turnwise.judge.calibrate import Calibration, calibrate
from turnwise.judge.calibration_input import Comparable, from_columns, rated_columns
from turnwise.judge.ratings_file import read_ratings
from turnwise.judge.records import Rubric
from turnwise.judge.rubric import rubric_from

ONE_TO_FIVE = {"low": 1, "high": 5}


def make_rubric(**scores: Any) -> Rubric:
    """A rubric of the dialogue room; without scores, one scale `overall` from 1 to 5."""
    content = {
        "name": "quality",
        "room": "dialogue",
        "question": "How good is the reply?",
        "needs": ["user", "response"],
        "sees": ["history"],
        "scores": scores or {"overall": {"asks": "Overall?", "scale": ONE_TO_FIVE}},
    }
    return rubric_from(content, "a test's rubric")


LABELS = make_rubric(
    behaviour={"asks": "What?", "labels": {"yields": "It stops.", "resumes": "It goes on.", "talks": "."}}
)


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def comparable(path: Path, rubric: Rubric, model: str | None = None, dimension: str | None = None) -> Comparable:
    file = read_ratings(path)
    return from_columns(file, rubric, rated_columns(file.columns, rubric, dimension), model)


def found_in(
    tmp_path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]], rubric: Rubric | None = None
) -> Calibration:
    """The one calibration of a file with these rows."""
    (found,) = calibrate(comparable(write_csv(tmp_path / "human.csv", header, rows), rubric or make_rubric()))
    return found


def pairs(n: int, seed: int, noise: float = 0.7, shift: float = 0.3) -> tuple[list[float], list[float]]:
    """Scores of a judge and of people who see the same quality, each with noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    sides = [np.clip(np.round(3.2 + quality + noise * rng.normal(size=n) + by), 1, 5) for by in (shift, 0.0)]
    return sides[0].tolist(), sides[1].tolist()


def values(found: Calibration) -> Mapping[str, float | None]:
    return {name: statistic.value for name, statistic in found.statistics.items()}
