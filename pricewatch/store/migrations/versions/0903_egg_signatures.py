"""The signature of a deployed version."""

from alembic import op

revision = "0903"
down_revision = "0902"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE eggs ADD COLUMN signature text")
