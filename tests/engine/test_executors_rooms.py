"""Every room on its examples: the same items and scores in the store, whatever the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from turnwise.demo import demo_runs
from turnwise.engine.job import run_job
from turnwise.engine.options import parse_options
from turnwise.rooms import get_suite, register_metrics
from turnwise.store import schema
from turnwise.store.run import Run
from turnwise.store.store import Store

distributed = pytest.importorskip("distributed")

ROOMS: dict[str, dict[str, Any]] = {
    "dialogue": {"baselines": True},
    "assistant": {"embedding": "none"},
    "translation": {"metrics": ["bleu", "chrf", "ter", "mcd"], "baselines": True},
    "duplex/recordings": {"timelines": False},
    "interpreting": {"timelines": False},
}
"""By the folders of the demonstration, with what is asked for differently: nothing that needs a model."""
SMALL = {
    "turnwise.dialogue.load.BATCH_EXCHANGES": 12,
    "turnwise.assistant.load.BATCH": 8,
    "turnwise.translation.load.BATCH_WITH_AUDIO": 5,
    "turnwise.duplex.load.BATCH_WITH_AUDIO": 1,
    "turnwise.interpreting.load.BATCH_OF_CALLS": 1,
}
"""So many records are a batch here: the examples are few."""


def kept(store: Store, run: Run) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a run in the order of their keys, all columns but the run's own."""
    found = {}
    with store.reading() as connection:
        for table in (schema.batches, schema.items, schema.scores):
            query = select(*table.columns[1:]).where(table.c.run == run.key).order_by(*table.primary_key.columns)
            found[table.name] = [tuple(row) for row in connection.execute(query)]
    return found


def differing(found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> list[Any]:
    """The rows that one side has and the other has not."""
    return sorted(set(found) ^ set(expected), key=repr) or [len(found)] * (len(found) != len(expected))


@pytest.mark.parametrize("folder", ROOMS)
def test_the_same_rows_whatever_the_engine(
    folder: str, sqlite_path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if folder.startswith("duplex") or folder == "translation":
        pytest.importorskip("soundfile")
    register_metrics()
    for name, size in SMALL.items():
        monkeypatch.setattr(name, size)
    example = next(one for one in demo_runs() if one.folder == folder)
    suite, store = get_suite(example.room), Store(sqlite_path)
    rows = {}
    for engine in ("inline", "processes:2", "dask:2"):
        options = {**example.options, **ROOMS[folder], "engine": engine, "resamples": 100}
        outcome = run_job(suite, parse_options(suite, options), store=store)
        rows[engine] = kept(store, outcome.run)
    store.close()
    assert len(rows["inline"]["batches"]) >= 4, "too few batches to come back in another order"
    assert len(rows["inline"]["scores"]) > len(rows["inline"]["items"]) / 2
    for engine in ("processes:2", "dask:2"):
        assert {name: differing(rows[engine][name], found) for name, found in rows["inline"].items()} == {
            "batches": [],
            "items": [],
            "scores": [],
        }
