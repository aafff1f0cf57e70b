"""Spiders as anybody writes them with Scrapy, which know nothing of pricewatch, and parts that they bring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Request


class CardsSpider(scrapy.Spider):
    """Reads the pages of a list; where to begin is an argument."""

    name = "cards"

    def __init__(self, url: str = "", domain: str = "127.0.0.1", **given: Any) -> None:
        super().__init__(**given)
        self.start_urls = [url]
        self.allowed_domains = [domain] if domain else []

    def parse(self, response: Any) -> Iterator[Any]:
        for card in response.css("article.card"):
            yield self.item(response, card)
        yield from response.follow_all(css="a[rel=next]")

    def item(self, response: Any, card: Any) -> dict[str, Any]:
        return {
            "url": response.urljoin(card.css("a.card-link::attr(href)").get("")),
            "title": card.css("a.card-link::text").get(),
            "price": card.css(".card-price::text").get(),
        }


class StumblingSpider(CardsSpider):
    """Its code fails on the second page, after it has asked for the third."""

    name = "stumbling"

    def parse(self, response: Any) -> Iterator[Any]:
        yield from response.follow_all(css="a[rel=next]")
        if "page=2" in response.url:
            raise ValueError("stumbled")
        for card in response.css("article.card"):
            yield self.item(response, card)


class EmptySpider(CardsSpider):
    """Reads a page and finds nothing there."""

    name = "empty"

    def parse(self, response: Any) -> Iterator[Any]:
        yield from ()


class CuriousSpider(CardsSpider):
    """Asks for a page that robots.txt forbids, and brings a middleware and a pipeline of its own."""

    name = "curious"
    custom_settings = {  # noqa: RUF012 - as scrapy declares it
        "DOWNLOADER_MIDDLEWARES": {"tests.spiders.plain.CountingMiddleware": 700},
        "ITEM_PIPELINES": {"tests.spiders.plain.NamingPipeline": 50},
    }

    def parse(self, response: Any) -> Iterator[Any]:
        for card in response.css("article.card"):
            yield self.item(response, card)
        yield response.follow("/private/page", errback=self.refused)

    def refused(self, failure: Any) -> None:
        self.crawler.stats.inc_value("curious/refused")


class OptedOutSpider(CardsSpider):
    """Wants no run, and nothing stored."""

    name = "opted_out"
    custom_settings = {"RUN_ENABLED": False}  # noqa: RUF012 - as scrapy declares it


class CountingMiddleware:
    def process_request(self, request: Request) -> None:
        request.headers["X-Counted"] = "yes"


class NamingPipeline:
    """Comes before ours: what it changes is stored."""

    def process_item(self, item: Any) -> Any:
        item["title"] = f"Mine: {item['title']}"
        return item


class UnusableSpider(CardsSpider):
    name = "unusable"
    custom_settings = {"RETRY_TIMES": "often"}  # noqa: RUF012 - as scrapy declares it
