"""What the adapters of single sites share: looking into a page that may be anything, without ever failing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, TypeAlias

from parsel import Selector, SelectorList
from scrapy.http import TextResponse

from pricewatch.items import ExtractFailure
from pricewatch.parsing.pages.availability import is_buy_button, text_availability
from pricewatch.parsing.pages.block_notices import blocked_reason
from pricewatch.parsing.pages.displayed_price import tag_text
from pricewatch.parsing.pages.element_tree import shown_text
from pricewatch.parsing.pages.response_tree import page_tree
from pricewatch.parsing.prices.currency_marks import BLOCK, PIECE
from pricewatch.parsing.prices.one_price import one_price
from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price
from pricewatch.parsing.text import clean
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url
from pricewatch.vocabulary import Availability, FailureReason

Box: TypeAlias = Selector | SelectorList[Selector]

GONE_STATUS = frozenset({404, 410})
_FEW_LETTERS = 40
_LONGEST_END = 1000
# What stands neither in the crossed-out price nor in its successor, nor repeats them for those who listen.
_BESIDE_BOTH = (
    ".//text()[not(ancestor::del or ancestor::s or ancestor::strike or ancestor::ins"
    " or ancestor::*[contains(@class, 'screen-reader-text')])]"
)
_CROSSED_OUT, _SUCCESSOR = ".//del | .//s | .//strike", ".//ins"
# Where a shop puts cents into an element of their own.
_CENTS = "sup, sub, small, [class*=cent], [class*=decimal], [class*=fraction]"
_MARKS = re.compile(f"[{PIECE}{BLOCK}]+")
_RUNS_ON = re.compile(rf"\d\s*[{PIECE}{BLOCK}][\s{PIECE}{BLOCK}]*\d")
_DIGIT = re.compile(r"\d")
_PLAIN_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_LATEST_SECONDS = 4_102_444_800


def document(response: TextResponse) -> Selector:
    """The page's tree, whatever the server called its content."""
    return Selector(text=response.text, type="html")


def whole_document(response: TextResponse) -> Selector:
    """The same, but empty where the page was cut short: of "$1,850" there may be "$1" left."""
    return document(response) if is_whole(response) else Selector(text="", type="html")


def root_of(response: TextResponse) -> Any:
    """The root element of the page's tree; an empty one where the page was cut short."""
    root = page_tree(response) if is_whole(response) else None
    return Selector(text="", type="html").root if root is None else root


def is_whole(response: TextResponse) -> bool:
    end = response.body[-_LONGEST_END:].lower()
    return b"</html>" in end or "</html>" in response.text[-_LONGEST_END:].lower()


def decoded(text: str) -> Any:
    """The JSON value of a text; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def data_of(response: TextResponse, scripts: str) -> list[Any]:
    """The JSON that the response is, or that scripts of its page hold."""
    own = decoded(response.text)
    if own is not None:
        return [own]
    texts = document(response).css(f"{scripts}::text").getall()
    return [value for text in texts if (value := decoded(text)) is not None]


def at(value: Any, *path: str | int) -> Any:
    """What lies at a path of keys and positions; None as soon as something on the way is missing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """The text or number at a path, as clean text; empty where there is something else or nothing."""
    found = at(value, *path)
    return clean(str(found)) if isinstance(found, (str, int, float)) and not isinstance(found, bool) else ""


def first_text_at(value: Any, *paths: tuple[str | int, ...]) -> str:
    """The text at the first of several paths that has one; 0 is what machines put where there is none."""
    return next((text for path in paths if (text := text_at(value, *path)) not in ("", "0")), "")


def texts_at(value: Any, **paths: tuple[str | int, ...]) -> dict[str, str]:
    """The texts at several paths, under names of one's own; empty where there is none."""
    return {name: text_at(value, *path) for name, path in paths.items()}


def count_at(value: Any, *path: str | int) -> int | None:
    """The whole number at a path."""
    return count_of(text_at(value, *path))


