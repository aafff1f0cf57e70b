"""Search and pagination: the listings of a category or a search, page by page."""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pricewatch.bazaar import amounts
from pricewatch.bazaar.inventory import IndexKey, Inventory
from pricewatch.bazaar.sample_listing import SampleListing, latest
from pricewatch.bazaar.skins import ListPage

DEFAULT_ROWS = 30
STATUSES = ("on_sale", "sold", "all")
# The answer to a page beyond the last: a page with status 200, or an error or redirect.
BEYOND_PAGES = ("empty", "first", "repeat")
BEYOND_ANSWERS = ("404", "410", "to_first", "to_category")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Adjustable behaviour: pages beyond the last, largest page size, answers to HEAD."""

    beyond_last: str = "empty"
    max_rows: int = 90
    head: str = "ok"


def search(inventory: Inventory, query: Mapping[str, str], now: float) -> list[SampleListing]:
    """Return the listings that match a search, newest first. Price limits are in major units."""
    status = query.get("status") or "on_sale"
    category = query.get("category") or None
    categories = [index for name, index in inventory.categories.items() if category in (None, name)]
    lists: list[list[IndexKey]] = []
    if status != "sold":
        lists += [index.offered for index in categories]
    if status in ("sold", "all"):
        lists += [index.sold for index in categories]
    words = query.get("q", "").lower().split()
    low, high = _amount(query.get("min"), -math.inf), _amount(query.get("max"), math.inf)
    found: list[SampleListing] = []
    for _, _, listing in heapq.merge(*lists):
        title = latest(listing.titles, now)[1].lower()
        if all(word in title for word in words):
            price = latest(listing.prices, now)[1] / amounts.MINOR_UNITS[listing.currency]
            if low <= price <= high:
                found.append(listing)
    return found


def page_of(
    heading: str,
    path: str,
    query: Mapping[str, str],
    listings: Sequence[SampleListing],
    behaviour: Behaviour,
    category: str | None = None,
) -> ListPage | None:
    """Return the requested page; None if it is beyond the last and answered by an error or redirect."""
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
    return ListPage(
        heading=heading,
        listings=listings[(shown - 1) * rows : shown * rows],
        total=len(listings),
        page=number,
        pages=pages,
        next_href=f"{path}?{urlencode({**query, 'page': number + 1})}" if more else None,
        category=category,
    )


def _count(text: str | None, default: int) -> int:
    """Parse a parameter that counts from one; ignore invalid values, as most sites do."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return default
    return int(text) or default


def _amount(text: str | None, default: float) -> float:
    try:
        amount = float(text) if text else default
    except ValueError:
        return default
    return default if math.isnan(amount) else amount
