"""Whether an overview page points at further ones, whatever its adapter makes of them."""

from __future__ import annotations

import re

from scrapy.http import TextResponse

from pricewatch.adapters.base import Overview
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url, is_other_page

_SECOND = re.compile(r"(?<!\d)2(?!\d)")


def sign_of_more(response: TextResponse, overview: Overview, second_page: str) -> str:
    """What on the first page says that there is a second one; empty where nothing does."""
    left_out = sum(overview.unreadable.values())
    if overview.total is not None and overview.total > len(overview.cards) + left_out:
        return f"it counts {overview.total} listings and shows {len(overview.cards)}"
    if overview.next_url:
        return f"it links to {overview.next_url} as the next page"
    try:
        links = response.xpath("//a[@href] | //link[@rel='next'][@href]")
    except ValueError:
        # Data, not a page.
        return ""
    wanted = _canonical(response.url, second_page)
    for link in links:
        href = link.attrib["href"]
        if "next" in link.attrib.get("rel", "").split():
            return f"it links to {href} as the next page"
        words = link.xpath("normalize-space()").get("")
        if words == "2" and _SECOND.search(href) and is_other_page(response.url, href):
            return f"it links to {href} as page 2"
        if wanted and _canonical(response.url, href) == wanted:
            return f"it links to {href}"
    return ""


def _canonical(base: str, link: str) -> str:
    try:
        return canonical_url(absolute_url(base, link))
    except InvalidUrl:
        return ""
