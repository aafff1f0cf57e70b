"""For the targets spider: record the outcome of each target, extend leases, and count strikes."""

from __future__ import annotations

import logging
import time
from typing import Any

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import ListingCheck, ProductPage, UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.queued_work import LeasedTarget
from pricewatch.rules.target_schedule import TargetOutcome
from pricewatch.store.queues import target_leases
from pricewatch.store.writing import moved_targets, run_rows, verification_rows
from pricewatch.store.writing.batch import Batch, WriteUnit
from pricewatch.store.writing.listing_checks import attempt_row, listing_row
from pricewatch.store.writing.target_checks import TargetChecks
from pricewatch.vocabulary import Attempt, Availability, DropReason, FailureReason, QuarantineReason

logger = logging.getLogger(__name__)
# Leases are extended well before they expire.
EXTENSIONS_PER_LEASE = 3


class TargetOutcomePipeline(RunPipeline):
    """Runs after the upsert, which creates listings, and before the history, which needs active ones."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._lease_seconds = crawler.settings.getfloat("TARGETS_LEASE_SECONDS")
        self._most_failures = crawler.settings.getint("TARGETS_FAILURES_TO_BE_BROKEN")
        self._extended = time.monotonic()
        self._checks = TargetChecks()

    async def process_item(self, item: Any) -> Any:
        """Collect the checks of listings; they are applied together when the run ends."""
        if isinstance(item, ProductPage) and item.target is not None:
            check = None
            if _has_moved(item):
                check = ListingCheck(item.listing_id or 0, Attempt.TROUBLE, clock.now())
            self._checks.add(item.offer.source, item.offer.url, check)
        elif isinstance(item, UnreadPage) and item.target is not None and item.check is not None:
            self._checks.add(item.source, item.target.canonical_url, item.check)
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        for unit, product in batch.of(ProductPage):
            if product.target is not None:
                self._read(connection, unit, product, product.target)
        for _, page in batch.of(UnreadPage):
            if page.target is not None and page.is_tried:
                self._not_read(connection, page, page.target)
        if time.monotonic() - self._extended > self._lease_seconds / EXTENSIONS_PER_LEASE:
            target_leases.extend(connection, self._worker, clock.now(), seconds=self._lease_seconds)
            self._extended = time.monotonic()

    def end(self, connection: Connection) -> None:
        """Apply the strikes, unless the run was stopped early: it may have checked only missing pages."""
        if target_leases.release(connection, self._worker):
            return
        done = self._checks.conclude(connection, self.run.id, clock.now())
        self.run.counters["gone"] = done.gone
        if done.mass_gone:
            self.run.reasons["targets/mass_gone"] = len(done.mass_gone)
        values = {"gone": done.gone, "reasons": dict(self.run.reasons)}
        run_rows.update_run(connection, self.run.id, {}, values)

    @property
    def _worker(self) -> str:
        return target_leases.worker_name(self.run.id)

    def _read(self, connection: Connection, unit: WriteUnit, page: ProductPage, target: LeasedTarget) -> None:
        outcome, reason = TargetOutcome.SUCCESS, None
        if page.dropped is not None:
            outcome, reason = TargetOutcome.DROPPED, str(page.dropped.reason)
        elif page.quarantine is not None:
            outcome, reason = TargetOutcome.QUARANTINED, str(page.quarantine.reason)
        elif unit.jumped:
            outcome, reason = TargetOutcome.QUARANTINED, str(QuarantineReason.VALIDATION_FAILED)
        elif unit.refused:
            outcome, reason = TargetOutcome.FAILED, f"refused by the database: {unit.refused[0][1]}"
        moved, stored = _has_moved(page), page.is_accepted and not unit.refused
        if not page.is_accepted and not moved:
            self._confirm_page(connection, page)
        if stored and target.last_reason == QuarantineReason.MOVED:
            moved_targets.close_quarantined_move(
                connection, target, accepted=False, note="its page is back", now=clock.now()
            )
        identity = (page.offer.source, page.offer.identity_key) if stored else None
        self._record(connection, target, outcome, reason, identity, found=None if moved else True)

    def _not_read(self, connection: Connection, page: UnreadPage, target: LeasedTarget) -> None:
        outcome, reason = TargetOutcome.FAILED, page.reason
        if reason in (FailureReason.OOS_NO_PRICE, DropReason.BLOCKED_BY_ROBOTS_TXT):
            outcome = TargetOutcome.DROPPED
        elif reason == "robots":
            outcome, reason = TargetOutcome.DROPPED, DropReason.BLOCKED_BY_ROBOTS_TXT
        if page.check is not None and page.check.attempt is Attempt.ALIVE:
            self._clear_strikes(connection, page.check)
        self._record(connection, target, outcome, str(reason), None, found=_found(page.check))

    def _confirm_page(self, connection: Connection, page: ProductPage) -> None:
        """Clear the strikes of a listing whose page was read without storing it, unless it is sold."""
        if page.listing_id is not None and page.offer.availability is not Availability.SOLD:
            at = page.offer.observed_at or clock.now()
            check = ListingCheck(
                page.listing_id,
                Attempt.ALIVE,
                at,
                final_url=page.offer.fetch_url,
                reason="the page was read",
            )
            self._clear_strikes(connection, check)

    def _clear_strikes(self, connection: Connection, check: ListingCheck) -> None:
        """Reset the strikes of a listing whose page exists, and activate it again if it was gone."""
        candidate = verification_rows.lock_suspect(connection, check.listing_id)
        if candidate is not None:
            verification_rows.record_attempts(connection, [attempt_row(check, self.run.id, strike=False)])
            verification_rows.apply_results(
                connection, self.run.id, [listing_row(candidate, check, self.run.id)], check.at
            )

    def _record(
        self,
        connection: Connection,
        target: LeasedTarget,
        outcome: TargetOutcome,
        reason: str | None,
        identity: tuple[str, str] | None,
        *,
        found: bool | None,
    ) -> None:
        recorded = target_leases.record_outcome(
            connection,
            target,
            self._worker,
            outcome,
            reason,
            clock.now(),
            run_id=self.run.id,
            identity=identity,
            found=found,
            most_failures=self._most_failures,
        )
        if not recorded:
            logger.warning("The lease of target %d expired; another worker has it", target.id)


def _has_moved(page: ProductPage) -> bool:
    return page.quarantine is not None and page.quarantine.reason is QuarantineReason.MOVED


def _found(check: ListingCheck | None) -> bool | None:
    """Return whether the page exists; None if the check could not determine it."""
    if check is None or check.attempt is Attempt.TROUBLE:
        return None
    return check.attempt is Attempt.ALIVE
