"""Runs of any spider, not only of the four that come with pricewatch"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

OURS = "spider IN ('discovery', 'sweep', 'verification', 'targets')"


def upgrade() -> None:
    _check_spider("char_length(spider) BETWEEN 1 AND 100")


def downgrade() -> None:
    # Older versions cannot show these runs, nor enable these spiders; prices and held offers stay.
    op.execute(f"DELETE FROM runs WHERE NOT ({OURS})")
    op.execute("DELETE FROM adapter_status WHERE adapter_id LIKE 'spider:%'")
    op.execute("DELETE FROM adapter_batches WHERE adapter_id LIKE 'spider:%'")
    _check_spider(OURS)


def _check_spider(rule: str) -> None:
    op.drop_constraint(op.f("ck_runs_spider"), "runs", type_="check")
    op.create_check_constraint(op.f("ck_runs_spider"), "runs", rule)
