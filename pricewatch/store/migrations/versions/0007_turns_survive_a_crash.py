"""Turns survive a crash of the database: those given before it still stand in the processes that wait"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE rate_limits SET LOGGED")


def downgrade() -> None:
    op.execute("ALTER TABLE rate_limits SET UNLOGGED")
