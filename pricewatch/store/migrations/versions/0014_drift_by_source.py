"""Adapters are judged by source; quarantine has one open row and each page once; unread pages are known"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

DUE = (
    "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL"
    " AND status IN ('ACTIVE', 'BROKEN')"
)


def upgrade() -> None:
    _upgrade_adapters()
    _upgrade_quarantine()
    op.add_column("listings", sa.Column("unread_since", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        "UPDATE listings SET unread_since = last_seen_at"
        " WHERE detail_due_at IS NOT NULL AND last_scraped_at IS NULL"
    )
    op.create_index(
        "ix_listings_last_scraped_at",
        "listings",
        ["source_id", "last_scraped_at"],
        postgresql_where=sa.text("last_scraped_at IS NOT NULL"),
    )
    _index_due_targets("source_id")


def _upgrade_adapters() -> None:
    for table, key in (("adapter_status", ["adapter_id"]), ("adapter_batches", ["run_id", "adapter_id"])):
        op.add_column(table, sa.Column("source_id", sa.Text(), server_default="*", nullable=False))
        op.drop_constraint(f"pk_{table}", table, type_="primary")
        op.create_primary_key(f"pk_{table}", table, [*key, "source_id"])
    # What ran for one source was read of that source; a switch that is off stays off for all of them.
    op.execute(
        "UPDATE adapter_batches b SET source_id = r.source_id FROM runs r"
        " WHERE r.id = b.run_id AND r.source_id IS NOT NULL"
    )
    _index_batches(["adapter_id", "source_id", "ended_at"])


def _upgrade_quarantine() -> None:
    op.create_table(
        "quarantine_pages",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("page", sa.LargeBinary(), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_quarantine_pages")),
    )
    op.create_index("ix_quarantine_pages_kept_at", "quarantine_pages", ["kept_at"])
    op.execute(
        "INSERT INTO quarantine_pages (hash, page, kept_at)"
        " SELECT DISTINCT ON (page_hash) page_hash, page, observed_at FROM quarantine"
        " WHERE page IS NOT NULL AND page_hash IS NOT NULL ORDER BY page_hash, observed_at DESC"
    )
    op.drop_column("quarantine", "page")
    op.add_column(
        "quarantine", sa.Column("times_seen", sa.Integer(), server_default=sa.text("1"), nullable=False)
    )
    op.add_column("quarantine", sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE quarantine SET first_seen_at = observed_at")
    op.alter_column("quarantine", "first_seen_at", nullable=False, server_default=sa.text("now()"))
    # Of several open rows of one thing the newest stays open, and tells of the others.
    op.execute("""
        WITH several AS (
            SELECT source_id, identity_key, reason, max(id) AS newest, count(*) AS times,
                   min(observed_at) AS since
            FROM quarantine WHERE status = 'pending' AND identity_key IS NOT NULL
            GROUP BY 1, 2, 3 HAVING count(*) > 1
        ), counted AS (
            UPDATE quarantine q SET times_seen = s.times, first_seen_at = s.since
            FROM several s WHERE q.id = s.newest
        )
        UPDATE quarantine q
        SET status = 'rejected', reviewed_at = now(), reviewed_by = 'pricewatch',
            note = format('seen again, see %s', s.newest)
        FROM several s
        WHERE q.status = 'pending' AND q.source_id = s.source_id AND q.identity_key = s.identity_key
          AND q.reason = s.reason AND q.id <> s.newest
    """)
    op.create_index(
        "uq_quarantine_open",
        "quarantine",
        ["source_id", "identity_key", "reason"],
        unique=True,
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_quarantine_page_hash",
        "quarantine",
        ["page_hash"],
        postgresql_where=sa.text("page_hash IS NOT NULL"),
    )


def _index_batches(columns: list[str]) -> None:
    op.drop_index("ix_adapter_batches_adapter_id", table_name="adapter_batches")
    op.create_index("ix_adapter_batches_adapter_id", "adapter_batches", columns)


def _index_due_targets(first: str) -> None:
    op.drop_index("ix_targets_due", table_name="targets")
    op.create_index(
        "ix_targets_due",
        "targets",
        [first, sa.literal_column("priority DESC"), "next_due_at", "id"],
        postgresql_where=sa.text(DUE),
    )


def downgrade() -> None:
    _index_due_targets("adapter_id")
    op.drop_index("ix_listings_last_scraped_at", table_name="listings")
    op.drop_column("listings", "unread_since")
    op.drop_index("ix_quarantine_page_hash", table_name="quarantine")
    op.drop_index("uq_quarantine_open", table_name="quarantine")
    op.drop_column("quarantine", "first_seen_at")
    op.drop_column("quarantine", "times_seen")
    op.add_column("quarantine", sa.Column("page", sa.LargeBinary(), nullable=True))
    op.execute("UPDATE quarantine q SET page = p.page FROM quarantine_pages p WHERE p.hash = q.page_hash")
    op.drop_table("quarantine_pages")
    _index_batches(["adapter_id", "ended_at"])
    # An adapter that is off for one source was off as a whole before.
    op.execute("""
        INSERT INTO adapter_status (adapter_id, source_id, enabled, disabled_at, disabled_reason, disabled_by,
                                    note)
        SELECT DISTINCT ON (adapter_id) adapter_id, '*', false, disabled_at, disabled_reason, disabled_by,
               note
        FROM adapter_status WHERE source_id <> '*' AND NOT enabled ORDER BY adapter_id, disabled_at
        ON CONFLICT (adapter_id, source_id) DO UPDATE
        SET enabled = false, disabled_at = excluded.disabled_at, disabled_reason = excluded.disabled_reason,
            disabled_by = excluded.disabled_by, note = excluded.note
    """)
    op.execute("DELETE FROM adapter_status WHERE source_id <> '*'")
    op.execute(
        "DELETE FROM adapter_batches b USING adapter_batches other"
        " WHERE other.run_id = b.run_id AND other.adapter_id = b.adapter_id AND other.source_id < b.source_id"
    )
    for table, key in (("adapter_status", ["adapter_id"]), ("adapter_batches", ["run_id", "adapter_id"])):
        op.drop_constraint(f"pk_{table}", table, type_="primary")
        op.drop_column(table, "source_id")
        op.create_primary_key(f"pk_{table}", table, key)
