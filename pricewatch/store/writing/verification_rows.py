"""Verification: which listings to check, and the results of the checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, text

from pricewatch.queued_work import VerificationCandidate
from pricewatch.store.models import VerificationAttempt


@dataclass(frozen=True, slots=True)
class WatchedListing(VerificationCandidate):
    """A listing that targets monitor, and the evidence that it still exists."""

    # The last check of another of its targets found the page.
    vouched: bool = False
    in_market: bool = False


_COLUMNS = "l.id, l.url, l.canonical_url, l.strikes, l.last_strike_run_id, l.last_seen_at, l.active"

# Listings outside of markets are only verified on request: their targets check them otherwise.
_OUTSIDE_MARKETS = text(f"""
SELECT {_COLUMNS},
       (SELECT t.adapter_id FROM targets t WHERE t.listing_id = l.id ORDER BY t.id LIMIT 1),
       (SELECT t.render FROM targets t WHERE t.listing_id = l.id ORDER BY t.id LIMIT 1)
FROM listings l
WHERE l.source_id = :source_id AND l.market_id IS NULL AND l.verification_requested_at IS NOT NULL
  AND l.removed_at IS NULL
ORDER BY l.verification_requested_at LIMIT :most
""")

# A target that is paused, blocked, stale or broken is not checked often enough to count as evidence.
_LOCK_WATCHED = text(f"""
SELECT {_COLUMNS}, NULL AS adapter_id, NULL AS render,
       EXISTS (SELECT FROM targets t
               WHERE t.listing_id = l.id AND t.missing_since IS NULL AND t.status = 'ACTIVE'
                 AND t.enabled AND NOT t.robots_path_blocked),
       EXISTS (SELECT FROM markets m WHERE m.id = l.market_id AND m.enabled)
FROM listings l WHERE l.id = ANY(:ids) ORDER BY l.id FOR UPDATE OF l
""")

# A sold listing only becomes available again through an offer, not because its page exists.
_LOCK_SUSPECT = text(f"""
SELECT {_COLUMNS} FROM listings l
WHERE l.id = :id AND l.availability <> 'SOLD'
  AND (l.strikes > 0 OR NOT l.active OR l.verification_requested_at IS NOT NULL)
FOR UPDATE OF l
""")

# Requested listings first, then those that were neither seen nor verified for the longest time: unseen ones,
# unverified ones (whose confidence falls faster), and those dated while a clock was ahead.
_CANDIDATES = text("""
SELECT id, url, canonical_url, strikes, last_strike_run_id, last_seen_at, active FROM (
    (SELECT *, 0 AS place FROM listings
     WHERE market_id = :market_id AND verification_requested_at IS NOT NULL AND removed_at IS NULL
     ORDER BY verification_requested_at LIMIT :most)
    UNION ALL
    (SELECT *, 1 AS place FROM listings
     WHERE market_id = :market_id AND active AND anchor_at < :unseen_before
       AND verification_requested_at IS NULL
     ORDER BY anchor_at LIMIT :most)
    UNION ALL
    (SELECT *, 2 AS place FROM listings
     WHERE market_id = :market_id AND active
       AND anchor_at >= :unseen_before AND anchor_at < :unverified_before
       AND verification_requested_at IS NULL AND verification_status IS DISTINCT FROM 'verified'
     ORDER BY anchor_at LIMIT :most)
    UNION ALL
    (SELECT *, 3 AS place FROM listings
     WHERE market_id = :market_id AND active AND anchor_at > :latest AND verification_requested_at IS NULL
     ORDER BY anchor_at LIMIT :most)
) candidates
ORDER BY place, anchor_at LIMIT :most
""")

# Listings whose confidence is zero and that a later crawl of the market did not show: no request is needed.
# Nothing follows if the market was not crawled since the listing was seen.
_EXPIRE = text("""
WITH expired AS (
    UPDATE listings l SET active = false, deactivated_at = :now, verification_requested_at = NULL
    FROM markets m
    WHERE m.id = :market_id AND l.market_id = m.id AND l.active AND l.anchor_at <= :expired_before
      AND l.verification_status IS DISTINCT FROM 'verified'
      AND m.last_scrape_at > l.last_seen_at + CAST(:margin AS interval)
    RETURNING l.id
)
INSERT INTO verification_attempts (run_id, listing_id, checked_at, outcome, reason)
SELECT :run_id, id, :now, 'expired', 'not seen for so long that no trust is left' FROM expired
""")
LONGEST_RUN = timedelta(hours=1)

_APPLY = text("""
UPDATE listings l SET
    strikes = r.strikes,
    last_strike_run_id = CASE WHEN r.struck THEN :run_id ELSE l.last_strike_run_id END,
    verification_status = r.verification_status,
    verification_requested_at =
        CASE WHEN r.verification_status = 'pending' THEN l.verification_requested_at END,
    last_verified_at = CASE WHEN r.alive THEN :now ELSE l.last_verified_at END,
    active = CASE WHEN r.gone THEN false WHEN r.alive THEN true ELSE l.active END,
    deactivated_at = CASE WHEN r.gone THEN coalesce(l.deactivated_at, :now)
                          WHEN r.alive THEN NULL ELSE l.deactivated_at END,
    sold_at = CASE WHEN r.sold THEN coalesce(r.sold_at, l.sold_at, :now)
                   WHEN r.gone AND l.availability = 'SOLD' THEN coalesce(l.sold_at, l.deactivated_at, :now)
                   WHEN r.alive THEN NULL ELSE l.sold_at END,
    availability = CASE WHEN r.sold THEN 'SOLD'
                        WHEN r.alive AND l.availability = 'SOLD' THEN 'LISTED' ELSE l.availability END,
    stock_observed_at = CASE WHEN r.sold OR (r.alive AND l.availability = 'SOLD') THEN :now
                             ELSE l.stock_observed_at END
