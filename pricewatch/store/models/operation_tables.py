"""What keeps the system polite, awake and honest: adapters, proxies, robots, limits, alerts, watch rules."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Numeric, SmallInteger, func, text
from sqlalchemy.dialects.postgresql import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of

EVERY_SOURCE = "*"
DISABLED_REASONS = ("MANUAL", "DRIFT_DETECTED", "TOS_VIOLATION")
ROBOTS_OUTCOMES = ("rules", "no_rules", "unavailable")
SEVERITIES = ("P1", "P2", "P3")
WATCH_KINDS = ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone")


class AdapterStatus(Base):
    """How an adapter fares on each source that it reads, and whether it may.

    The row of `EVERY_SOURCE` has only the switch of the adapter as a whole.
    """

    __tablename__ = "adapter_status"
    __table_args__ = (one_of("disabled_reason", DISABLED_REASONS, optional=True),)

    adapter_id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(primary_key=True, server_default=EVERY_SOURCE)
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None]
    disabled_by: Mapped[str | None]
    note: Mapped[str | None]
    # The first run after a person enabled the adapter again is marked as watched.
    watch_next_run: Mapped[bool] = mapped_column(server_default=text("false"))
    baseline_failure_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    baseline_yield_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    baseline_sample_size: Mapped[int] = mapped_column(server_default="0")
    baseline_updated_at: Mapped[datetime | None]
    consecutive_failed_batches: Mapped[int] = mapped_column(server_default="0")
    consecutive_empty_batches: Mapped[int] = mapped_column(server_default="0")
    consecutive_zero_price_batches: Mapped[int] = mapped_column(server_default="0")
    last_batch_failure_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class AdapterBatch(Base):
    """What one run read of one source with one adapter: what drift and its baseline are judged by."""

    __tablename__ = "adapter_batches"
    __table_args__ = (Index("ix_adapter_batches_adapter_id", "adapter_id", "source_id", "ended_at"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    adapter_id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(primary_key=True, server_default=EVERY_SOURCE)
    ended_at: Mapped[datetime]
    # URLs that count: neither out of stock without a price, nor kept from the site by ourselves, nor as
    # unreadable as ever.
    urls: Mapped[int]
    failed: Mapped[int]
    extracted: Mapped[int]
    valid: Mapped[int]
    dropped: Mapped[int]
    quarantined: Mapped[int]
    zero_prices: Mapped[int]
    oos_no_price: Mapped[int]
    availability_unknown: Mapped[int]
    failure_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    drop_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    yield_rate: Mapped[Decimal | None] = mapped_column(Numeric(5, 4))
    # Large enough to judge the adapter by, and what that came to.
    judged: Mapped[bool]
    bad: Mapped[bool]
    watched: Mapped[bool] = mapped_column(server_default=text("false"))


class ProxyBlock(Base):
    __tablename__ = "proxy_blocks"
    __table_args__ = (Index("ix_proxy_blocks_blocked_until", "blocked_until"),)

    domain: Mapped[str] = mapped_column(primary_key=True)
    # Host and port only: credentials never reach the database.
    proxy: Mapped[str] = mapped_column(primary_key=True)
    failed_at: Mapped[datetime]
    blocked_until: Mapped[datetime]
    failure_count: Mapped[int] = mapped_column(server_default="1")
    last_error: Mapped[str | None]


class RobotsCache(Base):
    __tablename__ = "robots_cache"
    __table_args__ = (one_of("outcome", ROBOTS_OUTCOMES),)

    origin: Mapped[str] = mapped_column(primary_key=True)
    outcome: Mapped[str]
    http_status: Mapped[int | None] = mapped_column(SmallInteger)
    body: Mapped[str | None]
    reason: Mapped[str | None]
    fetched_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    # Somebody is fetching the file anew; the others wait for it.
    claimed_until: Mapped[datetime | None]


class RateLimit(Base):
    """When the next request to a registrable domain may be sent, by any process."""

    __tablename__ = "rate_limits"
    # A row changes with every request; free space keeps updates cheap. It has to survive a crash: processes
    # still send the requests that they have reserved a moment for.
    __table_args__ = ({"postgresql_with": {"fillfactor": 50}},)

    domain: Mapped[str] = mapped_column(primary_key=True)
    last_at: Mapped[datetime] = mapped_column(server_default="epoch")
    next_at: Mapped[datetime] = mapped_column(server_default="epoch")
    # The leased slots, as {ticket: {"until": epoch seconds at which the lease ends}}.
    holders: Mapped[dict[str, Any]] = json_default("{}")


class Alert(Base):
    __tablename__ = "alerts"
    __table_args__ = (
        one_of("severity", SEVERITIES),
        Index("uq_alerts_open", "key", unique=True, postgresql_where=text("resolved_at IS NULL")),
        Index("ix_alerts_last_at", "last_at"),
    )

    id: Mapped[int] = identity()
    key: Mapped[str]
    kind: Mapped[str]
    severity: Mapped[str]
    subject: Mapped[str]
    message: Mapped[str]
    details: Mapped[dict[str, Any]] = json_default("{}")
    count: Mapped[int] = mapped_column(server_default="1")
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    notified_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]


class WatchRule(Base):
    __tablename__ = "watch_rules"
    __table_args__ = (
        one_of("kind", WATCH_KINDS),
        CheckConstraint("threshold_cents IS NULL OR currency IS NOT NULL", name="threshold_has_currency"),
        CheckConstraint("currency ~ '^[A-Z]{3}$'", name="currency"),
        Index("ix_watch_rules_listing_id", "listing_id", postgresql_where=text("enabled")),
        Index("ix_watch_rules_product_id", "product_id", postgresql_where=text("enabled")),
    )

    id: Mapped[int] = identity()
    listing_id: Mapped[int | None] = mapped_column(ForeignKey("listings.id"))
    product_id: Mapped[int | None] = mapped_column(ForeignKey("products.id"))
    # A target that has not been read yet; its listing takes its place when there is one.
    target_id: Mapped[int | None] = mapped_column(ForeignKey("targets.id", ondelete="CASCADE"))
    kind: Mapped[str]
    threshold_cents: Mapped[int | None]
    # Of the threshold; a listing of another currency never fires the rule.
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    threshold_percent: Mapped[Decimal | None]
    notify: Mapped[list[Any]] = json_default("[]")
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    last_fired_at: Mapped[datetime | None]
    last_fired_price_cents: Mapped[int | None]
    last_fired_currency: Mapped[str | None] = mapped_column(CHAR(3))
    last_history_run_id: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
