"""What the looks of a targets run say against listings. They count when the run ends, source by source."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from pricewatch.items import ListingCheck
from pricewatch.rules.detail_pages import due_after_trouble
from pricewatch.rules.verification_outcome import is_mass_gone, speaks_against
from pricewatch.store.writing import alert_rows, detail_queue, verification_rows
from pricewatch.store.writing.listing_checks import evidence_row, listing_row, mass_gone_alert
from pricewatch.store.writing.verification_rows import WatchedListing
from pricewatch.vocabulary import Attempt

# More than one run ever has by itself: what is over that is not concluded, and looked at again.
MOST_KEPT = 20_000


@dataclass(slots=True)
class Conclusion:
    """What the looks of a run came to."""

    gone: int = 0
    mass_gone: list[str] = field(default_factory=list)


class TargetChecks:
    def __init__(self) -> None:
        # How many targets of each source were looked at and not found missing.
        self._others: Counter[str] = Counter()
        self._against: defaultdict[str, list[tuple[str, ListingCheck]]] = defaultdict(list)
        self._kept = 0
        self._found: set[str] = set()

    def add(self, source_id: str, canonical_url: str, look: ListingCheck | None) -> None:
        """Remember a look at a target's page; None where the page was there and could be read."""
        if look is None or look.attempt in (Attempt.ALIVE, Attempt.TROUBLE):
            self._others[source_id] += 1
            if look is None or look.attempt is Attempt.ALIVE:
                self._found.add(source_id)
        elif self._kept < MOST_KEPT:
            self._kept += 1
            self._against[source_id].append((canonical_url, look))

    def conclude(self, connection: Connection, run_id: int, now: datetime) -> Conclusion:
        """Called in the transaction that ends the run; it may be called again where that one is lost."""
        done = Conclusion()
        for source_id, against in self._against.items():
            ids = {look.listing_id for _, look in against}
            listings = verification_rows.watched(connection, sorted(ids))
            # The pages of listings that are gone already are no news.
            missing = [look for _, look in against if look.is_missing and listings[look.listing_id].active]
            looks = self._others[source_id] + sum(listings[look.listing_id].active for _, look in against)
            if is_mass_gone([look.attempt for look in missing] + [Attempt.ALIVE] * (looks - len(missing))):
                done.mass_gone.append(source_id)
                alert = mass_gone_alert(source_id, len(missing), looks, run_id)
                alert_rows.raise_alert(connection, now=now, **alert)
                rows = [evidence_row(look, run_id, strike=False) for _, look in against]
                verification_rows.record_attempts(connection, rows)
            else:
                done.gone += self._strike(connection, run_id, now, against, listings)
        found = sorted(self._found - set(done.mass_gone))
        alert_rows.resolve_alerts(connection, kind="mass_gone", subjects=found, now=now)
        return done

    def _strike(
        self,
        connection: Connection,
        run_id: int,
        now: datetime,
        against: list[tuple[str, ListingCheck]],
        listings: dict[int, WatchedListing],
    ) -> int:
        rows: dict[int, dict[str, Any]] = {}
        evidence: list[dict[str, Any]] = []
        doubted: set[int] = set()
        # A page that says by itself that the listing is sold or gone comes first: it decides.
        for url, look in sorted(against, key=lambda one: one[1].attempt is Attempt.NOT_FOUND):
            listing = listings[look.listing_id]
            own_page = url == listing.canonical_url
            seen_since = listing.last_seen_at >= look.at
            counts = speaks_against(
                vouched=listing.vouched,
                seen_since=seen_since,
                own_page=own_page,
                in_market=listing.in_market,
            )
            row = None
            if counts and listing.id not in rows:
                row = rows[listing.id] = listing_row(listing, look, run_id)
            evidence.append(evidence_row(look, run_id, strike=row is not None and row["struck"]))
            if listing.active and not listing.vouched and not seen_since:
                doubted.add(listing.id)
        verification_rows.record_attempts(connection, evidence)
        verification_rows.apply(connection, run_id, list(rows.values()), now)
        pending = [one for one in doubted if one not in rows or not rows[one]["gone"]]
        detail_queue.hand_over(connection, pending, now, due_after_trouble(now))
        return sum(row["gone"] and listings[row["listing_id"]].active for row in rows.values())
