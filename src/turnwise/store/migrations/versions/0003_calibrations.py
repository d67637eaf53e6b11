"""How well judges agree with people.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calibrations",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("rubric", sa.Text(), nullable=False),
        sa.Column("rubric_hash", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_calibrations")),
    )
    op.create_index("ix_calibrations_rubric_hash_model", "calibrations", ["rubric_hash", "model"], unique=False)
