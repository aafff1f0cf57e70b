"""Parsing a page into an element tree, and the visible text of its elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree  # type: ignore[import-untyped]
from scrapy.http import TextResponse

from pricewatch.parsing.text import word_set

# lxml has no type annotations.
Element = Any

# Elements that do not break a line of text.
INLINE = word_set(
    "span b strong i em sup sub small a font ins del s strike data bdi abbr u label time bdo mark meta "
    "link wbr"
)
_INVISIBLE = word_set("script style noscript template head title svg iframe")


def parse_html(body: bytes) -> Element | None:
    """The root element of a UTF-8 page; None if the page is empty."""
    data = body.replace(b"\x00", b"") if b"\x00" in body else body
    if not data.strip():
        return None
    parser = etree.HTMLParser(
        encoding="utf-8",
        recover=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError:
        return None


def parse_response(response: TextResponse) -> Element | None:
    """Parse a page without a `Selector`, which would decode and encode it first; None if it is empty."""
    if is_utf8_response(response):
        try:
            response.body.decode()
        except UnicodeDecodeError:
            # Some builds of libxml2 keep invalid UTF-8 bytes; the decoded text has none.
            pass
        else:
            return parse_html(response.body)
    return parse_html(response.text.encode("utf-8", "replace"))


def is_utf8_response(response: TextResponse) -> bool:
    """Whether the page is UTF-8; faster than `response.encoding`, which costs a tenth of the parsing time."""
    header = (response.headers.get("Content-Type") or b"").lower()
    start = response.body[:4096].lower()
    for declaration in (header, start):
        position = declaration.find(b"charset")
        if position >= 0:
            return b"utf-8" in declaration[position : position + 16]
    if b"encoding" in start:
        return (response.encoding or "").lower() == "utf-8"
    # Without a declaration, a page is UTF-8 if it decodes as UTF-8.
    try:
        response.body.decode()
    except UnicodeDecodeError:
        return False
    return True


def compiled_xpath(expression: str) -> Callable[[Element], list[Element]]:
    find: Callable[[Element], list[Element]] = etree.XPath(expression, smart_strings=False)
    return find


def is_visible_tag(element: Element) -> bool:
    return element.tag not in _INVISIBLE


def visible_text(element: Element, max_length: int = 100_000) -> str:
    """The text of an element without scripts, styles and templates; stops once it exceeds `max_length`."""
    pieces: list[str] = []
    length = 0
    pending = [(element, False)]
    while pending and length <= max_length:
        node, is_tail = pending.pop()
        if not is_tail and node.tag in _INVISIBLE:
            continue
        text = node.tail if is_tail else node.text
        if node.tag not in INLINE:
            pieces.append(" ")
        if text:
            pieces.append(text)
            length += len(text.strip())
        if not is_tail:
            for child in reversed(node):
                if child.tail:
                    pending.append((child, True))
                pending.append((child, False))
    return "".join(pieces)


def raw_text(element: Element) -> str:
    """All text of an element, including scripts; faster than `visible_text`."""
    return "".join(element.itertext())


def short_text(element: Element, max_length: int) -> str | None:
    """All text of an element; None if it has more than `max_length` characters without spaces at the ends."""
    pieces: list[str] = []
    length = 0
    for piece in element.itertext():
        pieces.append(piece)
        length += len(piece.strip())
        if length > max_length:
            return None
    return "".join(pieces)


def describe_element(element: Element) -> str:
    """A short description of an element: tag, id and first classes, with its parent."""
    own = _label(element)
    parent = element.getparent()
    return own if parent is None else f"{_label(parent)} > {own}"


def _label(element: Element) -> str:
    name = element.get("id")
    classes = (element.get("class") or "").split()[:2]
    return str(element.tag) + (f"#{name}" if name else "") + "".join(f".{one}" for one in classes)
