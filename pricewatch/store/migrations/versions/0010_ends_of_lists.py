"""Failures in a row are counted for each spider of a market, and what a partial sweep saw is remembered"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SPIDERS = ("discovery", "sweep", "verification")
# These alerts name their subject in another way from here on: those that are open would stay so.
RESOLVE = "UPDATE alerts SET resolved_at = now() WHERE kind = 'circuit_open' AND resolved_at IS NULL"


def upgrade() -> None:
    op.execute("ALTER TABLE markets ADD COLUMN sweep_last_partial_seen integer")
    for spider in SPIDERS:
        op.execute(
            f"ALTER TABLE markets ADD COLUMN {spider}_failures integer NOT NULL DEFAULT 0,"
            f" ADD COLUMN {spider}_failed_at timestamptz"
        )
        # Nobody knows which of them failed: each rests as the market did.
        op.execute(
            f"UPDATE markets SET {spider}_failures = consecutive_failures,"
            f" {spider}_failed_at = last_failure_at WHERE consecutive_failures > 0"
        )
    op.execute("ALTER TABLE markets DROP COLUMN consecutive_failures, DROP COLUMN last_failure_at")
    op.execute(RESOLVE)


def downgrade() -> None:
    op.execute(
        "ALTER TABLE markets ADD COLUMN consecutive_failures integer NOT NULL DEFAULT 0,"
        " ADD COLUMN last_failure_at timestamptz"
    )
    op.execute(
        "UPDATE markets SET"
        " consecutive_failures = greatest(discovery_failures, sweep_failures, verification_failures),"
        " last_failure_at = greatest(discovery_failed_at, sweep_failed_at, verification_failed_at)"
    )
    for spider in SPIDERS:
        op.execute(f"ALTER TABLE markets DROP COLUMN {spider}_failures, DROP COLUMN {spider}_failed_at")
    op.execute("ALTER TABLE markets DROP COLUMN sweep_last_partial_seen")
    op.execute(RESOLVE)
