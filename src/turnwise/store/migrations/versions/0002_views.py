"""Views of the assistant room's turns, for SQL.

Revision ID: 0002
"""

from alembic import op

from turnwise.store.views import create_views

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_views(op.get_bind(), revision)
