"""Runs, the pages that they read, collected cards, and verification attempts."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric, SmallInteger, func, text
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.rules.custom_spiders import LONGEST_NAME
from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import PageOutcome, RunStatus

TRIGGERS = ("SCHEDULED", "MANUAL", "RETRY", "RECHECK")
ATTEMPT_OUTCOMES = ("alive", "not_found", "gone", "sold", "trouble", "expired")


class Run(Base):
    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(f"char_length(spider) BETWEEN 1 AND {LONGEST_NAME}", name="spider"),
        one_of("trigger", TRIGGERS),
        one_of("status", RunStatus),
        # A spider never crawls the same market twice at the same time.
        Index(
            "uq_runs_running",
            "spider",
            "market_id",
            unique=True,
            postgresql_where=text("status = 'running' AND market_id IS NOT NULL"),
        ),
        Index("ix_runs_spider_status", "spider", "status", "id"),
        Index("ix_runs_market_id", "market_id", "id"),
        Index("ix_runs_adapter_id", "adapter_id", "started_at"),
        Index("ix_runs_heartbeat", "heartbeat_at", postgresql_where=text("status = 'running'")),
        Index("ix_runs_job_id", "job_id"),
        Index("ix_runs_started_at", "started_at"),
    )

    id: Mapped[int] = identity()
    spider: Mapped[str]
    source_id: Mapped[str | None] = mapped_column(ForeignKey("sources.id"))
    market_id: Mapped[str | None] = mapped_column(ForeignKey("markets.id"))
    adapter_id: Mapped[str | None]
    adapter_version: Mapped[str | None]
    trigger: Mapped[str] = mapped_column(server_default="MANUAL")
    arguments: Mapped[dict[str, Any]] = json_default("{}")
    job_id: Mapped[str | None]
    node: Mapped[str | None]
    pid: Mapped[int | None]

    status: Mapped[str] = mapped_column(server_default="running")
    reason: Mapped[str | None]
    partial: Mapped[bool] = mapped_column(server_default=text("false"))
    watched: Mapped[bool] = mapped_column(server_default=text("false"))
    started_at: Mapped[datetime]
    heartbeat_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    pages: Mapped[int] = mapped_column(server_default="0")
    cards: Mapped[int] = mapped_column(server_default="0")
    new_listings: Mapped[int] = mapped_column(server_default="0")
    updated_listings: Mapped[int] = mapped_column(server_default="0")
    skipped_listings: Mapped[int] = mapped_column(server_default="0")
    price_rows: Mapped[int] = mapped_column(server_default="0")
    details: Mapped[int] = mapped_column(server_default="0")
    gone: Mapped[int] = mapped_column(server_default="0")

    urls_attempted: Mapped[int] = mapped_column(server_default="0")
    urls_succeeded: Mapped[int] = mapped_column(server_default="0")
    urls_failed: Mapped[int] = mapped_column(server_default="0")
    offers_extracted: Mapped[int] = mapped_column(server_default="0")
    offers_valid: Mapped[int] = mapped_column(server_default="0")
    offers_dropped: Mapped[int] = mapped_column(server_default="0")
    offers_quarantined: Mapped[int] = mapped_column(server_default="0")
    zero_price_count: Mapped[int] = mapped_column(server_default="0")
    oos_no_price_count: Mapped[int] = mapped_column(server_default="0")
    failure_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    drop_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    yield_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))

    reasons: Mapped[dict[str, Any]] = json_default("{}")
    progress: Mapped[dict[str, Any]] = json_default("{}")
    errors: Mapped[list[Any]] = json_default("[]")


class RunPage(Base):
    __tablename__ = "run_pages"
    __table_args__ = (
        one_of("outcome", PageOutcome),
        Index("ix_run_pages_run_id", "run_id", "id"),
    )

    id: Mapped[int] = identity()
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    start_page: Mapped[str | None]
    page: Mapped[int | None]
    url: Mapped[str]
    outcome: Mapped[str]
    http_status: Mapped[int | None] = mapped_column(SmallInteger)
    cards: Mapped[int] = mapped_column(server_default="0")
    new_listings: Mapped[int] = mapped_column(server_default="0")
    updated_listings: Mapped[int] = mapped_column(server_default="0")
    price_rows: Mapped[int] = mapped_column(server_default="0")
    dropped: Mapped[dict[str, Any]] = json_default("{}")
    error: Mapped[str | None]
    duration_ms: Mapped[int | None]
    fetched_at: Mapped[datetime]


class CollectedCard(Base):
    """Cards that a discovery run has read and not stored yet; deleted when they are stored."""

    __tablename__ = "collected_cards"
    __table_args__ = (
        Index("ix_collected_cards_identity_key", "run_id", "identity_key"),
        {"prefixes": ["UNLOGGED"]},
    )

    id: Mapped[int] = identity()
    run_id: Mapped[int] = mapped_column(BigInteger)
    start_page: Mapped[str]
    page: Mapped[int]
    identity_key: Mapped[str]
    card: Mapped[dict[str, Any]]


class VerificationAttempt(Base):
    __tablename__ = "verification_attempts"
    __table_args__ = (
        one_of("outcome", ATTEMPT_OUTCOMES),
        Index("ix_verification_attempts_listing_id", "listing_id", "checked_at"),
        Index("ix_verification_attempts_run_id", "run_id"),
    )

    id: Mapped[int] = identity()
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    listing_id: Mapped[int] = mapped_column(ForeignKey("listings.id"))
    checked_at: Mapped[datetime] = mapped_column(server_default=func.now())
    method: Mapped[str | None]
    http_status: Mapped[int | None] = mapped_column(SmallInteger)
    final_url: Mapped[str | None]
    outcome: Mapped[str]
    reason: Mapped[str | None]
    marker: Mapped[str | None]
    strike: Mapped[bool] = mapped_column(server_default=text("false"))
