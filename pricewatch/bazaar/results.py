"""Which listings a category or a search shows, and how they fall into pages."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pricewatch.bazaar import money
from pricewatch.bazaar.listing import Listing, latest
from pricewatch.bazaar.skins import OverviewPage
from pricewatch.bazaar.world import Place, World

DEFAULT_ROWS = 30
STATUSES = ("on_sale", "sold", "all")
# What a page beyond the last can be: a page of its own, or an answer that is none.
BEYOND_PAGES = ("empty", "first", "repeat")
BEYOND_ANSWERS = ("404", "410", "to_first", "to_category")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a test may change about the site: pages beyond the last, the largest page, answers to HEAD."""

    beyond_last: str = "empty"
    max_rows: int = 90
    head: str = "ok"


def search(world: World, query: Mapping[str, str], now: float) -> list[Listing]:
    """Return what a search finds, newest first. Price limits are in whole currency, as people type them."""
    status = query.get("status") or "on_sale"
    wanted = query.get("category") or None
    shelves = [shelf for name, shelf in world.shelves.items() if wanted in (None, name)]
    rows: list[list[Place]] = []
    if status != "sold":
        rows += [shelf.offered for shelf in shelves]
    if status in ("sold", "all"):
        rows += [shelf.sold for shelf in shelves]
    words = query.get("q", "").lower().split()
    low, high = _amount(query.get("min"), -math.inf), _amount(query.get("max"), math.inf)
    found: list[Listing] = []
    for _, _, listing in heapq.merge(*rows):
        title = latest(listing.titles, now)[1].lower()
        if all(word in title for word in words):
            price = latest(listing.prices, now)[1] / money.MINOR[listing.currency]
            if low <= price <= high:
                found.append(listing)
    return found


def page_of(
    heading: str,
    path: str,
    query: Mapping[str, str],
    listings: Sequence[Listing],
    behaviour: Behaviour,
    category: str | None = None,
) -> OverviewPage | None:
    """Return the page that a request asks for; None where there is none and the site says so."""
    rows = min(_count(query.get("rows"), DEFAULT_ROWS), behaviour.max_rows)
    number = _count(query.get("page"), 1)
    pages = max(1, math.ceil(len(listings) / rows))
    shown = number
    if number > pages:
        if behaviour.beyond_last in BEYOND_ANSWERS:
            return None
        if behaviour.beyond_last == "first":
            number = shown = 1
        elif behaviour.beyond_last == "repeat":
            shown = pages
    more = number < pages or (number > pages and behaviour.beyond_last == "repeat")
    return OverviewPage(
        heading=heading,
        listings=listings[(shown - 1) * rows : shown * rows],
        total=len(listings),
        page=number,
        pages=pages,
        next_href=f"{path}?{urlencode({**query, 'page': number + 1})}" if more else None,
        category=category,
    )


def _count(text: str | None, default: int) -> int:
    """Read a parameter that counts from one; nonsense counts as not given, as on most sites."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return default
    return int(text) or default


def _amount(text: str | None, default: float) -> float:
    try:
        amount = float(text) if text else default
    except ValueError:
        return default
    return default if math.isnan(amount) else amount
