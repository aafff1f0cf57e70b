"""First: drop or quarantine doubtful items with a reason. The last pipeline raises `DropItem` for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import adapters, clock
from pricewatch.adapters.item_reader import is_offer, read_offer
from pricewatch.adapters.offer_check import check_offer
from pricewatch.items import (
    Card,
    CheckedListings,
    CollectedMarket,
    Drop,
    Ok,
    OverviewPage,
    ProductPage,
    Quarantine,
    UnreadPage,
)
from pricewatch.pipelines.base import RunPipeline
from pricewatch.rules.custom_spiders import is_custom_spider
from pricewatch.rules.validation import validate_card
from pricewatch.store.writing import jump_quarantine, quarantine_rows
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import DropReason

CARD_FIELDS = tuple(field.name for field in fields(Card))
PRICEWATCH_ITEMS = (OverviewPage, ProductPage, UnreadPage, CollectedMarket, CheckedListings)


class ValidatePipeline(RunPipeline):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._seen: set[tuple[str, str]] = set()
        self._jump_factor = crawler.settings.getfloat("PRICE_JUMP_FACTOR")
        self._jump_agreement = crawler.settings.getfloat("PRICE_JUMP_AGREEMENT")

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, OverviewPage):
            self._validate_page(item)
        elif isinstance(item, ProductPage):
            self._validate_product(item)
        elif (
            isinstance(item, UnreadPage)
            and item.saved_page is not None
            and item.saved_page.quarantine is not None
        ):
            self._count_quarantined(item.saved_page, item.saved_page.quarantine)
        elif not isinstance(item, PRICEWATCH_ITEMS) and ItemAdapter.is_item(item):
            return self._custom_item(item)
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        for unit in batch.units:
            page = unit.item.saved_page if isinstance(unit.item, UnreadPage) else unit.item
            if isinstance(page, ProductPage) and page.quarantine is not None:
                quarantine_rows.quarantine_offer(connection, page, run_id=batch.run_id, at=clock.now())
        if not batch.has_rows:
            return
        limits = {"factor": self._jump_factor, "within": self._jump_agreement}
        for unit in jump_quarantine.quarantine_jumps(connection, batch, **limits):
            if isinstance(unit.item, ProductPage):
                jump_quarantine.attach_page(connection, unit.item, run_id=batch.run_id)
        if batch.has_details:
            quarantine_rows.reject_readable(connection, batch)

    def _validate_page(self, page: OverviewPage) -> None:
        """Drop invalid cards, and merge cards of the same listing."""
        accepted: dict[str, Card] = {}
        by_url: dict[str, str] = {}
        dropped = Counter(page.dropped)
        for card in page.cards:
            verdict = validate_card(card)
            if isinstance(verdict, Drop):
                dropped[verdict.reason] += 1
                continue
            key = by_url.setdefault(verdict.url, verdict.identity_key)
            if key in accepted or verdict.identity_key in accepted:
                self.run.count("skipped_listings")
                key = key if key in accepted else verdict.identity_key
                accepted[key] = merge_cards(accepted[key], verdict)
            else:
                accepted[verdict.identity_key] = verdict
        page.cards = list(accepted.values())
        page.dropped = dict(dropped)
        for reason, count in dropped.items():
            self.run.count("offers_dropped", count)
            self.run.note(f"dropped/{reason}", count)
            labels = page.adapter_id, page.source, reason
            self.run.count_metric("scrape_offers_dropped_total", *labels, amount=count)

    def _custom_item(self, item: Any) -> Any:
        """Convert an item of a custom spider to a product page, if it is an offer."""
        fields = ItemAdapter(item)
        if not is_offer(fields):
            self.run.note("not_an_offer")
            return item
        now, source, reader = clock.now(), self.run.source_id or "", self.run.adapter_id or ""
        offer, drop = read_offer(fields, source, now)
        page = ProductPage(offer=offer, adapter_id=reader, dropped=drop, original_item=item)
        self.run.count("offers_extracted")
        self.run.count_metric("scrape_offers_extracted_total", reader, source)
        self._validate_product(page)
        return page

    def _validate_product(self, item: ProductPage) -> None:
        run, labels = self.run, (item.adapter_id, item.offer.source)
        adapter = None if is_custom_spider(item.adapter_id) else adapters.get(item.adapter_id)
        verdict = item.dropped or check_offer(item.offer, adapter, item.quarantine)
        key = (item.offer.source, item.offer.identity_key)
        if isinstance(verdict, Ok) and key in self._seen:
            verdict = Drop(DropReason.DUPLICATE_WITHIN_RUN, item.offer.identity_key)
        if isinstance(verdict, Ok):
            item.offer = verdict.offer
            self._seen.add(key)
            run.count("offers_valid")
            run.count_metric("scrape_offers_valid_total", *labels)
        elif isinstance(verdict, Quarantine):
            item.quarantine = verdict
            self._count_quarantined(item, verdict)
        else:
            item.dropped = verdict
            run.count("offers_dropped")
            run.note(f"dropped/{verdict.reason}")
            run.count_metric("scrape_offers_dropped_total", *labels, verdict.reason)

    def _count_quarantined(self, page: ProductPage, quarantine: Quarantine) -> None:
        labels = page.adapter_id, page.offer.source, quarantine.reason
        self.run.count("offers_quarantined")
        self.run.note(f"quarantined/{quarantine.reason}")
        self.run.count_metric("scrape_offers_quarantined_total", *labels)


def merge_cards(one: Card, other: Card) -> Card:
    """Return the card with more fields, completed with fields that only the other card has."""
    best, rest = (other, one) if _filled(other) > _filled(one) else (one, other)
    if best.price_cents is None:
        # A price is copied with its own currency and upper bound.
        best.price_cents, best.price_max_cents = rest.price_cents, rest.price_max_cents
        best.currency = rest.currency
    for name in ("availability", "seller", "location", "area", "image"):
        if getattr(best, name) is None:
            setattr(best, name, getattr(rest, name))
    return best


def _filled(card: Card) -> int:
    return sum(getattr(card, name) is not None for name in CARD_FIELDS)
