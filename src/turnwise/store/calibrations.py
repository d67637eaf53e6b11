"""What is known about how well a judge agrees with people: kept per rubric hash, model and dimension.

A record is only ever added. What was known last month stays readable, and the newest one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, and_, insert, select

from turnwise.kernel.jsontext import clean, dumps_clean, loads
from turnwise.store import schema
from turnwise.store.run import Run, now
from turnwise.store.store import Store


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """One comparison of a judge with people on one dimension of a rubric."""

    rubric: str
    rubric_hash: str
    model: str
    dimension: str
    created: str
    """When, in UTC."""
    n: int
    """Items that both a person and the judge scored."""
    record: Mapping[str, Any]
    """Everything that was found, as `turnwise judge calibrate --json` prints it."""


def save_calibration(
    store: Store, *, rubric: str, rubric_hash: str, model: str, dimension: str, n: int, record: Mapping[str, Any]
) -> CalibrationRecord:
    """Add a record; those that are there stay."""
    text = dumps_clean(record)
    kept = CalibrationRecord(clean(rubric), rubric_hash, clean(model), clean(dimension), now(), n, loads(text))
    values = {name: getattr(kept, name) for name in _COLUMNS}
    with store.writing() as connection:
        connection.execute(insert(schema.calibrations).values({**values, "record": text}))
    return kept


def calibrations(store: Store, rubric_hash: str, model: str) -> list[CalibrationRecord]:
    """All records of a rubric hash and a model, of every dimension, the newest first."""
    table = schema.calibrations
    chosen = (table.c.rubric_hash == rubric_hash, table.c.model == model)
    query = select(*(table.c[name] for name in _COLUMNS)).where(*chosen).order_by(table.c.key.desc())
    with store.reading() as connection:
        return [_from_row(row) for row in connection.execute(query)]


def newest_calibrations(store: Store, rubric_hash: str, model: str) -> dict[str, CalibrationRecord]:
    """The record that counts for each dimension."""
    found: dict[str, CalibrationRecord] = {}
    for record in calibrations(store, rubric_hash, model):
        found.setdefault(record.dimension, record)
    return found


_COLUMNS = ("rubric", "rubric_hash", "model", "dimension", "created", "n", "record")


def _from_row(row: Row[Any]) -> CalibrationRecord:
    found = row._asdict()
    return CalibrationRecord(**{**found, "record": loads(found["record"])})


class OutputScore(NamedTuple):
    """A score of one output of a metric, with the item it is about."""

    item: int
    """The item's number in the run."""
    id: str
    cluster: str
    source: str
    value: float | None
    label: str | None
    status: str
    reason: str | None
    evidence: str | None
    """JSON text."""


def output_scores(store: Store, run: Run, metric: int, output: str) -> list[OutputScore]:
    """Every score of one output of a run's metric, in the order of the data."""
    t, i = schema.scores, schema.items
    fields = (t.c[name] for name in ("source", "value", "label", "status", "reason", "evidence"))
    query = (
        select(t.c.item, i.c.id, i.c.cluster, *fields)
        .join(i, and_(i.c.run == t.c.run, i.c.number == t.c.item))
        .where(t.c.run == run.key, t.c.metric == metric, t.c.output == output)
        .order_by(t.c.item, t.c.repeat)
    )
    with store.reading() as connection:
        return [OutputScore(*row) for row in connection.execute(query)]
