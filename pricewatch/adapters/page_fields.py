"""Functions that site adapters share to read values from HTML and JSON.

They return an empty value where a page lacks something, and never raise.
"""

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
from pricewatch.parsing.pages.element_tree import has_many_elements, parse_response, visible_text
from pricewatch.parsing.prices.currency_marks import BLOCK_BREAK, PIECE_BREAK
from pricewatch.parsing.prices.one_price import one_price
from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price
from pricewatch.parsing.text import clean
from pricewatch.parsing.url import InvalidUrl, absolute_url, canonical_url
from pricewatch.vocabulary import Availability, FailureReason

Box: TypeAlias = Selector | SelectorList[Selector]

GONE_STATUS = frozenset({404, 410})
_MIN_TEXT_LENGTH = 40
# Elements at one selector, and their text and elements: a field of a listing has far fewer.
MAX_MATCHES = 100
_MAX_TEXT_LENGTH = 20_000
_MAX_ELEMENTS = 5_000
_MAX_FIELD_ELEMENTS = 1_000
_END_LENGTH = 1000
# Text outside both the crossed-out price and its replacement, and outside text for screen readers.
_OUTSIDE_BOTH = (
    ".//text()[not(ancestor::del or ancestor::s or ancestor::strike or ancestor::ins"
    " or ancestor::*[contains(@class, 'screen-reader-text')])]"
)
_CROSSED_OUT, _REPLACEMENT = ".//del | .//s | .//strike", ".//ins"
# Elements that shops use for the cents of a price.
_CENTS = "sup, sub, small, [class*=cent], [class*=decimal], [class*=fraction]"
_BREAKS = re.compile(f"[{PIECE_BREAK}{BLOCK_BREAK}]+")
_SPLIT_DIGITS = re.compile(rf"\d\s*[{PIECE_BREAK}{BLOCK_BREAK}][\s{PIECE_BREAK}{BLOCK_BREAK}]*\d")
_DIGIT = re.compile(r"\d")
_PLAIN_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_MAX_TIMESTAMP = 4_102_444_800


def parse_document(response: TextResponse) -> Selector:
    """Parse the page as HTML, whatever its content type."""
    return Selector(text=response.text, type="html")


def parse_complete_document(response: TextResponse) -> Selector:
    """Parse the page; a truncated page gives an empty document, because "$1,850" may be cut to "$1"."""
    return parse_document(response) if is_complete(response) else Selector(text="", type="html")


def parse_complete_root(response: TextResponse) -> Any:
    """The root element of the page; an empty one if the page is truncated."""
    page = parse_response(response) if is_complete(response) else None
    return Selector(text="", type="html").root if page is None or page.is_cut else page.root


def is_complete(response: TextResponse) -> bool:
    """Whether the page ends with `</html>`."""
    end = response.body[-_END_LENGTH:].lower()
    return b"</html>" in end or "</html>" in response.text[-_END_LENGTH:].lower()


