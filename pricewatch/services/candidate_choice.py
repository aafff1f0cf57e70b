"""A person chooses the price of a quarantined page among the candidates of the reader.

The offer is stored like an accepted one, and the place of the price is taught to the target, and to the whole
site if the person says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter, check_selectors
from pricewatch.errors import UserError
from pricewatch.items import Extracted, ExtractFailure, Offer
from pricewatch.money import Money
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.prices.typed_amount import typed_currency
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXTRACT
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.reader_pool import project_pool
from pricewatch.reading.reader_process import AdapterError
from pricewatch.rules.price_options import (
    CHOOSABLE,
    PriceOption,
    option_of,
    price_options,
    read_availability,
)
from pricewatch.services import quarantine_review
from pricewatch.services.quarantine_review import Reviewed
from pricewatch.store.people import audit_log
from pricewatch.store.source_registry import price_places
from pricewatch.store.writing import quarantine_rows, reviewed_offers
from pricewatch.vocabulary import Availability

_MAX_NOTE = 500
_MOST_PLACES = 10


@dataclass(frozen=True, slots=True)
class ChoiceRequest:
    """The number of a candidate, and what the page does not say: currency and availability.

    `expected` is the price that the person saw at this number, because the page may be read again meanwhile.
    """

    number: int
    expected: str = ""
    currency: str = ""
    availability: str = ""
    for_site: bool = False


@dataclass(slots=True)
class ChosenPrice:
    """A review with the selectors that the target got, and the place that the site got."""

    review: Reviewed
    selectors: dict[str, str] = field(default_factory=dict)
    site_selector: str = ""


@dataclass(frozen=True, slots=True)
class _Lesson:
    """Selectors that read the chosen price from the saved page; or why there are none."""

    selectors: dict[str, str] = field(default_factory=dict)
    why_not: str = ""
    has_availability: bool = True


def choose(
    connection: Connection,
    quarantine_id: int,
    request: ChoiceRequest,
    *,
    by: str,
    now: datetime,
    address: str | None = None,
    user: str | None = None,
) -> ChosenPrice:
    """Store the chosen price, close the row and teach the target; raise UserError if something is missing.

    `user` is who gave the command, if that is not who decided.
    """
    pending = quarantine_review.pending_row(connection, quarantine_id)
    if isinstance(pending, Reviewed):
        return ChosenPrice(pending)
    option = option_of(price_options(pending["details"]), request.number)
    if request.expected not in ("", option.label):
        raise UserError(
            f"The page was read again, and candidate {request.number} is now {option.label}: look again."
        )
    price = _price(option, request.currency)
    availability = _availability(pending, request.availability)
    offer = _offer(pending, price, availability)
    note = f"chosen: candidate {request.number}, {option.describe()}"[:_MAX_NOTE]
    chosen = ChosenPrice(
        quarantine_review.accept_offer(connection, pending, offer, by=by, note=note, now=now)
    )
    if not chosen.review.would_store:
        return chosen
    _teach(connection, pending, option, price, request, chosen, by=by, now=now)
    audit_log.record_action(
        connection,
        person=user or by,
        address=address,
        action="price chosen",
        subject=f"offer {quarantine_id}",
        now=now,
        details={
            "candidate": request.number,
            "price": str(price),
            "availability": str(availability),
            "selectors": chosen.selectors,
            "for_site": chosen.site_selector or None,
            **({"by": by} if user not in (None, by) else {}),
        },
    )
    return chosen


def _price(option: PriceOption, given: str) -> Money:
    currency = typed_currency(given) if given.strip() else option.currency
    if currency is None:
        raise UserError(f"The page does not name the currency of {option.amount}: choose the currency.")
    price = option.price_in(currency)
    if price is None:
        raise UserError(f"{option.amount} is not a valid amount of {currency}.")
    return price


def _availability(pending: dict[str, Any], given: str) -> Availability:
    """What the person says, or else what the reader found out."""
    known = read_availability(pending["offer"], pending["details"])
    word = given.strip().upper()
    if not word and known is not None:
        return known
    if word in CHOOSABLE or (word and word == known):
        return Availability(word)
    choices = ", ".join(CHOOSABLE)
    if not word:
        raise UserError(f"The page does not state the availability: choose one of {choices}.")
    raise UserError(f"{given.strip()[:40]!r} is not an availability to choose. Known: {choices}.")


def _offer(pending: dict[str, Any], price: Money, availability: Availability) -> Offer:
    """The offer of the row with the chosen price; a row without an offer has its title in the details."""
    offer = quarantine_review.stored_offer(pending)
    try:
        url = offer.url or canonical_url(pending["url"])
    except InvalidUrl as error:
        raise UserError(f"The offer cannot be stored: {error}.") from None
    has_same_currency = offer.currency == price.currency
    return replace(
        offer,
        url=url,
        fetch_url=offer.fetch_url or pending["url"],
        title=offer.title or str(pending["details"].get("title") or ""),
        source=offer.source or pending["source_id"],
        identity_key=offer.identity_key
        or pending["identity_key"]
        or identity_key(offer.product_id, offer.sku, url),
        adapter_version=offer.adapter_version or pending["adapter_version"],
        price_cents=price.minor,
        price_max_cents=None,
        shipping_cents=offer.shipping_cents if has_same_currency else None,
        currency=price.currency,
        availability=availability,
    )


def _teach(
    connection: Connection,
    pending: dict[str, Any],
    option: PriceOption,
    price: Money,
    request: ChoiceRequest,
    chosen: ChosenPrice,
    *,
    by: str,
    now: datetime,
) -> None:
    """Store where the price stands, for the target and for the site; the details say what was learned."""
    target_id = pending["target_id"]
    if target_id is None and not request.for_site:
        return
    known = reviewed_offers.selectors_of_target(connection, target_id) if target_id is not None else None
    lesson = _lesson(pending, option, price, known or {}, is_currency_given=bool(request.currency.strip()))
    said = []
    if lesson.why_not:
        said.append(f"the place of the price was not learned: {lesson.why_not}")
    elif target_id is not None:
        reviewed_offers.add_selectors(connection, target_id, lesson.selectors, now)
        chosen.selectors = lesson.selectors
        said.append(f"the target reads its price at {lesson.selectors['price']} from now on")
        if not lesson.has_availability:
            said.append("it still needs a selector for the availability, which the page does not state")
    if request.for_site and not lesson.why_not:
        chosen.site_selector = lesson.selectors["price"]
        price_places.remember(connection, pending["source_id"], chosen.site_selector, by=by, now=now)
        said.append(f"the whole site is read with {chosen.site_selector} as the place of the price")
    chosen.review.details = "; ".join(filter(None, [chosen.review.details, *said]))


def _lesson(
    pending: dict[str, Any],
    option: PriceOption,
    price: Money,
    known: dict[str, str],
    *,
    is_currency_given: bool,
) -> _Lesson:
    """The first place of the price at which the saved page has exactly this price.

    A page that takes too long to read is not tried at other places.
    """
    if why := quarantine_rows.why_no_replay(pending["adapter_id"]):
        return _Lesson(why_not=why)
    if pending["page"] is None:
        return _Lesson(why_not=quarantine_rows.why_no_page(pending))
    why = "the page does not display it"
    # A bare number needs the currency, which another candidate of the same amount may have named.
    with_currency = {"currency": price.currency}
    for path in option.paths[:_MOST_PLACES]:
        for extra in [with_currency] if is_currency_given else [{}, with_currency]:
            selectors = {"price": path, **extra}
            if problem := check_selectors(selectors):
                why = problem
                continue
            try:
                read = _read(pending, {**known, **selectors})
            except ReadTimeout as timeout:
                return _Lesson(why_not=f"the page was {timeout}")
            if isinstance(read, Offer) and read.price == price:
                is_known = read.availability is not Availability.UNKNOWN
                return _Lesson(selectors, has_availability=is_known)
            why = f"{path} reads {read.price if isinstance(read, Offer) else read}"
    return _Lesson(why_not=why)


def _read(pending: dict[str, Any], selectors: dict[str, str]) -> Offer | str:
    """The offer that these selectors read from the saved page; or why they read none."""
    try:
        adapter = CustomSelectorAdapter(adapters.get(pending["adapter_id"]), selectors)
        response = quarantine_review.saved_response(pending)
        result = project_pool().read(adapter_task(EXTRACT, adapter, response))
    except (AdapterError, adapters.UnknownAdapter) as error:
        return f"nothing ({error})"
    if isinstance(result, Extracted):
        return result.offer
    if isinstance(result, ExtractFailure):
        return f"nothing ({result.reason} {result.details})"
    return f"nothing certain ({result.reason})"
