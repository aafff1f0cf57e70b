"""Find the last page of a list; a response past the end counts only if the rest of the list is readable."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from scrapy.http import Request, TextResponse
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from pricewatch.adapters.base import Overview
from pricewatch.items import OverviewPage
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_other_page
from pricewatch.reading.deadline import ReadTimeout, run_within
from pricewatch.reading.page_reader import may_block
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.rules.list_end import Answer, EndSearch
from pricewatch.runs.start_page import PageReading, StartPage, failed_reading
from pricewatch.vocabulary import PageOutcome

if TYPE_CHECKING:
    from pricewatch.spiders.overview import OverviewSpider

_PAGE_2 = re.compile(r"(?<!\d)2(?!\d)")


async def confirm_end(spider: OverviewSpider, start: StartPage) -> list[OverviewPage]:
    """Find the last page of a list after a response past its end (`start.past_end`).

    Page 1 and the last good page must be readable in this run, else the start page fails. Return the pages
    that were read in the search.
    """
    past_end, fingerprints = start.past_end, start.fingerprints
    pages: list[OverviewPage] = []
    guess, has_more = None, True
    if past_end is None:
        return pages
    if 1 not in fingerprints:
        first = await fetch_page(spider, start, 1)
        if first.page is None or first.fingerprint is None:
            spider.fail_start_page(start, first)
            return pages
        pages.append(first.page)
        fingerprints[1], has_more = first.fingerprint, first.has_next
        guess = -(-first.total // first.page.cards_on_page) if first.total else None
    if not spider.stays_in_list(start, past_end):
        await spider.note_failure(start, past_end)
        spider.fail_start_page(start, past_end)
        return pages
    search = EndSearch.begin(fingerprints, past_end.number, guess)
    if search.good == 1 and not has_more:
        search.edge = 2
    while (probe := search.probe) is not None:
        reading = await fetch_page(spider, start, probe)
        if reading.answer is Answer.TROUBLE or not spider.stays_in_list(start, reading):
            spider.fail_start_page(start, reading)
            return pages
        is_new = search.note(probe, reading.fingerprint, has_next=reading.has_next)
        if reading.page is not None and is_new:
            pages.append(reading.page)
        elif reading.page is not None:
            reading.outcome = PageOutcome.REPEATED
            await spider.record(start, reading)
    if past_end.uncertain and not pages:
        # If the site currently serves empty pages, its good pages are empty too.
        again = await fetch_page(spider, start, search.good)
        if again.page is None:
            spider.fail_start_page(start, again)
            return pages
    start.read = search.last
    return pages


async def fetch_page(spider: OverviewSpider, start: StartPage, number: int) -> PageReading:
    """Fetch and read one page of a list immediately, with the usual number of attempts."""
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
        if left <= 0 or reading.is_final:
            return reading


async def _fetch(spider: OverviewSpider, start: StartPage, number: int) -> PageReading:
    engine = spider.crawler.engine
    if engine is None:
        raise RuntimeError("pages can only be fetched while the crawl engine runs")
    meta = {"requested_at": time.monotonic(), **spider.rendering()}
    request = Request(spider.page_url(start, number), callback=NO_CALLBACK, meta=meta, dont_filter=True)
    try:
        response = await engine.download_async(request)
    except Exception as error:  # noqa: BLE001 - any error means that there is no page
        return failed_reading(Failure(error), request, number)  # type: ignore[no-untyped-call]
    return await spider.read_page(response, start, number)


def next_page_evidence(
    response: TextResponse, overview: Overview, second_page: str, limits: ReadLimits
) -> str:
    """Return the evidence on the first page that there is a second one, or an empty string."""
    left_out = sum(overview.unreadable.values())
    if overview.total is not None and overview.total > len(overview.cards) + left_out:
        return f"it counts {overview.total} listings and shows {len(overview.cards)}"
    if overview.next_url:
        return f"it links to {overview.next_url} as the next page"
    if may_block(response.body, limits):
        return ""
    try:
        return run_within(limits.seconds, lambda: _link_evidence(response, second_page))
    except ReadTimeout:
        return ""


def _link_evidence(response: TextResponse, second_page: str) -> str:
    try:
        links = [*response.xpath("//link[@rel='next'][@href]"), *response.xpath("//a[@href]")]
    except ValueError:
        # The response is JSON, not HTML.
        return ""
    second_url = _canonical(response.url, second_page)
    for link in links:
        href = link.attrib["href"]
        if "next" in link.attrib.get("rel", "").split():
            return f"it links to {href} as the next page"
        text = link.xpath("normalize-space()").get("")
        if text == "2" and _PAGE_2.search(href) and is_other_page(response.url, href):
            return f"it links to {href} as page 2"
        if second_url and _canonical(response.url, href) == second_url:
            return f"it links to {href}"
    return ""


def _canonical(base: str, link: str) -> str:
    try:
        return canonical_url(absolute_url(base, link))
    except InvalidUrl:
        return ""
