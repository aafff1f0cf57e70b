"""What a simulation finds in the database: the tables as a stranger would read them."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import Connection, text

from pricewatch.simulation.store_audit import Age, AuditRow, Stored

_LISTINGS = text(
    "SELECT id, active, price_cents, currency, canonical_url, price_observed_at, last_scraped_at"
    " FROM listings WHERE source_id = :source_id"
)
_HISTORY = text(
    "SELECT listing_id, observed_at, price_cents, currency, availability FROM price_history"
    " ORDER BY listing_id, observed_at"
)
_AGAINST = text(
    "SELECT v.listing_id, r.started_at, v.checked_at, v.outcome FROM verification_attempts v"
    " JOIN runs r ON r.id = v.run_id"
    " WHERE v.outcome IN ('gone', 'sold', 'expired') OR v.strike ORDER BY v.id"
)
_AGES = text(
    "SELECT id, price_observed_at, price_cents, currency, last_scraped_at FROM listings"
    " WHERE price_observed_at > :since AND price_cents IS NOT NULL"
)
_HELD = text("SELECT source_id, coalesce(identity_key, url), reason FROM quarantine WHERE status = 'pending'")
_SWITCHED_OFF = text("SELECT adapter_id, coalesce(note, '') FROM adapter_status WHERE NOT enabled")
_SWITCH_ON = text("UPDATE adapter_status SET enabled = true WHERE NOT enabled")
_BROKEN = text("SELECT canonical_url FROM targets WHERE status = 'BROKEN'")


def stored_listings(connection: Connection, source_id: str) -> dict[str, Stored]:
    """Everything of a source, by the path of its URL: that stays when a site renumbers its adverts."""
    found: dict[int, Stored] = {}
    by_path: dict[str, Stored] = {}
    for listing_id, active, price, currency, url, *dated in connection.execute(
        _LISTINGS, {"source_id": source_id}
    ):
        ages = [Age(dated[0], price, currency, dated[1])] if dated[0] and price else []
        found[listing_id] = by_path[urlsplit(url).path] = Stored(listing_id, active, price, currency, ages)
    for listing_id, *row in connection.execute(_HISTORY):
        if listing_id in found:
            found[listing_id].history.append(AuditRow(*row))
    for listing_id, since, at, outcome in connection.execute(_AGAINST):
        if listing_id in found:
            found[listing_id].against.append((since, at, outcome))
    return by_path


def ages_since(connection: Connection, since: datetime) -> list[tuple[int, Age]]:
    """The listings whose price is said to have been shown after this instant, and when that was."""
    found = connection.execute(_AGES, {"since": since})
    return [(listing_id, Age(*age)) for listing_id, *age in found]


def open_holds(connection: Connection) -> list[tuple[str, str, str]]:
    """The offers that wait for a person: source, identity or URL, reason."""
    return [(source, identity, reason) for source, identity, reason in connection.execute(_HELD)]


def switch_on_again(connection: Connection) -> list[tuple[str, str]]:
    """The adapters that were switched off, and why; they are on again, as a person would see to."""
    found = [(adapter_id, note) for adapter_id, note in connection.execute(_SWITCHED_OFF)]
    if found:
        connection.execute(_SWITCH_ON)
    return found


def broken_targets(connection: Connection) -> list[str]:
    """The paths of targets that count as broken."""
    return [urlsplit(url).path for url in connection.execute(_BROKEN).scalars()]
