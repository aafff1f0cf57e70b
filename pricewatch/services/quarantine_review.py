"""Review of quarantined offers: accept one, or extract it again from the stored page after an adapter fix.

Both write with the same steps as a crawl.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from scrapy.http import HtmlResponse
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.adapters.offer_check import check_offer
from pricewatch.errors import UserError
from pricewatch.items import Drop, ExtractFailure, Offer, Ok, Quarantine
from pricewatch.money import Money
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.page_encodings import codec_of
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXTRACT
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.reader_pool import project_pool
from pricewatch.reading.reader_process import AdapterError
from pricewatch.rules.price_jump import is_jump
from pricewatch.rules.validation import validate_offer
from pricewatch.store.source_registry import price_places
from pricewatch.store.writing import moved_targets, quarantine_rows, reviewed_offers
from pricewatch.store.writing.batch import MAX_RACE_RETRIES, is_outage
from pricewatch.store.writing.batch import reason as database_reason
from pricewatch.store.writing.incoming_rows import ConcurrentInsert, Row, offer_row
from pricewatch.vocabulary import FailureReason, QuarantineReason


class Review(StrEnum):
    """The outcome of reviewing one quarantined offer."""

    STORED = "stored"
    # The same price is already stored; only the sighting is new.
    UNCHANGED = "unchanged"
    OUTDATED = "outdated"
    STILL_QUARANTINED = "still held"
    NOTHING_READ = "nothing read"
    INVALID = "invalid"
    NOT_WAITING = "not waiting"
    NO_PAGE = "no page"
    NO_ADAPTER = "no adapter"


@dataclass(slots=True)
class Reviewed:
    """One quarantined offer after its review."""

    id: int
    outcome: Review
    # For people: the reason, or the previous price.
    details: str = ""
    offer: Offer | None = None
    known: Money | None = None

    @property
    def would_store(self) -> bool:
        return self.outcome in (Review.STORED, Review.UNCHANGED)


def accept(
    connection: Connection, quarantine_id: int, *, by: str, note: str | None, now: datetime
) -> Reviewed:
    """Store a quarantined offer unchanged, because a person says that it is right."""
    pending = pending_row(connection, quarantine_id)
    if isinstance(pending, Reviewed):
        return pending
    return accept_offer(connection, pending, stored_offer(pending), by=by, note=note, now=now)


def stored_offer(pending: dict[str, Any]) -> Offer:
    """The offer of a quarantined row, with the time at which the page was read."""
    offer = quarantine_rows.stored_offer(pending["offer"])
    offer.observed_at = offer.observed_at or pending["observed_at"]
    return offer


def accept_offer(
    connection: Connection, pending: dict[str, Any], offer: Offer, *, by: str, note: str | None, now: datetime
) -> Reviewed:
    """Store this offer for a pending row, and close the row if that is possible."""
    quarantine_id = pending["id"]
    if _has_moved(pending):
        # It was quarantined under the requested URL.
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    verdict = validate_offer(offer)
    if not isinstance(verdict, Ok):
        return Reviewed(
            quarantine_id, Review.INVALID, f"{verdict.reason}: an offer like this is never stored", offer
        )
    row = _row(verdict.offer, detail=pending["details"].get("from") != "card")
    trial = connection.begin_nested()
    if reason := _follow_move(connection, pending, verdict.offer, by, now, is_confirmed=True):
        trial.rollback()
        return Reviewed(quarantine_id, Review.INVALID, reason, verdict.offer)
    done = _store(connection, pending, row, verdict.offer, "REVIEW", accept_jump=True)
    if _has_moved(pending) and done.outcome is Review.OUTDATED:
        # The review was about the address; a newer price is already stored.
        done.outcome = Review.UNCHANGED
    if not done.would_store:
        trial.rollback()
        return done
    quarantine_rows.close(connection, quarantine_id, status="accepted", by=by, note=note, now=now)
    _update_target(connection, pending, verdict.offer, now)
    trial.commit()
    return done


def replay(connection: Connection, quarantine_id: int, *, by: str, now: datetime, apply: bool) -> Reviewed:
    """Extract again from the stored page with the current adapter; store the result if `apply` is set."""
    pending = pending_row(connection, quarantine_id)
    if isinstance(pending, Reviewed):
        return pending
    if reason := quarantine_rows.why_no_replay(pending["adapter_id"]):
        return Reviewed(quarantine_id, Review.NO_ADAPTER, reason)
    if pending["page"] is None:
        return Reviewed(quarantine_id, Review.NO_PAGE, quarantine_rows.why_no_page(pending))
    offer = _extract_again(connection, pending)
    if isinstance(offer, Reviewed):
        return offer
    trial = connection.begin_nested()
    if reason := _follow_move(connection, pending, offer, by, now, is_confirmed=False):
        trial.rollback()
        return Reviewed(quarantine_id, Review.STILL_QUARANTINED, reason, offer)
    done = _store(connection, pending, _row(offer), offer, "REPLAY", accept_jump=False)
    if not apply:
        trial.rollback()
        return done
    if done.would_store or done.outcome is Review.OUTDATED:
        note = f"{done.outcome}, with adapter {pending['adapter_id']} {offer.adapter_version}"
        quarantine_rows.close(connection, quarantine_id, status="replayed", by=by, note=note, now=now)
    if done.would_store:
        _update_target(connection, pending, offer, now)
    trial.commit()
    return done


def pending_row(connection: Connection, quarantine_id: int) -> dict[str, Any] | Reviewed:
    """Lock and return a row that waits for review, or return that it does not wait any more."""
    pending = quarantine_rows.get(connection, quarantine_id, lock=True)
    if pending is None:
        raise UserError(f"There is no quarantined offer {quarantine_id}.")
    if pending["status"] != "pending":
        by = f" by {pending['reviewed_by']}" if pending["reviewed_by"] else ""
        return Reviewed(quarantine_id, Review.NOT_WAITING, f"it was already {pending['status']}{by}")
    return pending


def saved_response(pending: dict[str, Any]) -> HtmlResponse:
    """The saved page of a row, as the adapter received it."""
    encoding = codec_of(pending["details"].get("encoding") or "") or "utf-8"
    return HtmlResponse(pending["url"], body=pending["page"], encoding=encoding)


def _extract_again(connection: Connection, pending: dict[str, Any]) -> Offer | Reviewed:
    adapter = _adapter(connection, pending)
    try:
        result = project_pool().read(adapter_task(EXTRACT, adapter, saved_response(pending)))
        if isinstance(result, ExtractFailure):
            return Reviewed(pending["id"], Review.NOTHING_READ, f"{result.reason} {result.details}".strip())
        offer = result.offer
        if offer is not None:
            offer.source, offer.fetch_url = pending["source_id"], pending["url"]
            offer.url = canonical_url(offer.url or pending["url"])
            offer.observed_at, offer.adapter_version = pending["observed_at"], adapter.version
            offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    except (InvalidUrl, AdapterError) as error:
        return Reviewed(pending["id"], Review.NOTHING_READ, str(error))
    except ReadTimeout as timeout:
        return Reviewed(pending["id"], Review.NOTHING_READ, f"{FailureReason.READ_TIMEOUT} {timeout}")
    if isinstance(result, Quarantine) or offer is None:
        reason = result.reason if isinstance(result, Quarantine) else "no offer"
        return Reviewed(pending["id"], Review.STILL_QUARANTINED, str(reason), offer)
    verdict = check_offer(offer, adapter)
    if isinstance(verdict, Ok):
        return verdict.offer
    outcome = Review.INVALID if isinstance(verdict, Drop) else Review.STILL_QUARANTINED
    return Reviewed(pending["id"], outcome, str(verdict.reason), offer)


def _adapter(connection: Connection, pending: dict[str, Any]) -> Adapter:
    adapter = adapters.get(pending["adapter_id"])
    target_id = pending["target_id"]
    selectors = reviewed_offers.selectors_of_target(connection, target_id) if target_id is not None else None
    if selectors:
        adapter = CustomSelectorAdapter(adapter, selectors)
    # The place that the run used, so that the result is the same; unless a person has chosen one.
    chosen = price_places.place_of(connection, [pending["source_id"]]).get(pending["source_id"])
    is_chosen = chosen is not None and chosen.is_chosen_by_person
    place = chosen.selector if chosen and is_chosen else pending["details"].get("price_place")
    return adapter.with_price_place(place) if place else adapter


def _row(offer: Offer, *, detail: bool = True) -> Row:
    row = offer_row(offer, offer.observed_at)  # type: ignore[arg-type]  # both callers set it
    # A review does not change when the page is due again.
    return {**row, "detail": detail, "detail_due_at": None}


def _store(
    connection: Connection,
    pending: dict[str, Any],
    row: Row,
    offer: Offer,
    run_type: str,
    *,
    accept_jump: bool,
) -> Reviewed:
    for lost in range(MAX_RACE_RETRIES + 1):
        try:
            with connection.begin_nested():
                return _store_once(connection, pending, row, offer, run_type, accept_jump=accept_jump)
        except ConcurrentInsert:
            if lost == MAX_RACE_RETRIES:
                raise
        except DBAPIError as error:
            if is_outage(error):
                raise
            return Reviewed(
                pending["id"], Review.INVALID, f"the database refused it: {database_reason(error)}", offer
            )
    raise AssertionError("the loop above returns or raises")


def _store_once(
    connection: Connection,
    pending: dict[str, Any],
    row: Row,
    offer: Offer,
    run_type: str,
    *,
    accept_jump: bool,
) -> Reviewed:
    found = reviewed_offers.load(connection, row)
    done = Reviewed(
        pending["id"],
        Review.UNCHANGED,
        offer=offer,
        known=Money.of(found.known_price_cents, found.known_currency),
    )
    if found.is_older:
        done.outcome = Review.OUTDATED
        at = f" at {found.known_at:%Y-%m-%d %H:%M} UTC" if found.known_at else ""
        done.details = f"a newer observation is stored{at}"
        return done
    if not accept_jump and is_jump(done.known, offer.price):
        done.outcome, done.details = (
            Review.STILL_QUARANTINED,
            "the price jumped, and no other run confirmed it",
        )
        return done
    if not accept_jump and reviewed_offers.needs_person(connection):
        done.outcome, done.details = Review.STILL_QUARANTINED, "strict review: a person must accept the price"
        return done
    if reviewed_offers.write(connection, pending["run_id"] or 0, run_type):
        done.outcome = Review.STORED
    return done


def _has_moved(pending: dict[str, Any]) -> bool:
    return bool(pending["reason"] == QuarantineReason.MOVED)


def _follow_move(
    connection: Connection,
    pending: dict[str, Any],
    offer: Offer,
    by: str,
    now: datetime,
    *,
    is_confirmed: bool,
) -> str | None:
    """Point the target of a moved page to its new address; return the reason if that is not possible."""
    if not _has_moved(pending):
        return None
    if pending["target_id"] is None:
        return "its target was removed"
    return moved_targets.move_target(
        connection, pending["target_id"], offer, by=by, now=now, is_confirmed=is_confirmed
    )


def _update_target(connection: Connection, pending: dict[str, Any], offer: Offer, now: datetime) -> None:
    target_id = pending["target_id"]
    if target_id is not None:
        reviewed_offers.mark_target_read(connection, target_id, now)
        if _has_moved(pending):
            moved_targets.link_listing(connection, target_id, offer.identity_key, now)
