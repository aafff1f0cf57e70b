"""First: what is not sure is dropped or held, with a reason, and goes no further."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from pricewatch import adapters
from pricewatch.adapters.verdict import judge
from pricewatch.items import Card, Drop, DropReason, Ok, OverviewPage, ProductPage, Quarantine
from pricewatch.rules.validation import validate_card
from pricewatch.spiders.base import PricewatchSpider
from pricewatch.store import price_jump


class ValidatePipeline:
    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self._seen: set[tuple[str, str]] = set()
        settings = crawler.settings
        self.spider.run.steps.append(
            price_jump.holding(
                settings.getfloat("PRICE_JUMP_FACTOR"), settings.getfloat("PRICE_JUMP_AGREEMENT")
            )
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def spider(self) -> PricewatchSpider:
        spider: Any = self.crawler.spider
        return spider  # type: ignore[no-any-return]

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, OverviewPage):
            self._validate_page(item)
        elif isinstance(item, ProductPage):
            await self._validate_product(item)
        return item

    def _validate_page(self, page: OverviewPage) -> None:
        """Drop the cards that cannot be stored; of two of the same listing, the richer one stays."""
        kept: dict[str, Card] = {}
        by_url: dict[str, str] = {}
        dropped = Counter(page.dropped)
        for card in page.cards:
            verdict = validate_card(card)
            if isinstance(verdict, Drop):
                dropped[verdict.reason] += 1
                continue
            key = by_url.setdefault(verdict.url, verdict.identity_key)
            if key in kept or verdict.identity_key in kept:
                self.spider.run.count("skipped_listings")
                key = key if key in kept else verdict.identity_key
                kept[key] = richer(kept[key], verdict)
            else:
                kept[verdict.identity_key] = verdict
        page.cards = list(kept.values())
        page.dropped = dict(dropped)
        for reason, count in dropped.items():
            self.spider.run.count("offers_dropped", count)
            self.spider.run.note(f"dropped/{reason}", count)
            labels = self.spider.adapter.id, self.spider.source_id, reason
            self.spider.run.figure("scrape_offers_dropped_total", *labels, amount=count)

    async def _validate_product(self, item: ProductPage) -> None:
        run = self.spider.run
        verdict = judge(item.offer, adapters.get(item.adapter_id), item.held)
        key = (item.offer.source, item.offer.identity_key)
        if isinstance(verdict, Ok) and key in self._seen:
            verdict = Drop(DropReason.DUPLICATE_WITHIN_RUN, item.offer.identity_key)
        labels = read_of = item.adapter_id, item.offer.source
        if isinstance(verdict, Ok):
            item.offer = verdict.offer
            self._seen.add(key)
            run.count_read("offers_valid", *read_of)
            run.figure("scrape_offers_valid_total", *labels)
        elif isinstance(verdict, Quarantine):
            item.held = verdict
            run.count_read("offers_quarantined", *read_of)
            run.count_unread(*read_of, item.earlier, failed=False)
            run.note(f"quarantined/{verdict.reason}")
            run.figure("scrape_offers_quarantined_total", *labels, verdict.reason)
        else:
            unknown = verdict.reason is DropReason.UNKNOWN_AVAILABILITY
            run.count_read("offers_dropped", *read_of)
            if verdict.reason is not DropReason.DUPLICATE_WITHIN_RUN:
                run.count_unread(*read_of, item.earlier, failed=unknown)
            run.note(f"dropped/{verdict.reason}")
            run.figure("scrape_offers_dropped_total", *labels, verdict.reason)
            if unknown:
                run.count_read("availability_unknown", *read_of)
            await self.spider.product_dropped(item, verdict)
            raise DropItem(f"{verdict.reason} {verdict.details}".strip())


def richer(one: Card, other: Card) -> Card:
    """The card that says more; what only the other one says is taken from it."""
    best, rest = (other, one) if _filled(other) > _filled(one) else (one, other)
    if best.price_cents is None:
        # One price, with its own currency and its own upper end.
        best.price_cents, best.price_max_cents = rest.price_cents, rest.price_max_cents
        best.currency = rest.currency
    for name in ("availability", "seller", "location", "area", "image"):
        if getattr(best, name) is None:
            setattr(best, name, getattr(rest, name))
    return best


def _filled(card: Card) -> int:
    return sum(getattr(card, name) is not None for name in Card.__slots__)
