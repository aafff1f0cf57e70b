"""The schema of 0.9.0 and the data of a fresh database.

Later migrations only add (a column that is nullable or has a default, a table, an index), so that processes
of the previous version keep working while a cluster is upgraded. A later version may remove what the previous
one no longer uses: that migration says `contracts = "<revision that added the replacement>"`. Nothing is
downgraded. tests/store/test_migrations.py checks these rules, and that every migration keeps every row.

A revision is the version (09 for 0.9) and a number: 0900, 0901, ..., 1000.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from pricewatch.store.engine import seed_data

revision = "0900"
down_revision = None
branch_labels = None
depends_on = None

# In this order: tables reference those of earlier files.
SUBJECTS = (
    "functions",
    "sources",
    "listings",
    "price_history",
    "runs",
    "targets",
    "operations",
    "people",
    "scheduling",
    "views",
)
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
    statements = Path(__file__).with_suffix("")
    for subject in SUBJECTS:
        op.execute((statements / f"{subject}.sql").read_text(encoding="utf-8"))
    op.bulk_insert(SOURCES, seed_data.sources())
    op.bulk_insert(MARKETS, seed_data.markets())
