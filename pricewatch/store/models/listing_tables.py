"""Listings, their price history, their sellers, and the products that they are matched with."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Computed,
    DateTime,
    ForeignKey,
    Index,
    SmallInteger,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from pricewatch.store.models.table_base import Base, identity, json_default, one_of
from pricewatch.vocabulary import Availability, SellerType, VerificationStatus

PRICE_RANGE = "{0} IS NULL OR {0} BETWEEN 1 AND 99999999"
IDENTIFIER_KINDS = ("GTIN", "UPC", "EAN", "ISBN", "MPN", "SKU", "PID")
RUN_TYPES = ("SCRAPE", "REVIEW", "REPLAY")
STORED_AVAILABILITIES = [value for value in Availability if value is not Availability.UNKNOWN]


class Product(Base):
    """A product that listings of several sources offer; its key is the strongest key that they share."""

    __tablename__ = "products"
    __table_args__ = (
        Index("ix_products_gtin", "gtin", postgresql_where=text("gtin IS NOT NULL")),
        Index("ix_products_title", text("words_of(title)"), postgresql_using="gin"),
    )

    id: Mapped[int] = identity()
    key: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    brand: Mapped[str | None]
    mpn: Mapped[str | None]
    gtin: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Seller(Base):
    __tablename__ = "sellers"
    __table_args__ = (UniqueConstraint("source_id", "platform_id"), one_of("type", SellerType, optional=True))

    id: Mapped[int] = identity()
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id"))
    platform_id: Mapped[str]
    name: Mapped[str | None]
    type: Mapped[str | None]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]


class SellerHistory(Base):
    """One row per change of a seller's name or type."""

    __tablename__ = "seller_history"
    __table_args__ = (
        one_of("type", SellerType, optional=True),
        Index("ix_seller_history_seller_id", "seller_id", "observed_at"),
    )

    id: Mapped[int] = identity()
    seller_id: Mapped[int] = mapped_column(ForeignKey("sellers.id"))
    name: Mapped[str | None]
    type: Mapped[str | None]
    observed_at: Mapped[datetime]
    run_id: Mapped[int | None] = mapped_column(BigInteger)


class Listing(Base):
    __tablename__ = "listings"
    __table_args__ = (
        UniqueConstraint("source_id", "identity_key"),
        UniqueConstraint("source_id", "canonical_url"),
        one_of("availability", STORED_AVAILABILITIES),
        one_of("verification_status", VerificationStatus, optional=True),
        CheckConstraint(PRICE_RANGE.format("price_cents"), name="price_cents"),
        CheckConstraint(PRICE_RANGE.format("price_max_cents"), name="price_max_cents"),
        CheckConstraint("price_cents IS NULL OR currency IS NOT NULL", name="price_has_currency"),
        CheckConstraint("currency ~ '^[A-Z]{3}$'", name="currency"),
        # The length is a separate condition: as part of the pattern it takes 14 times as long.
        CheckConstraint(
            "identity_key ~ '^(PID|SKU|URL):[^:]+$' AND length(identity_key) <= 259", name="identity_key"
        ),
        # Freshness is a range of anchor_at, the time when a listing was last seen or verified.
        Index("ix_listings_anchor_at", "market_id", "anchor_at", postgresql_where=text("active")),
        Index(
            "ix_listings_detail_due_at",
            "market_id",
            text("detail_due_at NULLS FIRST"),
            postgresql_where=text("active AND verification_requested_at IS NULL"),
        ),
        Index(
            "ix_listings_handed_over",
            "market_id",
            "verification_requested_at",
            postgresql_where=text("verification_requested_at IS NOT NULL"),
        ),
        Index(
            "ix_listings_handed_over_alone",
            "source_id",
            "verification_requested_at",
            postgresql_where=text("verification_requested_at IS NOT NULL AND market_id IS NULL"),
        ),
        # Searched by the previous version; the next one may drop it.
        Index("ix_listings_title", text("words_of(title)"), postgresql_using="gin"),
        Index(
            "ix_listings_words",
            text("listing_words(title, brand, location, seller_name, attributes)"),
            postgresql_using="gin",
        ),
        Index("ix_listings_product_id", "product_id", postgresql_where=text("product_id IS NOT NULL")),
        # Counts the product pages of a source that were read since a given time.
        Index(
            "ix_listings_last_scraped_at",
            "source_id",
            "last_scraped_at",
            postgresql_where=text("last_scraped_at IS NOT NULL"),
        ),
        Index("ix_listings_inactive", "id", postgresql_where=text("NOT active")),
        # The age of a price is a range of price_observed_at.
        Index(
            "ix_listings_price_observed_at",
            "price_observed_at",
            postgresql_where=text("active AND price_cents IS NOT NULL"),
        ),
        Index("ix_listings_to_resolve", "id", postgresql_where=text("resolve_requested_at IS NOT NULL")),
    )

    id: Mapped[int] = identity()
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id"))
    market_id: Mapped[str | None] = mapped_column(ForeignKey("markets.id"))
    identity_key: Mapped[str]
    url: Mapped[str]
    canonical_url: Mapped[str]
    title: Mapped[str]

    price_cents: Mapped[int | None]
    price_max_cents: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    availability: Mapped[str]
    # When the price and the stock were last read. Seeing a listing without them changes neither.
    price_observed_at: Mapped[datetime | None]
    stock_observed_at: Mapped[datetime | None]
    shipping_cents: Mapped[int | None]
    tax_included: Mapped[bool | None]

    platform_id: Mapped[str | None]
    sku: Mapped[str | None]
    gtin: Mapped[str | None]
    mpn: Mapped[str | None]
    brand: Mapped[str | None]
    seller_id: Mapped[int | None] = mapped_column(ForeignKey("sellers.id"))
    # Repeated here, because an index covers one table.
    seller_name: Mapped[str | None]
    location: Mapped[str | None]
    area: Mapped[Decimal | None]
    attributes: Mapped[dict[str, Any]] = json_default("{}")
    image_url: Mapped[str | None]
    adapter_version: Mapped[str | None]

    product_id: Mapped[int | None] = mapped_column(ForeignKey("products.id"))
    product_link: Mapped[dict[str, Any] | None]
    resolve_requested_at: Mapped[datetime | None]

    active: Mapped[bool] = mapped_column(server_default=text("true"))
    verification_status: Mapped[str | None]
    verification_requested_at: Mapped[datetime | None]
    strikes: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    last_strike_run_id: Mapped[int | None] = mapped_column(BigInteger)
    sold_at: Mapped[datetime | None]
    deactivated_at: Mapped[datetime | None]
    # Set when it left all of its markets. The row stays, because price history is never deleted.
    removed_at: Mapped[datetime | None]

    times_seen: Mapped[int] = mapped_column(server_default="1")
    first_seen_at: Mapped[datetime]
    first_seen_run_id: Mapped[int | None] = mapped_column(BigInteger)
    last_seen_at: Mapped[datetime]
    last_seen_run_id: Mapped[int | None] = mapped_column(BigInteger)
    last_scraped_at: Mapped[datetime | None]
    last_verified_at: Mapped[datetime | None]
    anchor_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), Computed("greatest(last_seen_at, last_verified_at)", persisted=True)
    )
    # When its product page is to be read next; NULL: never tried.
    detail_due_at: Mapped[datetime | None]
    # Since when its product page yields no offer; NULL: the last check found one, or there was no check.
    unread_since: Mapped[datetime | None]


