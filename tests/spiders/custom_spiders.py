"""Custom spiders: plain Scrapy spiders without any pricewatch code, and components that they add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Request


class CardsSpider(scrapy.Spider):
    """Reads the pages of a list; the start URL is an argument."""

    name = "cards"

    def __init__(self, url: str = "", domain: str = "127.0.0.1", **arguments: Any) -> None:
        super().__init__(**arguments)
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


class FailingSpider(CardsSpider):
    """Fails on the second page, after requesting the third."""

    name = "failing"

    def parse(self, response: Any) -> Iterator[Any]:
        yield from response.follow_all(css="a[rel=next]")
        if "page=2" in response.url:
            raise ValueError("failed")
        for card in response.css("article.card"):
            yield self.item(response, card)


class EmptySpider(CardsSpider):
    """Reads a page and finds nothing there."""

    name = "empty"

    def parse(self, response: Any) -> Iterator[Any]:
        yield from ()


class ComponentsSpider(CardsSpider):
    """Requests a page that robots.txt forbids, and adds a middleware and a pipeline."""

    name = "components"
    custom_settings = {  # noqa: RUF012 - as scrapy declares it
        "DOWNLOADER_MIDDLEWARES": {"tests.spiders.custom_spiders.CountingMiddleware": 700},
        "ITEM_PIPELINES": {"tests.spiders.custom_spiders.NamingPipeline": 50},
    }

    def parse(self, response: Any) -> Iterator[Any]:
        for card in response.css("article.card"):
            yield self.item(response, card)
        yield response.follow("/private/page", errback=self.refused)

    def refused(self, failure: Any) -> None:
        self.crawler.stats.inc_value("components/refused")


class OptedOutSpider(CardsSpider):
    """Disables the run, so that nothing is stored."""

    name = "opted_out"
    custom_settings = {"RUN_ENABLED": False}  # noqa: RUF012 - as scrapy declares it


class CountingMiddleware:
    def process_request(self, request: Request) -> None:
        request.headers["X-Counted"] = "yes"


class NamingPipeline:
    """Runs before pricewatch's pipelines, so its changes are stored."""

    def process_item(self, item: Any) -> Any:
        item["title"] = f"Mine: {item['title']}"
        return item


class InvalidSettingSpider(CardsSpider):
    name = "invalid_setting"
    custom_settings = {"RETRY_TIMES": "often"}  # noqa: RUF012 - as scrapy declares it
