"""A week of sweeps of a working shop with pages that cannot all be read: no alerts, no wasted requests."""

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
DAYS, SWEEP_HOURS = 7, 3
# Just enough to read every page once a day: if some are read too often, others are not read at all.
MAX_DETAILS = 24
# A page is due after a day, and read in the next sweep with free capacity.
MAX_AGE = timedelta(hours=36)


@pytest.mark.proof
def test_unreadable_pages_cause_no_alert_and_do_not_use_up_the_budget(
    marketplace: Bazaar, database: Database
) -> None:
    marketplace.habit("backorder", share=0.3)
    marketplace.habit("ambiguous_pages", share=0.3)
    with closing(Crawler()) as crawler:
        crawl(crawler, marketplace, database, "discovery", max_details=0)
        for _ in range(DAYS * 24 // SWEEP_HOURS):
            marketplace.advance(hours=SWEEP_HOURS)
            crawl(crawler, marketplace, database, "sweep", max_details=MAX_DETAILS)
    listed = {
        each.url: each for each in marketplace.truth("bikes") if each.state in ("on_sale", "out_of_stock")
    }
    unreadable = {url for url, each in listed.items() if not can_be_read(each)}
    assert 0.2 < len(unreadable) / len(listed) < 0.5

    assert database.value("SELECT count(*) FROM adapter_status WHERE NOT enabled") == 0
    assert database.value("SELECT count(*) FROM alerts WHERE kind = 'adapter_disabled'") == 0

    # Each readable page was read recently, and the others were requested at most once a day.
    now = marketplace.now()
    read_at = {
        path(row.canonical_url): row.last_scraped_at
        for row in database.rows("SELECT canonical_url, last_scraped_at FROM listings WHERE active")
    }
    unchanged = [url for url, each in listed.items() if each.shown[-1].begins < now - MAX_AGE]
    assert [url for url in unchanged if url not in unreadable and is_outdated(read_at.get(url), now)] == []
    requests = Counter(entry.path for entry in marketplace.log() if entry.path in unreadable)
    assert max(requests.values()) <= DAYS + 1

    ever_unreadable = {
        each.url for each in marketplace.truth("bikes") if not all(map(shows_price, each.shown))
    }
    assert database.value("SELECT count(*) FROM quarantine WHERE status = 'pending'") <= len(ever_unreadable)


def crawl(crawler: Crawler, bazaar: Bazaar, database: Database, spider: str, **arguments: Any) -> None:
    bazaar.advance(seconds=30)
    ahead = bazaar.now() - datetime.now(UTC)
    crawler(spider, database_url=database.url, ahead=ahead, market=MARKET, **arguments)


def can_be_read(true: TruthListing) -> bool:
    return true.markup != "js" and shows_price(true.shown[-1])


def shows_price(shown: Any) -> bool:
    return bool(shown.page_price)


def is_outdated(at: datetime | None, now: datetime) -> bool:
    return at is None or at < now - MAX_AGE


def path(url: str) -> str:
    return "/" + url.split("/", 3)[3]
