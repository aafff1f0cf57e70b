"""Read a page for `scrapy parse`: the offer that a run would store, or the cards of an overview page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from pricewatch.adapters import offer_check
from pricewatch.adapters.base import Adapter
from pricewatch.console.extract_cards import CardsRead, read_cards
from pricewatch.errors import UserError
from pricewatch.items import Extracted, ExtractFailure, Offer, Quarantine
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXTRACT
from pricewatch.reading.page_reader import PageReader, describe_error
from pricewatch.vocabulary import Availability, FailureReason

if TYPE_CHECKING:
    from scrapy.http import Response, TextResponse
    from sqlalchemy import Connection

    from pricewatch.runs.requested_page import PageContext
    from pricewatch.runs.target_report import CheckResult

logger = logging.getLogger(__name__)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PagePlan:
    """The adapter that reads a page, and what is stored about the page."""

    url: str
    subject: PageContext
    known: dict[str, Any]
    # None if the content of the page decides.
    expects_cards: bool | None

    @property
    def adapter(self) -> Adapter:
        return self.subject.adapter


def make_page_plan(
    connection: Connection, url: str, adapter_id: str | None, expects_cards: bool | None
) -> PagePlan:
    """Plan as for a target that is not stored; raise `UserError` if the page cannot be read."""
    from pricewatch.runs.target_plan import make_plan
    from pricewatch.spiders.arguments import TargetsArguments, parse_arguments
    from pricewatch.store.views import market_list

    arguments = {"url": url, "store": "no", **({"adapter": adapter_id} if adapter_id else {})}
    plan = make_plan(connection, parse_arguments(TargetsArguments, "targets", arguments))
    if plan.context is None:
        raise RuntimeError("a plan with store=no always has a subject")
    adapter = plan.context.adapter
    if expects_cards and not adapter.has_overview():
        raise UserError(f"The adapter {adapter.id!r} reads product pages only: remove --cards.")
    if expects_cards is False and not adapter.has_product():
        raise UserError(f"The adapter {adapter.id!r} reads overview pages only: remove --offer.")
    if expects_cards is None and not adapter.has_product():
        expects_cards = True
    if expects_cards is None and plan.source_id is not None and adapter.has_overview():
        markets = market_list.markets(connection, source_id=plan.source_id)
        starts = [start for market in markets for start in market["start_pages"]]
        expects_cards = any(_is_same(urljoin(url, start), url) for start in starts) or None
    return PagePlan(url, plan.context, plan.known, expects_cards)


def read_page(reader: PageReader, response: Response, plan: PagePlan) -> CheckResult | CardsRead:
    """Read the offer; or the cards, if they are expected or the page has cards and no offer."""
    from scrapy.http import TextResponse

    if not isinstance(response, TextResponse):
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text"))
    if plan.expects_cards:
        cards = _call_adapter(plan, lambda: read_cards(reader, plan.adapter, response))
        return _failed(plan, cards) if isinstance(cards, ExtractFailure) else cards
    offer = _read_offer(reader, response, plan)
    may_have_cards = offer.status == "failed" and offer.reason != FailureReason.READ_TIMEOUT
    if may_have_cards and plan.expects_cards is None and plan.adapter.has_overview():
        cards = _call_adapter(plan, lambda: read_cards(reader, plan.adapter, response))
        if isinstance(cards, CardsRead) and cards.rows:
            return cards
    return offer


def _read_offer(reader: PageReader, response: TextResponse, plan: PagePlan) -> CheckResult:
    """Read the offer as a run does, up to the verdict of the pipelines."""
    from pricewatch.parsing.url import InvalidUrl
    from pricewatch.runs.requested_page import complete_offer, leads_elsewhere, requested_url
    from pricewatch.runs.target_report import result_of

    if leads_elsewhere(response):
        why = f"{requested_url(response)} led to another page, {response.url}"
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, why))
    found = _call_adapter(plan, lambda: reader.read(EXTRACT, plan.adapter, response))
    if isinstance(found, ExtractFailure):
        return _failed(plan, found)
    quarantined = found if isinstance(found, Quarantine) else None
    evidence = found.evidence if isinstance(found, Extracted) else []
    # A quarantined result may have no offer.
    offer = found.offer or Offer(
        url=response.url, title="", price_cents=0, currency="", availability=Availability.UNKNOWN
    )
    try:
        complete_offer(offer, response, plan.subject)
    except InvalidUrl as error:
        return _failed(plan, ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, str(error)))
    verdict = offer_check.check_offer(offer, plan.adapter, quarantined)
    return result_of(plan.url, offer, verdict, evidence, plan.known)


def _call_adapter(plan: PagePlan, read: Callable[[], R]) -> R | ExtractFailure:
    """Log an exception of the adapter with its traceback, and return it as a failure."""
    try:
        return read()
    except ReadTimeout as timeout:
        return ExtractFailure(FailureReason.READ_TIMEOUT, str(timeout))
    except Exception as error:
        logger.exception("The adapter %s failed on %s", plan.adapter.id, plan.url)
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, describe_error(error))


def _failed(plan: PagePlan, failure: ExtractFailure) -> CheckResult:
    from pricewatch.runs.target_report import CheckResult

    return CheckResult(plan.url, "failed", failure.reason, failure.details, evidence=failure.evidence)


def _is_same(one: str, other: str) -> bool:
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    try:
        return canonical_url(one) == canonical_url(other)
    except InvalidUrl:
        return False
