"""Read the database of a simulation for the audit, with SQL that shares no code with the store."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import Connection, text

from pricewatch.simulation.audited_listings import AuditedListing, AuditRow, DatedPrice

_LISTINGS = text(
    "SELECT id, active, price_cents, currency, canonical_url, price_observed_at, last_scraped_at"
    " FROM listings WHERE source_id = :source_id"
)
_HISTORY = text(
    "SELECT listing_id, observed_at, price_cents, currency, availability FROM price_history"
    " ORDER BY listing_id, observed_at"
)
_GONE_CHECKS = text(
    "SELECT v.listing_id, r.started_at, v.checked_at, v.outcome FROM verification_attempts v"
    " JOIN runs r ON r.id = v.run_id"
    " WHERE v.outcome IN ('gone', 'sold', 'expired') OR v.strike ORDER BY v.id"
)
_PRICES_SINCE = text(
    "SELECT id, price_observed_at, price_cents, currency, last_scraped_at FROM listings"
    " WHERE price_observed_at > :since AND price_cents IS NOT NULL"
)
_PENDING = text(
    "SELECT source_id, coalesce(identity_key, url), reason FROM quarantine WHERE status = 'pending'"
)
_DISABLED = text("SELECT adapter_id, coalesce(note, '') FROM adapter_status WHERE NOT enabled")
_ENABLE = text("UPDATE adapter_status SET enabled = true WHERE NOT enabled")
_BROKEN = text("SELECT canonical_url FROM targets WHERE status = 'BROKEN'")


def audited_listings(connection: Connection, source_id: str) -> dict[str, AuditedListing]:
    """Return all listings of a source by the path of their URL, which identifies them in the truth."""
    by_id: dict[int, AuditedListing] = {}
    by_path: dict[str, AuditedListing] = {}
    for listing_id, active, price, currency, url, observed_at, read_at in connection.execute(
        _LISTINGS, {"source_id": source_id}
    ):
        dated = [DatedPrice(observed_at, price, currency, read_at)] if observed_at and price else []
        listing = AuditedListing(listing_id, active, price, currency, dated)
        by_id[listing_id] = by_path[urlsplit(url).path] = listing
    for listing_id, *row in connection.execute(_HISTORY):
        if listing_id in by_id:
            by_id[listing_id].history.append(AuditRow(*row))
    for listing_id, began, at, outcome in connection.execute(_GONE_CHECKS):
        if listing_id in by_id:
            by_id[listing_id].gone_checks.append((began, at, outcome))
    return by_path


def prices_since(connection: Connection, since: datetime) -> list[tuple[int, DatedPrice]]:
    """Return the ids and prices of the listings whose price was observed after this instant."""
    found = connection.execute(_PRICES_SINCE, {"since": since})
    return [(listing_id, DatedPrice(*values)) for listing_id, *values in found]


def pending_quarantine(connection: Connection) -> list[tuple[str, str, str]]:
    """Return source, identity or URL, and reason of the pending offers in quarantine."""
    return [(source, identity, reason) for source, identity, reason in connection.execute(_PENDING)]


def enable_adapters(connection: Connection) -> list[tuple[str, str]]:
    """Enable all adapters, as an operator would; return those that were disabled, and why."""
    disabled = [(adapter_id, note) for adapter_id, note in connection.execute(_DISABLED)]
    if disabled:
        connection.execute(_ENABLE)
    return disabled


def broken_target_paths(connection: Connection) -> list[str]:
    """Return the URL paths of the broken targets."""
    return [urlsplit(url).path for url in connection.execute(_BROKEN).scalars()]
