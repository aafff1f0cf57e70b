"""The sample marketplace and the East Coast markets"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from pricewatch.store.engine import seed_data

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SOURCES = sa.table(
    "sources",
    *(sa.column(name) for name in ("id", "name", "adapter_id", "domain", "base_url", "visibility")),
    *(
        sa.column(name)
        for name in ("tos_approved_by", "requests_per_second", "min_delay_ms", "max_concurrent")
    ),
)
MARKETS = sa.table(
    "markets",
    *(sa.column(name) for name in ("id", "source_id", "display_name", "city", "state", "tier", "enabled")),
    sa.column("start_pages", JSONB()),
)


def upgrade() -> None:
    op.bulk_insert(SOURCES, seed_data.sources())
    op.bulk_insert(MARKETS, seed_data.markets())


def downgrade() -> None:
    for table, rows in ((MARKETS, seed_data.markets()), (SOURCES, seed_data.sources())):
        op.execute(sa.delete(table).where(table.c.id.in_([row["id"] for row in rows])))
