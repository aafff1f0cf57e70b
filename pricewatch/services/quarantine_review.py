"""What a person makes of held offers: accepted, or read again from the kept page after an adapter was mended.

Both store by the very steps that a crawl stores by.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from scrapy.http import HtmlResponse
from sqlalchemy import Connection, select, text, update
from sqlalchemy.exc import DBAPIError

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.adapters.offer_check import judge
from pricewatch.errors import UserError
from pricewatch.items import Drop, ExtractFailure, Offer, Ok, Quarantine
from pricewatch.money import Money
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.price_jump import is_jump
from pricewatch.rules.validation import validate_offer
from pricewatch.store.models import Target
from pricewatch.store.writing import (
    history_append,
    incoming_rows,
    listing_upsert,
    moved_targets,
    quarantine_rows,
)
from pricewatch.store.writing.batch import RACES_TO_LOSE, Batch, is_outage
from pricewatch.store.writing.batch import reason as why
from pricewatch.store.writing.incoming_rows import ConcurrentInsert, Row, offer_row
from pricewatch.vocabulary import QuarantineReason

_FOUND = text("SELECT is_new, is_older, known_price_cents, known_currency, appended, known_at FROM incoming")


class Review(StrEnum):
    """What came of one held offer."""

    STORED = "stored"
    # The stored price is the same already; the sighting counts.
    UNCHANGED = "unchanged"
    OUTDATED = "outdated"
    STILL_HELD = "still held"
    NOTHING_READ = "nothing read"
    INVALID = "invalid"
    NOT_WAITING = "not waiting"
    NO_PAGE = "no page"
    NO_ADAPTER = "no adapter"


@dataclass(slots=True)
class Reviewed:
    id: int
    outcome: Review
    # For people: why, or what the price was before.
    details: str = ""
    offer: Offer | None = None
    known: Money | None = None

    @property
    def would_store(self) -> bool:
        return self.outcome in (Review.STORED, Review.UNCHANGED)


def accept(connection: Connection, held_id: int, *, by: str, note: str | None, now: datetime) -> Reviewed:
    """Store a held offer as it is: a person says that it is right."""
    held = _waiting(connection, held_id)
    if isinstance(held, Reviewed):
        return held
    offer = quarantine_rows.offer_of(held["offer"])
    offer.observed_at = offer.observed_at or held["observed_at"]
    if _has_moved(held):
        # It was held by the address that was asked for.
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    verdict = validate_offer(offer)
    if not isinstance(verdict, Ok):
        return Reviewed(held_id, Review.INVALID, f"{verdict.reason}: such an offer is never stored", offer)
    row = _row(verdict.offer, detail=held["details"].get("from") != "card")
    trial = connection.begin_nested()
    if why := _follow(connection, held, verdict.offer, by, now, is_confirmed=True):
        trial.rollback()
        return Reviewed(held_id, Review.INVALID, why, verdict.offer)
    done = _store(connection, held, row, verdict.offer, "REVIEW", believes_jumps=True)
    if _has_moved(held) and done.outcome is Review.OUTDATED:
        # The address is what it is about; a newer price is stored already.
        done.outcome = Review.UNCHANGED
    if not done.would_store:
        trial.rollback()
        return done
    quarantine_rows.settle(connection, held_id, status="accepted", by=by, note=note, now=now)
    _tell_target(connection, held, verdict.offer, now)
    trial.commit()
    return done


def replay(connection: Connection, held_id: int, *, by: str, now: datetime, apply: bool) -> Reviewed:
    """Read the kept page again with the adapter as it is now; nothing is stored unless `apply` says so."""
    held = _waiting(connection, held_id)
    if isinstance(held, Reviewed):
        return held
    if why := quarantine_rows.no_replay(held["adapter_id"]):
        return Reviewed(held_id, Review.NO_ADAPTER, why)
    if held["page"] is None:
        return Reviewed(held_id, Review.NO_PAGE, quarantine_rows.no_page(held))
    read = _read_again(connection, held)
    if isinstance(read, Reviewed):
        return read
    trial = connection.begin_nested()
    if why := _follow(connection, held, read, by, now, is_confirmed=False):
        trial.rollback()
        return Reviewed(held_id, Review.STILL_HELD, why, read)
    done = _store(connection, held, _row(read), read, "REPLAY", believes_jumps=False)
    if not apply:
        trial.rollback()
        return done
    if done.would_store or done.outcome is Review.OUTDATED:
        note = f"{done.outcome}, with adapter {held['adapter_id']} {read.adapter_version}"
        quarantine_rows.settle(connection, held_id, status="replayed", by=by, note=note, now=now)
    if done.would_store:
        _tell_target(connection, held, read, now)
    trial.commit()
    return done


def _waiting(connection: Connection, held_id: int) -> dict[str, Any] | Reviewed:
    held = quarantine_rows.get(connection, held_id, lock=True)
    if held is None:
        raise UserError(f"There is no offer {held_id} in quarantine.")
    if held["status"] != "pending":
        by = f" by {held['reviewed_by']}" if held["reviewed_by"] else ""
        return Reviewed(held_id, Review.NOT_WAITING, f"it was {held['status']}{by} already")
    return held


def _read_again(connection: Connection, held: dict[str, Any]) -> Offer | Reviewed:
    adapter = _adapter(connection, held)
    response = HtmlResponse(
        held["url"], body=held["page"], encoding=held["details"].get("encoding") or "utf-8"
    )
    try:
        result = adapter.extract(response)
        if isinstance(result, ExtractFailure):
            return Reviewed(held["id"], Review.NOTHING_READ, f"{result.reason} {result.details}".strip())
        offer = result.offer
        if offer is not None:
            offer.source, offer.fetch_url = held["source_id"], held["url"]
            offer.url = canonical_url(offer.url or held["url"])
            offer.observed_at, offer.adapter_version = held["observed_at"], adapter.version
            offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    except InvalidUrl as error:
        return Reviewed(held["id"], Review.NOTHING_READ, str(error))
    except Exception as error:  # noqa: BLE001 - an adapter is per-site code and may fail in any way
        return Reviewed(held["id"], Review.NOTHING_READ, f"{type(error).__name__}: {error}")
    if isinstance(result, Quarantine) or offer is None:
        reason = result.reason if isinstance(result, Quarantine) else "no offer"
        return Reviewed(held["id"], Review.STILL_HELD, str(reason), offer)
    verdict = judge(offer, adapter)
    if isinstance(verdict, Ok):
        return verdict.offer
    outcome = Review.INVALID if isinstance(verdict, Drop) else Review.STILL_HELD
    return Reviewed(held["id"], outcome, str(verdict.reason), offer)


def _adapter(connection: Connection, held: dict[str, Any]) -> Adapter:
    adapter = adapters.get(held["adapter_id"])
    selectors = (
        connection.execute(select(Target.selectors).where(Target.id == held["target_id"])).scalar()
        if held["target_id"] is not None
        else None
    )
    return CustomSelectorAdapter(adapter, selectors) if selectors else adapter


def _row(offer: Offer, *, detail: bool = True) -> Row:
    row = offer_row(offer, offer.observed_at)  # type: ignore[arg-type]  # set by both who call this
    # When its page is due again is none of a review's business.
    return {**row, "detail": detail, "detail_due_at": None}


def _store(
    connection: Connection,
    held: dict[str, Any],
    row: Row,
    offer: Offer,
    run_type: str,
    *,
    believes_jumps: bool,
) -> Reviewed:
    for lost in range(RACES_TO_LOSE + 1):
        try:
            with connection.begin_nested():
                return _steps(connection, held, row, offer, run_type, believes_jumps=believes_jumps)
        except ConcurrentInsert:
            if lost == RACES_TO_LOSE:
                raise
        except DBAPIError as error:
            if is_outage(error):
                raise
            return Reviewed(held["id"], Review.INVALID, f"the database refused it: {why(error)}", offer)
    raise AssertionError("the loop above returns or raises")


def _steps(
    connection: Connection,
    held: dict[str, Any],
    row: Row,
    offer: Offer,
    run_type: str,
    *,
    believes_jumps: bool,
) -> Reviewed:
    incoming_rows.load(connection, [row])
    found = connection.execute(_FOUND).one()
    done = Reviewed(
        held["id"],
        Review.UNCHANGED,
        offer=offer,
        known=Money.of(found.known_price_cents, found.known_currency),
    )
    if found.is_older:
        done.outcome = Review.OUTDATED
        at = f" at {found.known_at:%Y-%m-%d %H:%M} UTC" if found.known_at else ""
        done.details = f"the listing was looked at again{at}"
        return done
    if not believes_jumps and is_jump(done.known, offer.price):
        done.outcome, done.details = Review.STILL_HELD, "the price jumped, and no other run has seen it"
        return done
    run_id = held["run_id"] or 0
    batch = Batch(run_id)
    listing_upsert.upsert(connection, batch)
    history_append.append(connection, batch, run_type=run_type)
    if connection.execute(_FOUND).one().appended:
        done.outcome = Review.STORED
    return done


def _has_moved(held: dict[str, Any]) -> bool:
    return bool(held["reason"] == QuarantineReason.MOVED)


def _follow(
    connection: Connection, held: dict[str, Any], offer: Offer, by: str, now: datetime, *, is_confirmed: bool
) -> str | None:
    """Let the target of a page that moved follow it; else say why not."""
    if not _has_moved(held):
        return None
    if held["target_id"] is None:
        return "its target is no longer watched"
    return moved_targets.follow(
        connection, held["target_id"], offer, by=by, now=now, is_confirmed=is_confirmed
    )


def _tell_target(connection: Connection, held: dict[str, Any], offer: Offer, now: datetime) -> None:
    target_id = held["target_id"]
    if target_id is not None:
        connection.execute(
            update(Target)
            .where(Target.id == target_id, Target.last_status == "QUARANTINED")
            .values(last_status="SUCCESS", last_reason=None, updated_at=now)
        )
        if _has_moved(held):
            moved_targets.tie(connection, target_id, offer.identity_key, now)
