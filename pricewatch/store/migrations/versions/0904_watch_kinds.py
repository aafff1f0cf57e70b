"""More kinds of watch rules: any change, the lowest price so far, the lowest price in 30 days."""

from alembic import op

revision = "0904"
down_revision = "0903"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE watch_rules DROP CONSTRAINT ck_watch_rules_kind")
    op.execute("""
        ALTER TABLE watch_rules ADD CONSTRAINT ck_watch_rules_kind CHECK (kind IN (
            'price_at_or_below', 'fell_by', 'rose_by', 'any_change', 'lowest_ever', 'lowest_in_30_days',
            'back_in_stock', 'sold', 'gone'))
    """)
