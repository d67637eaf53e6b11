"""What people rated: read back, taken back, and how every rating became what it is.

Ratings are given with `Store.amend`. Nothing is lost by a change: what was there before lies in `score_history`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Table, and_, delete, insert, select, update

from turnwise.kernel.score import Source
from turnwise.store import schema
from turnwise.store.run import Run, now
from turnwise.store.store import Store

WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Rating:
    """What a rater said about an item: a value, or the reason why there is none."""

    item: int
    """The item's number in the run."""
    unit: str
    """Its id."""
    cluster: str
    metric: str
    """Full name."""
    rater: str
    value: float | None
    reason: str | None
    rated: str
    """When, in UTC."""


@dataclass(frozen=True, slots=True)
class Change:
    """One step in the history of a rating; None stands for no value."""

    at: str
    by: str
    unit: str
    metric: str
    rater: str
    before: float | None
    after: float | None
    note: str = ""
    """Why there is no value after it."""


def human_ratings(store: Store, run: Run, rater: str | None = None) -> list[Rating]:
    """The ratings of a run as they stand, of everybody or of one rater, in the order of the data."""
    with store.reading() as connection:
        return [_rating(row) for row in _joined(connection, schema.scores, run, rater)]


def withdraw(store: Store, run: Run, ratings: Iterable[Rating], by: str) -> int:
    """Take ratings back: they go into the history, and the roll-ups they were part of are dropped.

    Returns how many were still there.
    """
    table, metrics, stamp, gone = schema.scores, schema.run_metrics, now(), 0
    with store.writing() as connection:
        connection.execute(select(schema.runs.c.key).where(schema.runs.c.key == run.key).with_for_update())
        named = select(metrics.c.name, metrics.c.number).where(metrics.c.run == run.key)
        numbers = {row.name: row.number for row in connection.execute(named)}
        for rating in ratings:
            where = (
                table.c.run == run.key,
                table.c.metric == numbers[rating.metric],
                table.c.item == rating.item,
                table.c.source == Source.HUMAN.value,
                table.c.rater == rating.rater,
            )
            for old in connection.execute(select(table).where(*where)).mappings().all():
                history = {**old, "changed": stamp, "changed_by": by}
                connection.execute(insert(schema.score_history).values(history))
                gone += 1
            connection.execute(delete(table).where(*where))
        connection.execute(delete(schema.rollups).where(schema.rollups.c.run == run.key))
        connection.execute(update(schema.runs).where(schema.runs.c.key == run.key).values(updated=stamp))
    return gone


def rating_changes(store: Store, run: Run) -> list[Change]:
    """Who rated, changed or took back what, and when; the oldest first."""
    with store.reading() as connection:
        past = [
            _version(row, row["changed"], row["changed_by"]) for row in _joined(connection, schema.score_history, run)
        ]
        versions = past + [_version(row) for row in _joined(connection, schema.scores, run)]
    # Sorting keeps the order of what it finds equal: the history as it was written, then what stands.
    versions.sort(key=_about)
    found = [change for _, same in groupby(versions, key=_about) for change in _changes(list(same))]
    return sorted(found, key=lambda change: change.at)


@dataclass(frozen=True, slots=True)
class _Version:
    """A rating from when it was given until it was replaced or taken back."""

    rating: Rating
    metric: int
    """Its number in the run: the order of the scales."""
    until: str | None
    ended_by: str


def _version(row: Any, until: str | None = None, ended_by: str = "") -> _Version:
    return _Version(_rating(row), row["metric"], until, ended_by)


def _about(one: _Version) -> tuple[int, int, str]:
    return one.rating.item, one.metric, one.rating.rater


def _changes(versions: list[_Version]) -> Iterator[Change]:
    """The steps of one rater's rating of one item: given, replaced at the moment the next was given, or taken back."""
    last: _Version | None = None
    for place, one in enumerate(versions):
        r = one.rating
        about = (r.unit, r.metric, r.rater)
        replaced = last if last is not None and last.until == r.rated else None
        by, before = (r.rater, None) if replaced is None else (replaced.ended_by, replaced.rating.value)
        yield Change(r.rated, by, *about, before, r.value, r.reason or "")
        goes_on = place + 1 < len(versions) and versions[place + 1].rating.rated == one.until
        if one.until is not None and not goes_on:
            yield Change(one.until, one.ended_by, *about, r.value, None, WITHDRAWN)
        last = one


def _joined(connection: Connection, table: Table, run: Run, rater: str | None = None) -> list[Any]:
    """Rows of scores that people gave, or of their history, with the names of item and metric."""
    i, m = schema.items, schema.run_metrics
    past = table is schema.score_history
    own = ("item", "metric", "rater", "value", "reason", "rated", *(("changed", "changed_by") if past else ()))
    query = (
        select(*(table.c[name] for name in own), i.c.id, i.c.cluster, m.c.name)
        .join(i, and_(i.c.run == table.c.run, i.c.number == table.c.item))
        .join(m, and_(m.c.run == table.c.run, m.c.number == table.c.metric))
        .where(table.c.run == run.key, table.c.source == Source.HUMAN.value)
        .order_by(*([table.c.key] if past else [table.c.item, table.c.metric, table.c.rater]))
    )
    if rater is not None:
        query = query.where(table.c.rater == rater)
    return list(connection.execute(query).mappings())


def _rating(row: Any) -> Rating:
    said = (row["rater"], row["value"], row["reason"], row["rated"] or "")
    return Rating(row["item"], row["id"], row["cluster"], row["name"], *said)
