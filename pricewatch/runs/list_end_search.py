"""Finds the last page of a list: an answer from beyond the end counts only if the list reads well."""

from __future__ import annotations

import time

from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from pricewatch.items import OverviewPage
from pricewatch.rules.list_end import Answer, EndSearch
from pricewatch.runs.start_page import PageReading, StartPage, failed_reading
from pricewatch.spiders.overview import OverviewSpider
from pricewatch.vocabulary import PageOutcome


async def confirm_end(spider: OverviewSpider, start: StartPage) -> list[OverviewPage]:
    """Find the last page of a list that gave an answer from beyond its end (`start.beyond`).

    Page 1 and the last good page have to read well in this run; else the start page has failed. Returns the
    pages that were read on the way.
    """
    beyond, prints = start.beyond, start.prints
    pages: list[OverviewPage] = []
    guess, has_more = None, True
    if beyond is None:
        return pages
    if 1 not in prints:
        first = await look(spider, start, 1)
        if first.page is None or first.fingerprint is None:
            spider.lose(start, first)
            return pages
        pages.append(first.page)
        prints[1], has_more = first.fingerprint, first.has_next
        guess = -(-first.total // first.page.shown) if first.total else None
    if not spider.leads_back(start, beyond):
        await spider.note_failure(start, beyond)
        spider.lose(start, beyond)
        return pages
    search = EndSearch.begin(prints, beyond.number, guess)
    if search.good == 1 and not has_more:
        search.edge = 2
    while (probe := search.probe) is not None:
        found = await look(spider, start, probe)
        if found.answer is Answer.TROUBLE or not spider.leads_back(start, found):
            spider.lose(start, found)
            return pages
        is_new = search.note(probe, found.fingerprint, has_next=found.has_next)
        if found.page is not None and is_new:
            pages.append(found.page)
        elif found.page is not None:
            found.outcome = PageOutcome.REPEATED
            await spider.record(start, found)
    if beyond.uncertain and not pages:
        # A site that shows nothing at the moment would show nothing on its good pages either.
        again = await look(spider, start, search.good)
        if again.page is None:
            spider.lose(start, again)
            return pages
    start.read = search.last
    return pages


async def look(spider: OverviewSpider, start: StartPage, number: int) -> PageReading:
    """Fetch and read one page of a list here and now, with as many attempts as any page gets."""
    left = spider.settings.getint("OVERVIEW_ATTEMPTS")
    while True:
        left -= 1
        reading = await _fetch(spider, start, number)
        if reading.answer is Answer.PAGE:
            return reading
        if reading.answer is Answer.END and not (reading.uncertain and left > 0):
            await spider.record(start, reading)
            return reading
        await spider.note_failure(start, reading)
        if left <= 0 or reading.outcome is PageOutcome.ROBOTS:
            return reading


async def _fetch(spider: OverviewSpider, start: StartPage, number: int) -> PageReading:
    engine = spider.crawler.engine
    if engine is None:
        raise RuntimeError("pages are fetched by the engine of a crawl")
    meta = {"asked_at": time.monotonic(), **spider.rendering()}
    request = Request(spider.page_url(start, number), callback=NO_CALLBACK, meta=meta, dont_filter=True)
    try:
        response = await engine.download_async(request)
    except Exception as error:  # noqa: BLE001 - whatever it is, there is no page
        return failed_reading(Failure(error), request, number)  # type: ignore[no-untyped-call]
    return spider.read_page(response, start, number)
