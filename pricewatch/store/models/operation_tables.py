"""Operation: adapter status, proxies, robots.txt files, rate limits, alerts and metrics."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ForeignKey, Index, Numeric, SmallInteger, Text, func, text
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of

EVERY_SOURCE = "*"
DISABLED_REASONS = ("MANUAL", "DRIFT_DETECTED", "TOS_VIOLATION")
ROBOTS_OUTCOMES = ("rules", "no_rules", "unavailable")
SEVERITIES = ("P1", "P2", "P3")


class AdapterStatus(Base):
    """Whether an adapter is enabled for a source, and how well it reads the source.

    The row of `EVERY_SOURCE` enables or disables the adapter for all sources; its other columns are unused.
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
    # Whether the next run is marked as watched: it is the first one after a person enabled the adapter.
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
    """What one run read of one source with one adapter; drift is computed from these rows."""

    __tablename__ = "adapter_batches"
    __table_args__ = (Index("ix_adapter_batches_adapter_id", "adapter_id", "source_id", "ended_at"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    adapter_id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(primary_key=True, server_default=EVERY_SOURCE)
    ended_at: Mapped[datetime]
    # The URLs that count for the rates: without those that are out of stock and show no price, that were not
    # requested, or that were never readable.
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
    # Whether the batch was large enough to judge the adapter, and whether the judgement was bad.
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
    # Until then one process fetches the file again and the others wait.
    claimed_until: Mapped[datetime | None]


class RateLimit(Base):
    """When any process may send the next request to a registrable domain."""

    __tablename__ = "rate_limits"
    # A row changes with every request, so free space makes updates cheaper. The table is logged, because
    # requests that were reserved before a crash of the server are still sent after it.
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


class RunMetric(Base):
    """The metrics of a run so far. The values are totals, so writing them again changes nothing."""

    __tablename__ = "run_figures"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]


class MetricTotal(Base):
    """The sum of a metric over all finished runs."""

    __tablename__ = "figures"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[float]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())
