"""Parts of a page that present other products."""

from __future__ import annotations

import re
from itertools import islice

from pricewatch.parsing.pages.class_names import element_cues
from pricewatch.parsing.pages.element_tree import Element, has_many_elements, raw_text, short_text
from pricewatch.parsing.pages.heading_words import OTHER_PRODUCTS
from pricewatch.parsing.text import collapse_spaces, name_words
from pricewatch.parsing.url import is_other_page

_MAX_LINKS = 60
_MAX_ELEMENTS = 1_000
# Siblings on each side that are compared with a card.
_MAX_SIBLINGS = 100
_MIN_NAME_WORDS = 2
# A link to a file shows a larger picture or a manual, not another product.
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|pdf|zip)(?:$|\?)", re.IGNORECASE)
HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_MAX_HEADING_LENGTH = 80


def introduces_other_products(element: Element) -> bool:
    """Whether a heading introduces other products, such as "related products"."""
    text = collapse_spaces(short_text(element, 4 * _MAX_HEADING_LENGTH) or "").lower()
    return len(text) <= _MAX_HEADING_LENGTH and OTHER_PRODUCTS.search(text) is not None


def is_product_card(element: Element, page_url: str, name: frozenset[str]) -> bool:
    """Whether an element is the card of another product: its name and image link to another page."""
    if has_many_elements(element, _MAX_ELEMENTS):
        return False
    pictured: set[str] = set()
    named: set[str] = set()
    for count, link in enumerate(element.iter("a")):
        if count >= _MAX_LINKS:
            return False
        target = link.get("href")
        if not is_other_page(page_url, target) or _FILE.search(target):
            continue
        image = next(link.iter("img"), None)
        is_heading = _is_heading(link)
        if image is None and not is_heading:
            continue
        text = raw_text(link).strip()
        label = link.get("title") or text or ("" if image is None else image.get("alt"))
        other = name_words(label or "")
        if len(other) < _MIN_NAME_WORDS or other <= name:
            continue
        if image is not None:
            pictured.add(target)
        # The image and the text of one link have the same name.
        if is_heading or (text and image is not None and name_words(image.get("alt") or "") == other):
            named.add(target)
    return bool(pictured & named) or (bool(pictured or named) and _is_one_of_many(element))


def _is_heading(link: Element) -> bool:
    parent = link.getparent()
    if any(inner.tag in HEADINGS or element_cues(inner).is_name for inner in link.iter()):
        return True
    return parent is not None and (parent.tag in HEADINGS or element_cues(parent).is_name)


def _is_one_of_many(element: Element) -> bool:
    """Whether a sibling has the same tag and class, like the items of a list."""
    own = (element.tag, element.get("class"))
    return any(
        (other.tag, other.get("class")) == own and next(other.iter("a"), None) is not None
        for preceding in (True, False)
        for other in islice(element.itersiblings(preceding=preceding), _MAX_SIBLINGS)
    )
