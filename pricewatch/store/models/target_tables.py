"""Targets (URLs that are monitored), their queue, and the quarantine."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    SmallInteger,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import QuarantineReason, Render

TARGET_STATUSES = ("ACTIVE", "PAUSED", "BROKEN", "STALE")
TARGET_OUTCOMES = ("SUCCESS", "FAILED", "DROPPED", "QUARANTINED")
QUEUE_STATES = ("idle", "pending", "leased")
REVIEW_STATUSES = ("pending", "accepted", "rejected", "replayed")


class Target(Base):
    __tablename__ = "targets"
    __table_args__ = (
        UniqueConstraint("source_id", "canonical_url"),
        one_of("status", TARGET_STATUSES),
        one_of("last_status", TARGET_OUTCOMES, optional=True),
        one_of("queue_state", QUEUE_STATES),
        one_of("render", Render, optional=True),
        # Few distinct values, so that due targets can be queried priority by priority.
        CheckConstraint("priority BETWEEN -100 AND 100", name="priority"),
        Index(
            "ix_targets_due",
            "source_id",
            text("priority DESC"),
            "next_due_at",
            "id",
            postgresql_where=text(
                "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL"
                " AND status IN ('ACTIVE', 'BROKEN')"
            ),
        ),
        Index(
            "ix_targets_pending",
            text("priority DESC"),
            "queued_at",
            "id",
            postgresql_where=text("queue_state = 'pending'"),
        ),
        Index("ix_targets_leased", "lease_until", postgresql_where=text("queue_state = 'leased'")),
        Index("ix_targets_listing_id", "listing_id"),
        Index("ix_targets_status", "status", "id", postgresql_where=text("status <> 'ACTIVE'")),
    )

    id: Mapped[int] = identity()
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id"))
    listing_id: Mapped[int | None] = mapped_column(ForeignKey("listings.id"))
    adapter_id: Mapped[str]
    url: Mapped[str]
    canonical_url: Mapped[str]
    selectors: Mapped[dict[str, Any]] = json_default("{}")
    # NULL: as its source.
    render: Mapped[str | None]
    schedule: Mapped[str] = mapped_column(server_default="0 */4 * * *")
    priority: Mapped[int] = mapped_column(server_default="0")
    status: Mapped[str] = mapped_column(server_default="ACTIVE")
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    # Can only block a URL: it never allows what robots.txt forbids.
    robots_path_blocked: Mapped[bool] = mapped_column(server_default=text("false"))

    # NULL (never due) until a person has approved the terms of its source.
    next_due_at: Mapped[datetime | None]
    queue_state: Mapped[str] = mapped_column(server_default="idle")
    queued_at: Mapped[datetime | None]
    leased_by: Mapped[str | None]
    lease_until: Mapped[datetime | None]

    last_scraped_at: Mapped[datetime | None]
    last_status: Mapped[str | None]
    last_reason: Mapped[str | None]
    last_run_id: Mapped[int | None] = mapped_column(BigInteger)
    consecutive_failures: Mapped[int] = mapped_column(server_default="0")
    # Since when its page is missing; network trouble does not change it.
    missing_since: Mapped[datetime | None]
    created_by: Mapped[str | None]
    notes: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class TargetQueue(Base):
    """A single row with the state of the target queue, locked by the process that fills the queue."""

    __tablename__ = "target_queue"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    paused_until: Mapped[datetime | None]
    # Consecutive scheduling cycles in which more than half of the targets were rejected.
    rejected_cycles: Mapped[int] = mapped_column(server_default="0")
    last_cycle_at: Mapped[datetime | None]
    last_offered: Mapped[int] = mapped_column(server_default="0")
    last_accepted: Mapped[int] = mapped_column(server_default="0")
    accepted_total: Mapped[int] = mapped_column(BigInteger, server_default="0")
    # The number of rejected targets by reason.
    rejected_total: Mapped[dict[str, Any]] = json_default("{}")


class StrictReview(Base):
    """A source, market or target whose price changes over a percentage wait for a person."""

    __tablename__ = "strict_reviews"
    __table_args__ = (
        CheckConstraint("num_nonnulls(source_id, market_id, target_id) = 1", name="one_subject"),
        CheckConstraint("percent > 0 AND percent <= 1000", name="percent"),
    )

    id: Mapped[int] = identity()
    source_id: Mapped[str | None] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), unique=True)
    market_id: Mapped[str | None] = mapped_column(ForeignKey("markets.id", ondelete="CASCADE"), unique=True)
    target_id: Mapped[int | None] = mapped_column(ForeignKey("targets.id", ondelete="CASCADE"), unique=True)
    percent: Mapped[Decimal]
    created_at: Mapped[datetime]
    created_by: Mapped[str]


class Quarantined(Base):
    """A quarantined offer as it was seen last, with how often and since when it was seen."""

    __tablename__ = "quarantine"
    __table_args__ = (
        one_of("reason", QuarantineReason),
        one_of("status", REVIEW_STATUSES),
        Index("ix_quarantine_status", "status", "id"),
        Index("ix_quarantine_adapter_id", "adapter_id", "status"),
        Index("ix_quarantine_listing", "source_id", "identity_key", "status"),
        # One open row, no matter how often it is seen.
        Index(
            "uq_quarantine_open",
            "source_id",
            "identity_key",
            "reason",
            unique=True,
            postgresql_where=text("status = 'pending'"),
        ),
        Index("ix_quarantine_page_hash", "page_hash", postgresql_where=text("page_hash IS NOT NULL")),
        # At most one new price per listing waits for another run to confirm it.
        Index(
            "uq_quarantine_waiting_price",
            "listing_id",
            unique=True,
            postgresql_where=text("status = 'pending' AND listing_id IS NOT NULL"),
        ),
    )

    id: Mapped[int] = identity()
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id"))
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    target_id: Mapped[int | None] = mapped_column(ForeignKey("targets.id", ondelete="SET NULL"))
    # Only set if the price of a known listing jumped.
    listing_id: Mapped[int | None] = mapped_column(ForeignKey("listings.id"))
    adapter_id: Mapped[str]
    adapter_version: Mapped[str]
    url: Mapped[str]
    identity_key: Mapped[str | None]
    reason: Mapped[str]
    offer: Mapped[dict[str, Any]] = json_default("{}")
    details: Mapped[dict[str, Any]] = json_default("{}")
    # The newest page; `quarantine_pages` stores it for a limited time.
    page_hash: Mapped[str | None]
    status: Mapped[str] = mapped_column(server_default="pending")
    times_seen: Mapped[int] = mapped_column(server_default="1")
    first_seen_at: Mapped[datetime] = mapped_column(server_default=func.now())
    observed_at: Mapped[datetime]
    reviewed_at: Mapped[datetime | None]
    reviewed_by: Mapped[str | None]
    note: Mapped[str | None]


class QuarantinePage(Base):
    """The page of a quarantined offer, stored once per content."""

    __tablename__ = "quarantine_pages"
    __table_args__ = (Index("ix_quarantine_pages_kept_at", "kept_at"),)

    hash: Mapped[str] = mapped_column(primary_key=True)
    # Compressed by zlib.
    page: Mapped[bytes] = mapped_column(LargeBinary)
    # When the page was last seen.
    kept_at: Mapped[datetime]