def rows_at(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of a list at a path."""
    found = at(value, *path)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def named_values(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """All values of each name, in both shapes that lists of attributes have."""
    found: dict[str, list[str]] = {}
    for row in rows:
        values = row.get("values", row.get("value"))
        for value in values if isinstance(values, list) else [values]:
            found.setdefault(text_at(row, "name"), []).append(text_at([value], 0))
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def words_of(element: Selector) -> str:
    """What a reader sees of an element."""
    return clean(shown_text(element.root))


def shown(selector: Box, css: str) -> list[str]:
    """The different texts that elements show, in their order; none for elements that show nothing."""
    return _different(words_of(element) for element in selector.css(css))


def price_shown(selector: Box, css: str) -> str:
    """The one text at a place for prices; empty where digits of two elements would run into one number."""
    return _price_of(selector.css(css))


def price_now(selector: Box, css: str) -> str:
    """The same, but beside a crossed-out price only its successor, or all there is."""
    places = selector.css(css)
    if not places.xpath(_CROSSED_OUT) and not places.xpath(_SUCCESSOR):
        return _price_of(places)
    beside = [place.xpath(_BESIDE_BOTH).getall() for place in places]
    if successors := places.xpath(_SUCCESSOR):
        return "" if any(_DIGIT.search(text) for texts in beside for text in texts) else _price_of(successors)
    return only(_different(_joined(texts) for texts in beside))


def _price_of(places: SelectorList[Selector]) -> str:
    if places.css(_CENTS) and len(places) == 1:
        text = tag_text(places[0].root)
        return "" if _RUNS_ON.search(text) else clean(_MARKS.sub(" ", text))
    if any(not _joined(place.xpath(".//text()").getall()) for place in places if words_of(place)):
        return ""
    return only(_different(map(words_of, places)))


def _joined(texts: list[str]) -> str:
    """Texts in a row; empty where digits of two would run into one number."""
    pieces = [piece.strip() for piece in texts if piece.strip()]
    runs_on = any(one[-1].isdigit() and other[0].isdigit() for one, other in pairwise(pieces))
    return "" if runs_on else clean(" ".join(pieces))


def _different(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def first_of(selector: Box, css: str) -> str:
    """The first of what a selector of attributes or texts finds."""
    return clean(selector.css(css).get() or "")


def part_of(pattern: re.Pattern[str], text: str) -> str:
    """The part of a text that a pattern means, its group if it has one; empty where there is none."""
    found = pattern.search(text)
    return clean(found[pattern.groups] or "") if found else ""


def only(values: list[str]) -> str:
    """The one text there is: of two that differ, neither can be trusted."""
    return values[0] if len(values) == 1 else ""


def number_of(value: Any) -> float | None:
    text = str(value)
    return float(text) if _PLAIN_NUMBER.fullmatch(text) else None


def count_of(text: str | None) -> int | None:
    return int(text) if text and _PLAIN_NUMBER.fullmatch(text) and "." not in text else None


def machine_cents(value: Any, currency: str) -> int | None:
    """The price in a field for machines, in minor units; None for anything that is not a plain number."""
    return parse_machine_price(str(value), currency).cents() if number_of(value) is not None else None


def price_cents(text: str, currency: str) -> int | None:
    """The price in a text that is nothing but a price, in this currency; 0 is kept for whoever holds it."""
    parsed = one_price(text, currency)
    if parsed.refusal is PriceRefusal.ZERO:
        return 0
    return parsed.cents() if parsed.currency == currency else None


def stock_shown(selector: Box, line: str, button: str) -> Availability:
    """What the stock line says; without one, a button that puts the product into the cart."""
    said = {text_availability(text) for text in shown(selector, line)}
    if said:
        return said.pop() if len(said) == 1 else Availability.UNKNOWN
    can_buy = any(is_buy_button(text) for text in shown(selector, button))
    return Availability.IN_STOCK if can_buy else Availability.UNKNOWN


def moment(value: Any) -> datetime | None:
    """The instant that seconds since 1970 name."""
    seconds = count_at([value], 0)
    return datetime.fromtimestamp(seconds, UTC) if seconds and seconds < _LATEST_SECONDS else None


def iso_moment(text: str | None) -> datetime | None:
    """The instant that a text such as `2026-11-14T14:27:42Z` names."""
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        return None


def link_to(base: str, link: str) -> str:
    """An absolute link that names a web page; empty where there is none."""
    try:
        url = absolute_url(base, clean(link))
        canonical_url(url)
    except InvalidUrl:
        return ""
    return url if link else ""


def unread(response: TextResponse, what: str) -> ExtractFailure:
    """Why a page could not be read: it is missing, a wall, empty, or it lacks `what` it should have."""
    if response.status in GONE_STATUS:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: status {response.status}")
    page = document(response)
    title = clean(page.xpath("string(//title)").get() or "")
    words = clean(" ".join(shown_text(body.root) for body in page.xpath("//body")))
    blocked = blocked_reason(title, words, response.text, response.status)
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked)
    if len(words) < _FEW_LETTERS and not title and not page.xpath("//script"):
        return ExtractFailure(FailureReason.EMPTY_PAGE, "the page shows nothing")
    return ExtractFailure(
        FailureReason.PAGE_STRUCTURE_CHANGED, what if is_whole(response) else f"{what}; the page has no end"
    )
