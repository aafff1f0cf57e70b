"""Parts of a page that present another product than the page's own."""

from __future__ import annotations

from .class_names import element_cues
from .text import words
from .tree import Element, raw_text
from .url import is_other_page

_MOST_LINKS = 60
_NAME_WORDS = 2
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})


def is_product_card(element: Element, page_url: str, name: frozenset[str]) -> bool:
    """Whether a small part of a page presents another product: its name and picture link to another page."""
    pictured: set[str] = set()
    named: set[str] = set()
    for count, link in enumerate(element.iter("a")):
        if count >= _MOST_LINKS:
            return False
        target = link.get("href")
        if not is_other_page(page_url, target):
            continue
        image = next(link.iter("img"), None)
        is_heading = _is_heading(link)
        if image is None and not is_heading:
            continue
        label = link.get("title") or raw_text(link).strip() or ("" if image is None else image.get("alt"))
        other = words(label or "")
        if len(other) < _NAME_WORDS or other <= name:
            continue
        if image is not None:
            pictured.add(target)
        if is_heading:
            named.add(target)
    return bool(pictured & named) or (bool(pictured or named) and _is_one_of_many(element))


def _is_heading(link: Element) -> bool:
    parent = link.getparent()
    if element_cues(link).is_name or next(link.iter(*_HEADINGS), None) is not None:
        return True
    return parent is not None and (parent.tag in _HEADINGS or element_cues(parent).is_name)


def _is_one_of_many(element: Element) -> bool:
    """Whether a sibling is built the same way, as the items of a list are."""
    own = (element.tag, element.get("class"))
    return any(
        (other.tag, other.get("class")) == own and next(other.iter("a"), None) is not None
        for preceding in (True, False)
        for other in element.itersiblings(preceding=preceding)
    )
