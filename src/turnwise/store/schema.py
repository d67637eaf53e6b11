"""The tables. JSON is kept as text, so that both databases hold, and give back, the same bytes.

A change here needs a migration in `migrations/versions` and a new `HEAD`; a test compares the two. The views on them
(`views.py`) must be dropped before it, and created anew after it.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)

HEAD = "0003"
"""The migration that the tables below correspond to."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)


def _run_column() -> Column[int]:
    return Column("run", Integer, ForeignKey("runs.key", ondelete="CASCADE"), primary_key=True, autoincrement=False)


runs = Table(
    "runs",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("suite", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("finished", Text),
    Column("updated", Text, nullable=False),
    Column("dataset_fingerprint", Text, nullable=False),
    Column("turnwise_version", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("environment", Text, nullable=False),
    Column("findings", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("process", Text, nullable=False),
    CheckConstraint("status IN ('running', 'finished', 'failed', 'interrupted')", name="status"),
)

run_metrics = Table(
    "run_metrics",
    metadata,
    _run_column(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("signature", Text, nullable=False),
    sqlite_with_rowid=False,
)

batches = Table(
    "batches",
    metadata,
    _run_column(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

items = Table(
    "items",
    metadata,
    _run_column(),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("dimensions", Text, nullable=False),
    Column("content", Text),
    sqlite_with_rowid=False,
)


def _score_columns(keyed: bool) -> list[Column[object]]:
    """The columns of a score, for the live table (keyed) and for its history."""
    return [
        Column("metric", Integer, primary_key=keyed, nullable=False, autoincrement=False),
        Column("output", Text, primary_key=keyed, nullable=False),
        Column("variant", Text, primary_key=keyed, nullable=False),
        Column("item", BigInteger, primary_key=keyed, nullable=False, autoincrement=False),
        Column("repeat", Integer, primary_key=keyed, nullable=False, autoincrement=False),
        Column("source", Text, primary_key=keyed, nullable=False),
        Column("rater", Text, primary_key=keyed, nullable=False),
        Column("value", Double),
        Column("label", Text),
        Column("statistics", Text),
        Column("parts", Text),
        Column("status", Text, nullable=False),
        Column("reason", Text),
        Column("evidence", Text),
        Column("rated", Text),
    ]


# PostgreSQL sorts NaN above every number, so BETWEEN refuses it there; SQLite turns NaN into NULL, which the
# second rule refuses.
_FINITE = "value IS NULL OR value BETWEEN -1.7e308 AND 1.7e308"
_CONSISTENT = (
    "(status = 'scored' AND (value IS NOT NULL OR label IS NOT NULL)) OR "
    "(status IN ('not_applicable', 'skipped', 'error') AND value IS NULL AND label IS NULL AND reason IS NOT NULL)"
)

scores = Table(
    "scores",
    metadata,
    _run_column(),
    *_score_columns(keyed=True),
    CheckConstraint(_FINITE, name="finite"),
    CheckConstraint(_CONSISTENT, name="consistent"),
    sqlite_with_rowid=False,
)

score_history = Table(
    "score_history",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("run", Integer, ForeignKey("runs.key", ondelete="CASCADE"), nullable=False, index=True),
    *_score_columns(keyed=False),
    Column("changed", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
)

rollups = Table(
    "rollups",
    metadata,
    _run_column(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("result", Text, nullable=False),
    sqlite_with_rowid=False,
)

artifacts = Table(
    "artifacts",
    metadata,
    _run_column(),
    Column("name", Text, primary_key=True),
    Column("path", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("rubric", Text, nullable=False),
    Column("rubric_hash", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("dimension", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("record", Text, nullable=False),
)

Index("ix_runs_suite_started", runs.c.suite, runs.c.started)
Index("ix_items_run_id", items.c.run, items.c.id)
Index("ix_calibrations_rubric_hash_model", calibrations.c.rubric_hash, calibrations.c.model)
