"""Targets whose page is missing or moved, and listings that wait for verification outside any market"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

OLD_REASONS = (
    "'VALIDATION_FAILED', 'DRIFT_DETECTED', 'SELECTOR_FAILURE', 'NORMALIZATION_FAILED',"
    " 'ZERO_PRICE_EXTRACTED', 'AMBIGUOUS_PRICE'"
)


def _check_reason(words: str) -> None:
    op.execute("ALTER TABLE quarantine DROP CONSTRAINT ck_quarantine_reason")
    op.execute(f"ALTER TABLE quarantine ADD CONSTRAINT ck_quarantine_reason CHECK (reason IN ({words}))")


def upgrade() -> None:
    _check_reason(f"{OLD_REASONS}, 'MOVED'")
    op.execute("ALTER TABLE targets ADD COLUMN missing_since timestamptz")
    op.execute(
        "CREATE INDEX ix_listings_handed_over_alone ON listings (source_id, verification_requested_at)"
        " WHERE verification_requested_at IS NOT NULL AND market_id IS NULL"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ix_listings_handed_over_alone")
    op.execute("ALTER TABLE targets DROP COLUMN missing_since")
    op.execute("UPDATE quarantine SET reason = 'VALIDATION_FAILED' WHERE reason = 'MOVED'")
    _check_reason(OLD_REASONS)
