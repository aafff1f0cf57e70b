"""What `scrapy parse` shows of a page: the offer that a run would make of it, or the cards of an overview."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from pricewatch.adapters import offer_check
from pricewatch.adapters.base import Adapter
from pricewatch.console.extract_cards import CardsRead, cards_of
from pricewatch.errors import UserError
from pricewatch.items import Extracted, ExtractFailure, Offer, Quarantine
from pricewatch.vocabulary import Availability, FailureReason

if TYPE_CHECKING:
    from scrapy.http import Response, TextResponse
    from sqlalchemy import Connection

    from pricewatch.runs.requested_page import Subject
    from pricewatch.runs.target_report import LookResult

logger = logging.getLogger(__name__)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PagePlan:
    """Which adapter reads a page, and what is known of it before it is fetched."""

    url: str
    subject: Subject
    known: dict[str, Any]
    # None: whichever the page turns out to be.
    wants_cards: bool | None

    @property
    def adapter(self) -> Adapter:
        return self.subject.adapter


def make_page_plan(
    connection: Connection, url: str, adapter_id: str | None, wants_cards: bool | None
) -> PagePlan:
    """As for a look at a target that stores nothing; raises `UserError` where the page cannot be read."""
    from pricewatch.runs.target_plan import make_plan
    from pricewatch.spiders.arguments import TargetsArguments, parse_arguments
    from pricewatch.store.views import market_list

    given = {"url": url, "store": "no", **({"adapter": adapter_id} if adapter_id else {})}
    plan = make_plan(connection, parse_arguments(TargetsArguments, "targets", given))
    if plan.look is None:
        raise RuntimeError("a look that stores nothing always has a subject")
    adapter = plan.look.adapter
    if wants_cards and not adapter.has_overview():
        raise UserError(f"The adapter {adapter.id!r} reads product pages only: leave --cards out.")
    if wants_cards is False and not adapter.has_product():
        raise UserError(f"The adapter {adapter.id!r} reads overview pages only: leave --offer out.")
    if wants_cards is None and not adapter.has_product():
        wants_cards = True
    if wants_cards is None and plan.source_id is not None and adapter.has_overview():
        markets = market_list.markets(connection, source_id=plan.source_id)
        starts = [start for market in markets for start in market["start_pages"]]
        wants_cards = any(_is_same(urljoin(url, start), url) for start in starts) or None
    return PagePlan(url, plan.look, plan.known, wants_cards)


def read_page(response: Response, plan: PagePlan) -> LookResult | CardsRead:
    """The offer; or the cards, where they are wanted or the page has cards and no offer."""
    from scrapy.http import TextResponse

    if not isinstance(response, TextResponse):
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text"))
    if plan.wants_cards:
        cards = _read(plan, lambda: cards_of(plan.adapter, response))
        return _failed(plan, cards) if isinstance(cards, ExtractFailure) else cards
    offer = _read_offer(response, plan)
    if offer.status == "failed" and plan.wants_cards is None and plan.adapter.has_overview():
        cards = _read(plan, lambda: cards_of(plan.adapter, response))
        if isinstance(cards, CardsRead) and cards.rows:
            return cards
    return offer


def _read_offer(response: TextResponse, plan: PagePlan) -> LookResult:
    """As a run reads it, up to the verdict of the pipelines."""
    from pricewatch import clock
    from pricewatch.parsing.identity import identity_key
    from pricewatch.parsing.url import InvalidUrl, canonical_url
    from pricewatch.runs.requested_page import asked_url, leads_elsewhere
    from pricewatch.runs.target_report import result_of

    if leads_elsewhere(response):
        why = f"{asked_url(response)} led to another page, {response.url}"
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, why))
    found = _read(plan, lambda: plan.adapter.extract(response))
    if isinstance(found, ExtractFailure):
        return _failed(plan, found)
    held = found if isinstance(found, Quarantine) else None
    evidence = found.evidence if isinstance(found, Extracted) else []
    # What is held has no offer where none could be read.
    offer = found.offer or Offer(
        url=response.url, title="", price_cents=0, currency="", availability=Availability.UNKNOWN
    )
    try:
        offer.url = canonical_url(offer.url or response.url)
    except InvalidUrl as error:
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, str(error)))
    offer.source, offer.fetch_url, offer.observed_at = plan.subject.source_id, response.url, clock.now()
    offer.adapter_version = plan.adapter.version
    offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
    judged = offer_check.judge(offer, plan.adapter, held)
    return result_of(plan.url, offer, judged, evidence, plan.known)


def _read(plan: PagePlan, read: Callable[[], R]) -> R | ExtractFailure:
    """An adapter's mistakes fail the page, and are logged with their traceback for who mends it."""
    try:
        return read()
    except Exception as error:
        logger.exception("The adapter %s failed on %s", plan.adapter.id, plan.url)
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"{type(error).__name__}: {error}")


def _failed(plan: PagePlan, failure: ExtractFailure) -> LookResult:
    from pricewatch.runs.target_report import LookResult

    return LookResult(plan.url, "failed", failure.reason, failure.details, evidence=failure.evidence)


def _is_same(one: str, other: str) -> bool:
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    try:
        return canonical_url(one) == canonical_url(other)
    except InvalidUrl:
        return False