def decode_json(text: str) -> Any:
    """The decoded JSON value; None if the text is not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_data(response: TextResponse, scripts: str) -> list[Any]:
    """The JSON values of a response: its body, or else the scripts that match the selector."""
    body = decode_json(response.text)
    if body is not None:
        return [body]
    texts = parse_document(response).css(f"{scripts}::text").getall()
    return [value for text in texts if (value := decode_json(text)) is not None]


def value_at(value: Any, *path: str | int) -> Any:
    """The value at a path of keys and indexes; None if a step is missing."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """The string or number at a path as clean text; empty for any other value."""
    found = value_at(value, *path)
    return clean(str(found)) if isinstance(found, (str, int, float)) and not isinstance(found, bool) else ""


def first_text_at(value: Any, *paths: tuple[str | int, ...]) -> str:
    """The first non-empty text among several paths; "0" counts as empty."""
    return next((text for path in paths if (text := text_at(value, *path)) not in ("", "0")), "")


def texts_at(value: Any, **paths: tuple[str | int, ...]) -> dict[str, str]:
    """The texts at several paths, by keyword name."""
    return {name: text_at(value, *path) for name, path in paths.items()}


def integer_at(value: Any, *path: str | int) -> int | None:
    """The integer at a path."""
    return plain_integer(text_at(value, *path))


def objects_at(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of the list at a path."""
    found = value_at(value, *path)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def values_by_name(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Collect the distinct values of each name from rows with `value` or `values`."""
    found: dict[str, list[str]] = {}
    for row in rows:
        values = row.get("values", row.get("value"))
        for value in values if isinstance(values, list) else [values]:
            found.setdefault(text_at(row, "name"), []).append(text_at([value], 0))
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def element_text(element: Selector, max_elements: int = _MAX_ELEMENTS) -> str:
    """The visible text of an element."""
    return clean(visible_text(element.root, _MAX_TEXT_LENGTH, max_elements))


def visible_texts(selector: Box, css: str) -> list[str]:
    """The distinct non-empty texts of the first matching elements, in document order."""
    return _distinct(
        element_text(element, _MAX_FIELD_ELEMENTS) for element in selector.css(css)[:MAX_MATCHES]
    )


def single_text(selector: Box, css: str) -> str:
    """The text of the matching elements; empty if there is none, if they differ or if there are too many."""
    return single(visible_texts(selector, css)) if len(selector.css(css)) <= MAX_MATCHES else ""


def price_text(selector: Box, css: str) -> str:
    """The single price text at a selector; empty if digits of two elements would form one number."""
    elements = selector.css(css)
    return _price_text(elements) if _are_tags(elements) else ""


def current_price_text(selector: Box, css: str) -> str:
    """Like `price_text`, but ignores a crossed-out price and prefers its replacement (`<ins>`)."""
    elements = selector.css(css)
    if not _are_tags(elements):
        return ""
    if not elements.xpath(_CROSSED_OUT) and not elements.xpath(_REPLACEMENT):
        return _price_text(elements)
    outside = [element.xpath(_OUTSIDE_BOTH).getall() for element in elements]
    if replacements := elements.xpath(_REPLACEMENT):
        is_ambiguous = any(_DIGIT.search(text) for texts in outside for text in texts)
        return "" if is_ambiguous else _price_text(replacements)
    return single(_distinct(_join_texts(texts) for texts in outside))


def _are_tags(elements: SelectorList[Selector]) -> bool:
    """Whether elements can be price tags: a few, and small ones."""
    return len(elements) <= MAX_MATCHES and not any(has_many_elements(one.root) for one in elements)


def _price_text(elements: SelectorList[Selector]) -> str:
    if elements.css(_CENTS) and len(elements) == 1:
        text = tag_text(elements[0].root)
        return "" if _SPLIT_DIGITS.search(text) else clean(_BREAKS.sub(" ", text))
    if any(not _join_texts(one.xpath(".//text()").getall()) for one in elements if element_text(one)):
        return ""
    return single(_distinct(map(element_text, elements)))


def _join_texts(texts: list[str]) -> str:
    """Join texts with spaces; empty if two neighbours would join digits to one number."""
    pieces = [piece.strip() for piece in texts if piece.strip()]
    joins_digits = any(one[-1].isdigit() and other[0].isdigit() for one, other in pairwise(pieces))
    return "" if joins_digits else clean(" ".join(pieces))


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def first_match(selector: Box, css: str) -> str:
    """The first attribute or text that a selector matches; empty if there is none."""
    return clean(selector.css(css).get() or "")


def single_match(selector: Box, css: str) -> str:
    """The attribute or text that all matches have; empty if there is none, if they differ or are too many."""
    matches = selector.css(css)
    if len(matches) > MAX_MATCHES:
        return ""
    return single(_distinct(clean(match.get()[:_MAX_TEXT_LENGTH]) for match in matches))


def first_matches(selector: Box, css: str) -> list[str]:
    """The distinct attributes or texts of the first matches, sorted."""
    return sorted({clean(text) for text in selector.css(css)[:MAX_MATCHES].getall()})


def pattern_match(pattern: re.Pattern[str], text: str) -> str:
    """The group of a pattern in a text, or the whole match if it has no group; empty if it does not match."""
    found = pattern.search(text)
    return clean(found[pattern.groups] or "") if found else ""


def single(values: list[str]) -> str:
    """The only value of a list; empty if there are none or several."""
    return values[0] if len(values) == 1 else ""


def plain_number(value: Any) -> float | None:
    text = str(value)
    return float(text) if _PLAIN_NUMBER.fullmatch(text) else None


def plain_integer(text: str | None) -> int | None:
    return int(text) if text and _PLAIN_NUMBER.fullmatch(text) and "." not in text else None


def machine_cents(value: Any, currency: str) -> int | None:
    """The price of a machine-readable field in minor units; None if it is not a plain number."""
    return parse_machine_price(str(value), currency).cents() if plain_number(value) is not None else None


def price_cents(text: str, currency: str) -> int | None:
    """The price of a text that holds one price in this currency; 0 is returned so that it is quarantined."""
    parsed = one_price(text, currency)
    if parsed.refusal is PriceRefusal.ZERO:
        return 0
    return parsed.cents() if parsed.currency == currency else None


def visible_availability(selector: Box, line: str, button: str) -> Availability:
    """The availability from the stock line, or, without one, from a buy button."""
    states = {text_availability(text) for text in visible_texts(selector, line)}
    if states:
        return states.pop() if len(states) == 1 else Availability.UNKNOWN
    can_buy = any(is_buy_button(text) for text in visible_texts(selector, button))
    return Availability.IN_STOCK if can_buy else Availability.UNKNOWN


def from_timestamp(value: Any) -> datetime | None:
    """The time of a Unix timestamp in seconds."""
    seconds = integer_at([value], 0)
    return datetime.fromtimestamp(seconds, UTC) if seconds and seconds < _MAX_TIMESTAMP else None


def from_iso_format(text: str | None) -> datetime | None:
    """The time of an ISO 8601 text such as `2026-11-14T14:27:42Z`."""
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        return None


def absolute_link(base: str, link: str) -> str:
    """An absolute http(s) link; empty if the link is not a web address."""
    try:
        url = absolute_url(base, clean(link))
        canonical_url(url)
    except InvalidUrl:
        return ""
    return url if link else ""


def explain_failure(response: TextResponse, missing: str) -> ExtractFailure:
    """Why a page could not be read: it is gone, blocked, empty, or `missing` describes what it lacks."""
    if response.status in GONE_STATUS:
        return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: status {response.status}")
    page = parse_document(response)
    title = clean(page.xpath("string(//title)").get() or "")
    text = clean(" ".join(visible_text(body.root) for body in page.xpath("//body")))
    blocked = blocked_reason(title, text, response.text, response.status)
    if blocked:
        return ExtractFailure(FailureReason.BLOCKED_PAGE, blocked)
    if len(text) < _MIN_TEXT_LENGTH and not title and not page.xpath("//script"):
        return ExtractFailure(FailureReason.EMPTY_PAGE, "the page shows nothing")
    details = missing if is_complete(response) else f"{missing}; the page is truncated"
    return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
