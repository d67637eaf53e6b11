"""How far a run has come, as anybody can see from the store: what is measured, how fast, and for how long still."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select

from turnwise.store import schema
from turnwise.store.run import Run
from turnwise.store.store import Store


class HowFar(NamedTuple):
    """What is known of a run that has not finished."""

    done: int
    """Items that are measured and kept."""
    total: int | None
    batches: int
    per_second: float | None
    """Since the run began; None before anything is there."""
    seconds_left: float | None
    updated: str


def how_far(store: Store, run: Run) -> HowFar:
    """The state of a run, from what it has written so far."""
    done = store.count_items(run, run.config.get("unit"))
    table = schema.batches
    with store.reading() as connection:
        query = select(func.count()).select_from(table).where(table.c.run == run.key)
        batches = int(connection.scalar(query) or 0)
    total = run.config.get("items")
    taken = (datetime.fromisoformat(run.updated) - datetime.fromisoformat(run.started)).total_seconds()
    speed = done / taken if done and taken > 0 else None
    left = (total - done) / speed if speed and total is not None else None
    return HowFar(done, total, batches, speed, left, run.updated)
