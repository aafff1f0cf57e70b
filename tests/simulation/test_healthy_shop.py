"""A shop in order, whose pages cannot all be read, swept for a week: nothing comes of it but prices."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.crawler import Crawler
from tests.databases import Database

MARKET = "bazaar-bikes"
DAYS, HOURS_APART = 7, 3
# Enough to read every page once a day, and no more: whoever reads some of them again and again misses others.
MOST_DETAILS = 24
# A page is due after a day, and read in the next sweep that has room.
OLDEST_READING = timedelta(hours=36)


@pytest.mark.proof
def test_a_healthy_shop_with_backorder_and_ambiguous_pages(marketplace: Bazaar, database: Database) -> None:
    marketplace.habit("backorder", share=0.3)
    marketplace.habit("ambiguous_pages", share=0.3)
    with closing(Crawler()) as crawler:
        crawl(crawler, marketplace, database, "discovery", max_details=0)
        for _ in range(DAYS * 24 // HOURS_APART):
            marketplace.advance(hours=HOURS_APART)
            crawl(crawler, marketplace, database, "sweep", max_details=MOST_DETAILS)
    up = {each.url: each for each in marketplace.truth("bikes") if each.state in ("on_sale", "out_of_stock")}
    bad = {url for url, each in up.items() if not can_be_read(each)}
    assert 0.2 < len(bad) / len(up) < 0.5

    assert database.value("SELECT count(*) FROM adapter_status WHERE NOT enabled") == 0
    assert database.value("SELECT count(*) FROM alerts WHERE kind = 'adapter_disabled'") == 0

    # The budget is for pages that can be read: each was, lately, and none of the others more than once a day.
    now = marketplace.now()
    read = {
        path(row.canonical_url): row.last_scraped_at
        for row in database.rows("SELECT canonical_url, last_scraped_at FROM listings WHERE active")
    }
    long_up = [url for url, each in up.items() if each.shown[-1].begins < now - OLDEST_READING]
    assert [url for url in long_up if url not in bad and unread(read.get(url), now)] == []
    looks = Counter(entry.path for entry in marketplace.log() if entry.path in bad)
    assert max(looks.values()) <= DAYS + 1

    ever_bad = {each.url for each in marketplace.truth("bikes") if not all(map(is_readable, each.shown))}
    assert database.value("SELECT count(*) FROM quarantine WHERE status = 'pending'") <= len(ever_bad)


def crawl(crawler: Crawler, bazaar: Bazaar, database: Database, spider: str, **arguments: Any) -> None:
    bazaar.advance(seconds=30)
    ahead = bazaar.now() - datetime.now(UTC)
    crawler(spider, database_url=database.url, ahead=ahead, market=MARKET, **arguments)


def can_be_read(true: TruthListing) -> bool:
    return true.markup != "js" and is_readable(true.shown[-1])


def is_readable(shown: Any) -> bool:
    return bool(shown.page_price)


def unread(at: datetime | None, now: datetime) -> bool:
    return at is None or at < now - OLDEST_READING


def path(url: str) -> str:
    return "/" + url.split("/", 3)[3]
