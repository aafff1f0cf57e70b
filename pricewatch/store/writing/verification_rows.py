"""Verification's queries: who is to be looked at, and what the looks came to."""

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
    """A listing that targets watch, and what speaks for it."""

    # Another of its targets has its page, as far as anybody knows.
    vouched: bool = False
    in_market: bool = False


_COLUMNS = "l.id, l.url, l.canonical_url, l.strikes, l.last_strike_run_id, l.last_seen_at, l.active"

# Outside markets only those are looked at that were handed over: the others have their targets.
_ALONE = text(f"""
SELECT {_COLUMNS},
       (SELECT t.adapter_id FROM targets t WHERE t.listing_id = l.id ORDER BY t.id LIMIT 1)
FROM listings l
WHERE l.source_id = :source_id AND l.market_id IS NULL AND l.verification_requested_at IS NOT NULL
  AND l.removed_at IS NULL
ORDER BY l.verification_requested_at LIMIT :most
""")

# A target that is paused, blocked, stale or broken is not looked at often enough to vouch for anything.
_WATCHED = text(f"""
SELECT {_COLUMNS}, NULL AS adapter_id,
       EXISTS (SELECT FROM targets t
               WHERE t.listing_id = l.id AND t.missing_since IS NULL AND t.status = 'ACTIVE'
                 AND t.enabled AND NOT t.robots_path_blocked),
       EXISTS (SELECT FROM markets m WHERE m.id = l.market_id AND m.enabled)
FROM listings l WHERE l.id = ANY(:ids) ORDER BY l.id FOR UPDATE OF l
""")

# What is sold is on sale again when an offer says so, not because a page is there.
_DOUBTED = text(f"""
SELECT {_COLUMNS} FROM listings l
WHERE l.id = :id AND l.availability <> 'SOLD'
  AND (l.strikes > 0 OR NOT l.active OR l.verification_requested_at IS NOT NULL)
FOR UPDATE OF l
""")

# Handed over first; then whoever was neither seen nor verified for longest, and so is the least certain.
# The ranges are those of the unseen, of the never verified where trust fades faster, and of what was noted
# while a clock was ahead.
_CANDIDATES = text("""
SELECT id, url, canonical_url, strikes, last_strike_run_id, last_seen_at, active FROM (
    (SELECT *, 0 AS turn FROM listings
     WHERE market_id = :market_id AND verification_requested_at IS NOT NULL AND removed_at IS NULL
     ORDER BY verification_requested_at LIMIT :most)
    UNION ALL
    (SELECT *, 1 AS turn FROM listings
     WHERE market_id = :market_id AND active AND anchor_at < :unseen_before
       AND verification_requested_at IS NULL
     ORDER BY anchor_at LIMIT :most)
    UNION ALL
    (SELECT *, 2 AS turn FROM listings
     WHERE market_id = :market_id AND active AND anchor_at >= :unseen_before AND anchor_at < :doubted_before
       AND verification_requested_at IS NULL AND verification_status IS DISTINCT FROM 'verified'
     ORDER BY anchor_at LIMIT :most)
    UNION ALL
    (SELECT *, 3 AS turn FROM listings
     WHERE market_id = :market_id AND active AND anchor_at > :latest AND verification_requested_at IS NULL
     ORDER BY anchor_at LIMIT :most)
) candidates
ORDER BY turn, anchor_at LIMIT :most
""")

# Trust is used up, and a later crawl of the market did not show it: no request needed.
# Where the market itself was not crawled since, nobody has looked, and nothing is concluded.
_EXPIRE = text("""
WITH expired AS (
    UPDATE listings l SET active = false, deactivated_at = :now, verification_requested_at = NULL
    FROM markets m
    WHERE m.id = :market_id AND l.market_id = m.id AND l.active AND l.anchor_at <= :used_up_before
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
-- Seen by another run meanwhile: that is better evidence than ours.
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
    doubted_before: datetime,
    latest: datetime,
    most: int,
) -> list[VerificationCandidate]:
    found = connection.execute(
        _CANDIDATES,
        {
            "market_id": market_id,
            "unseen_before": unseen_before,
            "doubted_before": doubted_before,
            "latest": latest,
            "most": most,
        },
    )
    return [VerificationCandidate(*row) for row in found]


def alone(connection: Connection, source_id: str, *, most: int) -> list[VerificationCandidate]:
    """Listings of a source that were handed over and are in no market, the longest waiting first."""
    return [
        VerificationCandidate(*row)
        for row in connection.execute(_ALONE, {"source_id": source_id, "most": most})
    ]


def watched(connection: Connection, ids: Sequence[int]) -> dict[int, WatchedListing]:
    """These listings, locked, with what their targets and markets say for them."""
    rows = connection.execute(_WATCHED, {"ids": list(ids)})
    return {row.id: WatchedListing(*row) for row in rows}


def doubted(connection: Connection, listing_id: int) -> VerificationCandidate | None:
    """The listing, locked, if there is any doubt that a look at its page can clear."""
    row = connection.execute(_DOUBTED, {"id": listing_id}).first()
    return VerificationCandidate(*row) if row else None


def expire(
    connection: Connection, run_id: int, market_id: str, *, used_up_before: datetime, now: datetime
) -> int:
    return connection.execute(
        _EXPIRE,
        {
            "run_id": run_id,
            "market_id": market_id,
            "used_up_before": used_up_before,
            "now": now,
            "margin": LONGEST_RUN,
        },
    ).rowcount


def record_attempts(connection: Connection, attempts: list[dict[str, Any]]) -> None:
    if attempts:
        connection.execute(insert(VerificationAttempt), attempts)


def apply(connection: Connection, run_id: int, rows: list[dict[str, Any]], now: datetime) -> None:
    """Write what the looks came to; a row whose listing was seen meanwhile is left alone."""
    if not rows:
        return
    given = {"run_id": run_id, "now": now}
    connection.execute(_APPLY, {**given, "rows": json.dumps(rows)})
    connection.execute(_APPEND_SOLD, {**given, "ids": [row["listing_id"] for row in rows]})