class MarketListing(Base):
    """The listings that were found in each market."""

    __tablename__ = "market_listings"
    __table_args__ = (Index("ix_market_listings_listing_id", "listing_id"),)

    market_id: Mapped[str] = mapped_column(ForeignKey("markets.id"), primary_key=True)
    listing_id: Mapped[int] = mapped_column(ForeignKey("listings.id"), primary_key=True)
    first_seen_at: Mapped[datetime]


class ListingIdentifier(Base):
    __tablename__ = "listing_identifiers"
    __table_args__ = (
        one_of("kind", IDENTIFIER_KINDS),
        Index("ix_listing_identifiers_value", "kind", "value"),
    )

    listing_id: Mapped[int] = mapped_column(ForeignKey("listings.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    first_seen_at: Mapped[datetime]


class ListingKeys(Base):
    """The keys by which a listing is matched with others, and the key of the product that was found."""

    __tablename__ = "listing_keys"
    __table_args__ = (
        Index("ix_listing_keys_brand_mpn", "brand_mpn", postgresql_where=text("brand_mpn IS NOT NULL")),
        Index("ix_listing_keys_fingerprint", "fingerprint", postgresql_where=text("fingerprint IS NOT NULL")),
    )

    listing_id: Mapped[int] = mapped_column(ForeignKey("listings.id"), primary_key=True)
    gtin: Mapped[str | None]
    brand_mpn: Mapped[str | None]
    fingerprint: Mapped[str | None]
    product_key: Mapped[str | None]


class PriceHistory(Base):
    """One row per change of price, currency or availability. The database refuses UPDATE and DELETE."""

    __tablename__ = "price_history"
    __table_args__ = (
        one_of("availability", STORED_AVAILABILITIES),
        one_of("run_type", RUN_TYPES),
        CheckConstraint(PRICE_RANGE.format("price_cents"), name="price_cents"),
        CheckConstraint("price_cents IS NULL OR currency IS NOT NULL", name="price_has_currency"),
        Index("ix_price_history_observed_at", "observed_at"),
        {"postgresql_partition_by": "RANGE (observed_at)"},
    )

    listing_id: Mapped[int] = mapped_column(ForeignKey("listings.id"), primary_key=True)
    observed_at: Mapped[datetime] = mapped_column(primary_key=True)
    price_cents: Mapped[int | None]
    price_max_cents: Mapped[int | None]
    currency: Mapped[str | None] = mapped_column(CHAR(3))
    availability: Mapped[str]
    run_type: Mapped[str] = mapped_column(server_default="SCRAPE")
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    adapter_version: Mapped[str | None]