FROM json_to_recordset(CAST(:rows AS json)) AS r(
    listing_id bigint, last_seen_at timestamptz, strikes integer, struck boolean, alive boolean, gone boolean,
    sold boolean, sold_at timestamptz, verification_status text)
-- Not if another run has seen the listing since: that is better evidence.
WHERE l.id = r.listing_id AND l.last_seen_at = r.last_seen_at
""")

_APPEND_SOLD = text("""
INSERT INTO price_history
    (listing_id, observed_at, price_cents, price_max_cents, currency, availability, run_id, adapter_version)
SELECT l.id, :now, l.price_cents, l.price_max_cents, l.currency, l.availability, :run_id, l.adapter_version
FROM listings l
JOIN LATERAL (SELECT h.availability FROM price_history h WHERE h.listing_id = l.id
              ORDER BY h.observed_at DESC LIMIT 1) last ON last.availability <> l.availability
WHERE l.id = ANY(:ids) AND l.price_cents IS NOT NULL
""")


def candidates(
    connection: Connection,
    market_id: str,
    *,
    unseen_before: datetime,
    unverified_before: datetime,
    latest: datetime,
    most: int,
) -> list[VerificationCandidate]:
    found = connection.execute(
        _CANDIDATES,
        {
            "market_id": market_id,
            "unseen_before": unseen_before,
            "unverified_before": unverified_before,
            "latest": latest,
            "most": most,
        },
    )
    return [VerificationCandidate(*row) for row in found]


def candidates_outside_markets(
    connection: Connection, source_id: str, *, most: int
) -> list[VerificationCandidate]:
    """Return listings outside of markets whose verification was requested, oldest request first."""
    return [
        VerificationCandidate(*row)
        for row in connection.execute(_OUTSIDE_MARKETS, {"source_id": source_id, "most": most})
    ]


def lock_watched(connection: Connection, ids: Sequence[int]) -> dict[int, WatchedListing]:
    """Lock these listings, and return them with the evidence of their targets and markets."""
    rows = connection.execute(_LOCK_WATCHED, {"ids": list(ids)})
    return {row.id: WatchedListing(*row) for row in rows}


def lock_suspect(connection: Connection, listing_id: int) -> VerificationCandidate | None:
    """Lock and return the listing if it has strikes, is inactive, or is to be verified; else return None."""
    row = connection.execute(_LOCK_SUSPECT, {"id": listing_id}).first()
    return VerificationCandidate(*row) if row else None


def expire_unseen(
    connection: Connection, run_id: int, market_id: str, *, expired_before: datetime, now: datetime
) -> int:
    """Deactivate listings whose confidence has fallen to zero; return their number."""
    return connection.execute(
        _EXPIRE,
        {
            "run_id": run_id,
            "market_id": market_id,
            "expired_before": expired_before,
            "now": now,
            "margin": LONGEST_RUN,
        },
    ).rowcount


def record_attempts(connection: Connection, attempts: list[dict[str, Any]]) -> None:
    if attempts:
        connection.execute(insert(VerificationAttempt), attempts)


def apply_results(connection: Connection, run_id: int, rows: list[dict[str, Any]], now: datetime) -> None:
    """Store the results of checks, except for listings that were seen since."""
    if not rows:
        return
    values = {"run_id": run_id, "now": now}
    connection.execute(_APPLY, {**values, "rows": json.dumps(rows)})
    connection.execute(_APPEND_SOLD, {**values, "ids": [row["listing_id"] for row in rows]})
