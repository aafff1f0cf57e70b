"""Retailers, their sources, and the markets that are crawled."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import Render, Tier

PROXY_STRATEGIES = ("none", "datacenter", "residential")
VISIBILITIES = ("INELIGIBLE", "VISIBLE", "HIDDEN")
SCRAPE_STATUSES = ("completed", "failed", "partial")


class Retailer(Base):
    __tablename__ = "retailers"

    id: Mapped[int] = identity()
    name: Mapped[str] = mapped_column(unique=True)
    homepage: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Source(Base):
    __tablename__ = "sources"
    __table_args__ = (
        one_of("proxy_strategy", PROXY_STRATEGIES),
        one_of("visibility", VISIBILITIES),
        one_of("render", Render),
        Index("ix_sources_domain", "domain"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    retailer_id: Mapped[int | None] = mapped_column(ForeignKey("retailers.id"))
    name: Mapped[str]
    adapter_id: Mapped[str]
    domain: Mapped[str]
    base_url: Mapped[str]

    requests_per_second: Mapped[Decimal | None]
    min_delay_ms: Mapped[int | None]
    max_concurrent: Mapped[int | None]
    proxy_strategy: Mapped[str] = mapped_column(server_default="none")
    cooldown_minutes: Mapped[int] = mapped_column(server_default="30")
    headers: Mapped[dict[str, Any]] = json_default("{}")

    tos_reviewed_at: Mapped[datetime | None]
    tos_approved_by: Mapped[str | None]
    robots_compliant: Mapped[bool] = mapped_column(server_default=text("true"))

    visibility: Mapped[str] = mapped_column(server_default="INELIGIBLE")
    upc_trusted: Mapped[bool] = mapped_column(server_default=text("false"))

    render: Mapped[str] = mapped_column(server_default="auto")
    # Learned: with `auto`, product pages show their price only in the browser.
    needs_browser: Mapped[bool] = mapped_column(server_default=text("false"))
    # A CSS selector: where the price stands on product pages. On how many pages it was confirmed, when it
    # changed, and who chose it ("pages" or a person).
    price_place: Mapped[str | None]
    price_place_seen: Mapped[int] = mapped_column(server_default="0")
    price_place_at: Mapped[datetime | None]
    price_place_by: Mapped[str | None]
    # Another place, and on how many pages in a row the price stood there.
    price_place_other: Mapped[str | None]
    price_place_other_seen: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class Market(Base):
    __tablename__ = "markets"
    __table_args__ = (
        one_of("tier", Tier),
        one_of("last_scrape_status", SCRAPE_STATUSES, optional=True),
        Index("ix_markets_source_id", "source_id"),
        CheckConstraint(
            "price_currency IS NOT NULL OR (min_price_cents IS NULL AND max_price_cents IS NULL)",
            name="price_range_has_currency",
        ),
        CheckConstraint("price_currency ~ '^[A-Z]{3}$'", name="price_currency"),
        Index("ix_markets_due", "last_scrape_at", postgresql_where=text("enabled")),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id"))
    display_name: Mapped[str]
    # A market is crawled from its start pages, or by a search with its parameters.
    start_pages: Mapped[list[Any]] = json_default("[]")
    parameters: Mapped[dict[str, Any]] = json_default("{}")
    city: Mapped[str | None]
    state: Mapped[str | None]
    keyword: Mapped[str | None]
    exclude_keywords: Mapped[list[Any]] = json_default("[]")
    category: Mapped[str | None]
    min_price_cents: Mapped[int | None]
    max_price_cents: Mapped[int | None]
    # The currency of both prices; listings in other currencies are not compared with them.
    price_currency: Mapped[str | None] = mapped_column(CHAR(3))

    tier: Mapped[str] = mapped_column(server_default="standard")
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    scrape_frequency_hours: Mapped[int | None]
    max_listings_per_scrape: Mapped[int] = mapped_column(server_default="100")
    max_pages: Mapped[int | None]
    page_size: Mapped[int | None]

    last_scrape_at: Mapped[datetime | None]
    last_scrape_status: Mapped[str | None]
    # Consecutive failures, counted per spider.
    discovery_failures: Mapped[int] = mapped_column(server_default="0")
    sweep_failures: Mapped[int] = mapped_column(server_default="0")
    verification_failures: Mapped[int] = mapped_column(server_default="0")
    discovery_failed_at: Mapped[datetime | None]
    sweep_failed_at: Mapped[datetime | None]
    verification_failed_at: Mapped[datetime | None]
    last_discovery_at: Mapped[datetime | None]
    last_sweep_at: Mapped[datetime | None]
    last_verification_at: Mapped[datetime | None]
    # When all pages of all start pages had been read once. Discovery may stop early from then on.
    first_read_at: Mapped[datetime | None]

    # Where the sweep continues, how many cards its cycle has seen, and how many the last complete cycle saw.
    sweep_page: Mapped[int | None]
    sweep_start_page: Mapped[str | None]
    sweep_cycle_started_at: Mapped[datetime | None]
    sweep_cycle_seen: Mapped[int] = mapped_column(server_default="0")
    sweep_last_complete_seen: Mapped[int | None]
    sweep_last_complete_at: Mapped[datetime | None]
    # How many cards the last cycle saw, if it was partial. A second cycle with a similar number is accepted.
    sweep_last_partial_seen: Mapped[int | None]
    sweep_last_pages: Mapped[int | None]
    # Of the cards that should show a price: how many did and did not in this cycle, the share that did in the
    # last complete cycle, and the share in the previous cycle if too few cards showed a price in it.
    sweep_cycle_priced: Mapped[int] = mapped_column(server_default="0")
    sweep_cycle_unpriced: Mapped[int] = mapped_column(server_default="0")
    sweep_last_price_share: Mapped[float | None]
    sweep_doubted_price_share: Mapped[float | None]

    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
