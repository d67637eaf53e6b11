"""The first tables.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started", sa.Text(), nullable=False),
        sa.Column("finished", sa.Text(), nullable=True),
        sa.Column("updated", sa.Text(), nullable=False),
        sa.Column("dataset_fingerprint", sa.Text(), nullable=False),
        sa.Column("turnwise_version", sa.Text(), nullable=False),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("process", sa.Text(), nullable=False),
        sa.CheckConstraint("status IN ('running', 'finished', 'failed', 'interrupted')", name=op.f("ck_runs_status")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_runs")),
        sa.UniqueConstraint("id", name=op.f("uq_runs_id")),
    )
    op.create_index("ix_runs_suite_started", "runs", ["suite", "started"], unique=False)
    op.create_table(
        "artifacts",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_artifacts_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "name", name=op.f("pk_artifacts")),
    )
    op.create_table(
        "batches",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_batches_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_batches")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "items",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_items_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_items")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_items_run_id", "items", ["run", "id"], unique=False)
    op.create_table(
        "rollups",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_rollups_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_rollups")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_metrics",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_run_metrics_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_run_metrics")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "score_history",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("metric", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("item", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("repeat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("statistics", sa.Text(), nullable=True),
        sa.Column("parts", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.Column("rated", sa.Text(), nullable=True),
        sa.Column("changed", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_score_history_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_score_history")),
    )
    op.create_index(op.f("ix_score_history_run"), "score_history", ["run"], unique=False)
    op.create_table(
        "scores",
        sa.Column("run", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("metric", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("item", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("repeat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("rater", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("statistics", sa.Text(), nullable=True),
        sa.Column("parts", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.Column("rated", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(status = 'scored' AND (value IS NOT NULL OR label IS NOT NULL)) OR (status IN ('not_applicable', 'skipped', 'error') AND value IS NULL AND label IS NULL AND reason IS NOT NULL)",
            name=op.f("ck_scores_consistent"),
        ),
        sa.CheckConstraint("value IS NULL OR value BETWEEN -1.7e308 AND 1.7e308", name=op.f("ck_scores_finite")),
        sa.ForeignKeyConstraint(["run"], ["runs.key"], name=op.f("fk_scores_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint(
            "run", "metric", "output", "variant", "item", "repeat", "source", "rater", name=op.f("pk_scores")
        ),
        sqlite_with_rowid=False,
    )
