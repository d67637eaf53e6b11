"""A store for the room of toys, and two versions of the example assistant in one database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import turnwise
from tests.cli.conftest import EXAMPLES, cli, program
from tests.comparison.keeping import toy_room
from turnwise.store.store import Store

__all__ = ["cli", "kept", "program", "toy_room", "versions"]


@pytest.fixture
def kept(toy_room: None, sqlite_path: str) -> Iterator[Store]:
    """A store (SQLite) in which runs of toys can be kept and compared."""
    store = Store(sqlite_path)
    yield store
    store.close()


@dataclass(frozen=True)
class Versions:
    """The database, and the ids of its runs."""

    db: str
    a: str
    b: str
    """The next version, on the same data."""
    other: str
    """On part of the data."""


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Three runs of the dialogue room; tests only read them."""
    folder = tmp_path_factory.mktemp("versions")
    db = str(folder / "runs.sqlite")
    part = folder / "part.jsonl"
    part.write_text("".join((EXAMPLES / "references.jsonl").read_text("utf-8").splitlines(keepends=True)[:9]), "utf-8")
    metrics = ["slot_accuracy", "joint_goal_accuracy", "domain_accuracy", "system_latency_ms", "inform"]

    def run(references: Path, predictions: str, version: str) -> str:
        sides = {"references": references, "predictions": EXAMPLES / predictions}
        made = turnwise.evaluate(
            sides, db=db, metrics=metrics, resamples=200, system="booking assistant", version=version
        )
        return made.run.id

    whole = EXAMPLES / "references.jsonl"
    return Versions(
        db,
        run(whole, "predictions.jsonl", "1"),
        run(whole, "predictions_v2.jsonl", "2"),
        run(part, "predictions_v2.jsonl", "3"),
    )
