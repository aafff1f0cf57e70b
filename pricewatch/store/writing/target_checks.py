"""Checks of a targets run that found listings missing, gone or sold; they are applied when the run ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from pricewatch.items import ListingCheck
from pricewatch.rules.detail_pages import due_after_trouble
from pricewatch.rules.verification_outcome import counts_against_listing, is_mass_gone
from pricewatch.store.operations import alert_rows
from pricewatch.store.writing import detail_queue, verification_rows
from pricewatch.store.writing.listing_checks import attempt_row, listing_row, mass_gone_alert
from pricewatch.store.writing.verification_rows import WatchedListing
from pricewatch.vocabulary import Attempt

# More than any run is expected to have. Checks beyond that are ignored, and their targets are checked again.
MAX_CHECKS = 20_000


@dataclass(slots=True)
class Conclusion:
    """The result of the checks of a run."""

    gone: int = 0
    mass_gone: list[str] = field(default_factory=list)


class TargetChecks:
    def __init__(self) -> None:
        # The number of other checks of each source: pages that exist, or could not be fetched.
        self._other_checks: Counter[str] = Counter()
        self._negative_checks: defaultdict[str, list[tuple[str, ListingCheck]]] = defaultdict(list)
        self._negative_count = 0
        # Sources of which at least one page was found.
        self._found: set[str] = set()

    def add(self, source_id: str, canonical_url: str, check: ListingCheck | None) -> None:
        """Add a check of a target's page; None means that the page could be read."""
        if check is None or check.attempt in (Attempt.ALIVE, Attempt.TROUBLE):
            self._other_checks[source_id] += 1
            if check is None or check.attempt is Attempt.ALIVE:
                self._found.add(source_id)
        elif self._negative_count < MAX_CHECKS:
            self._negative_count += 1
            self._negative_checks[source_id].append((canonical_url, check))

    def conclude(self, connection: Connection, run_id: int, now: datetime) -> Conclusion:
        """Count strikes in the transaction that ends the run. It may be repeated if the transaction fails."""
        conclusion = Conclusion()
        for source_id, checks in self._negative_checks.items():
            ids = {check.listing_id for _, check in checks}
            listings = verification_rows.lock_watched(connection, sorted(ids))
            # Listings that are inactive already do not count.
            active = [check for _, check in checks if listings[check.listing_id].active]
            missing = [check for check in active if check.is_missing]
            total = self._other_checks[source_id] + len(active)
            if is_mass_gone([check.attempt for check in missing] + [Attempt.ALIVE] * (total - len(missing))):
                conclusion.mass_gone.append(source_id)
                alert = mass_gone_alert(source_id, len(missing), total, run_id)
                alert_rows.raise_alert(connection, now=now, **alert)
                rows = [attempt_row(check, run_id, strike=False) for _, check in checks]
                verification_rows.record_attempts(connection, rows)
            else:
                conclusion.gone += self._strike(connection, run_id, now, checks, listings)
        found = sorted(self._found - set(conclusion.mass_gone))
        alert_rows.resolve_alerts(connection, kind="mass_gone", subjects=found, now=now)
        return conclusion

    def _strike(
        self,
        connection: Connection,
        run_id: int,
        now: datetime,
        checks: list[tuple[str, ListingCheck]],
        listings: dict[int, WatchedListing],
    ) -> int:
        rows: dict[int, dict[str, Any]] = {}
        attempts: list[dict[str, Any]] = []
        suspects: set[int] = set()
        # Pages that say that the listing is sold or gone come before pages that were not found.
        for url, check in sorted(checks, key=lambda each: each[1].attempt is Attempt.NOT_FOUND):
            listing = listings[check.listing_id]
            own_page = url == listing.canonical_url
            seen_since = listing.last_seen_at >= check.at
            counts = counts_against_listing(
                vouched=listing.vouched,
                seen_since=seen_since,
                own_page=own_page,
                in_market=listing.in_market,
            )
            row = None
            if counts and listing.id not in rows:
                row = rows[listing.id] = listing_row(listing, check, run_id)
            attempts.append(attempt_row(check, run_id, strike=row is not None and row["struck"]))
            if listing.active and not listing.vouched and not seen_since:
                suspects.add(listing.id)
        verification_rows.record_attempts(connection, attempts)
        verification_rows.apply_results(connection, run_id, list(rows.values()), now)
        pending = [each for each in suspects if each not in rows or not rows[each]["gone"]]
        detail_queue.request_verification(connection, pending, now, due_after_trouble(now))
        return sum(row["gone"] and listings[row["listing_id"]].active for row in rows.values())
