"""Markets for the web pages, the API and commands: list, change, crawl now. `add_market` adds new ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, text, update

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS
from pricewatch.rules.market_schedule import FAILURES_TO_OPEN, INTERVAL_SHARES
from pricewatch.rules.staleness import no_fresh_data
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Listing, Market, MarketListing
from pricewatch.store.queues import job_queue
from pricewatch.store.source_registry.market_rows import load_approved_market
from pricewatch.vocabulary import Tier

MAX_LIMIT = 100_000
EDITABLE_FIELDS = (
    "display_name",
    "tier",
    "enabled",
    "scrape_frequency_hours",
    "max_listings_per_scrape",
    "max_pages",
)
SEARCH_FIELDS = (
    "city",
    "state",
    "keyword",
    "category",
    "min_price_cents",
    "max_price_cents",
    "price_currency",
)

_LIST = text("""
SELECT m.*, s.name AS source_name, s.adapter_id, s.domain, s.tos_approved_by, s.visibility,
       r.id AS running_id, r.spider AS running_spider
FROM markets m JOIN sources s ON s.id = m.source_id
LEFT JOIN LATERAL (
    SELECT id, spider FROM runs WHERE status = 'running' AND market_id = m.id ORDER BY id DESC LIMIT 1
) r ON true
WHERE (CAST(:id AS text) IS NULL OR m.id = :id)
  AND (CAST(:source_id AS text) IS NULL OR m.source_id = :source_id)
  AND (CAST(:enabled AS boolean) IS NULL OR m.enabled = :enabled)
ORDER BY m.enabled DESC, m.source_id, m.display_name
""")


def markets(
    connection: Connection, *, source_id: str | None = None, enabled: bool | None = None
) -> list[dict[str, Any]]:
    parameters = {"id": None, "source_id": source_id, "enabled": enabled}
    return [_row(row) for row in connection.execute(_LIST, parameters).mappings()]


def market(connection: Connection, market_id: str) -> dict[str, Any] | None:
    parameters = {"id": market_id, "source_id": None, "enabled": None}
    row = connection.execute(_LIST, parameters).mappings().first()
    return _row(row) if row else None


def _row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Add the failures of each spider, the highest number of failures, and the open circuits."""
    failures = {spider: row[f"{spider}_failures"] for spider in INTERVAL_SHARES}
    return {
        **row,
        "failures": failures,
        "consecutive_failures": max(failures.values()),
        "circuits_open": [spider for spider in INTERVAL_SHARES if failures[spider] >= FAILURES_TO_OPEN],
    }


def market_names(connection: Connection) -> list[tuple[str, str]]:
    """List id and name of every market, for selection lists."""
    rows = connection.execute(select(Market.id, Market.display_name).order_by(Market.display_name))
    return [(row.id, row.display_name) for row in rows]


def latest_listings(connection: Connection, market_id: str, most: int) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(
                Listing.identity_key,
                Listing.title,
                Listing.price_cents,
                Listing.currency,
                Listing.availability,
                Listing.active,
                Listing.canonical_url,
                Listing.url,
            )
            .join(MarketListing, MarketListing.listing_id == Listing.id)
            .where(MarketListing.market_id == market_id)
            .order_by(Listing.last_seen_at.desc(), Listing.id.desc())
            .limit(most)
        )
    )


def update_market(connection: Connection, market_id: str, values: Mapping[str, Any]) -> bool:
    """Change tier, state, name or limits of a market; return False if it does not exist."""
    check_fields(values)
    changes = {name: values[name] for name in EDITABLE_FIELDS if name in values}
    if changes.get("display_name") is not None:
        changes["display_name"] = json_safe(changes["display_name"])
    if changes.get("enabled") is True:
        # Enabling a market closes its circuits, so that it is crawled at once.
        changes |= dict.fromkeys((f"{spider}_failures" for spider in INTERVAL_SHARES), 0)
    if not changes:
        return connection.execute(select(Market.id).where(Market.id == market_id)).scalar() is not None
    return connection.execute(update(Market).where(Market.id == market_id).values(changes)).rowcount == 1


def scrape_now(connection: Connection, market_id: str, spider: str = "discovery") -> str:
    """Queue a job ahead of the jobs of the dispatcher and return its id."""
    load_approved_market(connection, market_id)
    return job_queue.add(
        connection,
        job_queue.PROJECT,
        spider,
        {"market": market_id, "trigger": "MANUAL"},
        priority=job_queue.MANUAL_PRIORITY,
    )


def is_stale(row: dict[str, Any], now: datetime) -> bool:
    """Whether an enabled market of an approved source has had no fresh data for too long."""
    if not row["enabled"] or row["tos_approved_by"] is None:
        return False
    since = max(row["created_at"], row["updated_at"])
    return no_fresh_data(row["tier"], row["scrape_frequency_hours"], row["last_scrape_at"], since, now)


def check_fields(values: Mapping[str, Any]) -> None:
    """Validate tier, limits and price range; raise UserError for the first invalid value."""
    if (tier := values.get("tier")) is not None and tier not in set(Tier):
        raise UserError(f"Unknown tier {tier!r}. Known: {', '.join(Tier)}.")
    for name in ("scrape_frequency_hours", "max_listings_per_scrape", "max_pages"):
        value = values.get(name)
        if value is not None and not 1 <= value <= MAX_LIMIT:
            raise UserError(f"{name} must be between 1 and {MAX_LIMIT}.")
    minimum, maximum = values.get("min_price_cents"), values.get("max_price_cents")
    for price in (minimum, maximum):
        if price is not None and not 0 <= price <= MAX_CENTS:
            raise UserError(f"A price in minor units must be between 0 and {MAX_CENTS}.")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise UserError("The minimum price is above the maximum price.")
    if (minimum, maximum) != (None, None) and values.get("price_currency") not in ISO_4217:
        raise UserError("Give the currency of the price range. Example: EUR")
