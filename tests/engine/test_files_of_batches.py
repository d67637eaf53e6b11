"""What measuring a batch reads from files: a worker elsewhere has to see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue.batch import ExchangeBatch
from turnwise.dialogue.database import load_database
from turnwise.dialogue.normalise import load_normaliser
from turnwise.dialogue.resources import Resources
from turnwise.duplex.batch import DuplexBatch
from turnwise.duplex.records import Timeline
from turnwise.engine.executors.chunks import Chunks
from turnwise.translation.batch import SampleBatch
from turnwise.translation.records import Sample


@pytest.fixture
def recordings(tmp_path: Path) -> list[Path]:
    """Two that are there, and one that is not."""
    paths = [tmp_path / name for name in ("a.wav", "b.wav", "missing.wav")]
    for path in paths[:2]:
        path.touch()
    return paths


def sent(*batches: Any) -> tuple[str, ...]:
    task = Chunks(batches).next()
    assert task is not None
    return task.files


def test_recordings_of_translations(recordings: list[Path]) -> None:
    first, second, missing = recordings
    samples = [
        Sample("1", "1", source_audio=first, hypothesis_audio=second, reference_audio=missing),
        Sample("2", "2", source_audio=first, hypothesis_audio=Path("https://example.org/c.wav")),
        Sample("3", "3", hypothesis="no audio"),
    ]
    assert sent(SampleBatch(0, samples)) == (str(first), str(second))


def test_recordings_of_conversations(recordings: list[Path]) -> None:
    timelines = [Timeline("one", audio=tuple(recordings[:1])), Timeline("two", audio=tuple(recordings[1:]))]
    assert sent(DuplexBatch(0, timelines=timelines)) == tuple(map(str, recordings[:2]))


def test_the_database_of_a_dialogue(tmp_path: Path) -> None:
    for domain in ("hotel", "train"):
        (tmp_path / f"{domain}_db.json").write_text(json.dumps([{"name": "one"}]))
    normaliser = load_normaliser("none")
    batch = ExchangeBatch(0, [], normaliser, resources=Resources(database=load_database(tmp_path)))
    assert sent(batch) == (str(tmp_path / "hotel_db.json"), str(tmp_path / "train_db.json"))
    assert sent(ExchangeBatch(0, [], normaliser)) == ()
