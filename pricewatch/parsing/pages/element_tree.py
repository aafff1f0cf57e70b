"""Parsing a page into an element tree, and the visible text of its elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree  # type: ignore[import-untyped]
from scrapy.http import TextResponse

from pricewatch.parsing.page_encodings import use_standard_encodings
from pricewatch.parsing.text import word_set

use_standard_encodings()

# lxml has no type annotations.
Element = Any

# Elements that do not break a line of text.
INLINE = word_set(
    "span b strong i em sup sub small a font ins del s strike data bdi abbr u label time bdo mark meta "
    "link wbr"
)
# Elements whose content a browser does not show as a part of the page.
NOT_DISPLAYED = ("template", "noscript", "select", "textarea", "iframe", "noframes", "xmp")
# A price tag, a button or a label has far fewer.
_MAX_SMALL_ELEMENTS = 200
_MAX_LABEL_NAME = 40
_INVISIBLE = word_set("script style noscript template head title svg iframe")


class ParsedPage(NamedTuple):
    root: Element
    # Whether the parser stopped before the end, because elements are nested too deeply.
    is_cut: bool


def parse_html(body: bytes) -> Element | None:
    """The root element of a UTF-8 page; None if the page is empty."""
    page = parse_page(body)
    return None if page is None else page.root


def parse_page(body: bytes) -> ParsedPage | None:
    """Parse a UTF-8 page; None if the page is empty."""
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
        root = etree.fromstring(data, parser)
    except etree.LxmlError:
        return None
    if root is None:
        return None
    error = parser.error_log.last_error
    return ParsedPage(root, error is not None and error.level == etree.ErrorLevels.FATAL)


def parse_response(response: TextResponse) -> ParsedPage | None:
    """Parse a page without a `Selector`, which would decode and encode it first; None if it is empty."""
    if is_utf8_response(response):
        try:
            response.body.decode()
        except UnicodeDecodeError:
            # Some builds of libxml2 keep invalid UTF-8 bytes; the decoded text has none.
            pass
        else:
            return parse_page(response.body)
    return parse_page(response.text.encode("utf-8", "replace"))


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


def is_in_undisplayed(element: Element) -> bool:
    """Whether an element is inside of one whose content is not displayed."""
    return next(element.iterancestors(*NOT_DISPLAYED), None) is not None


def visible_text(element: Element, max_length: int = 100_000, max_elements: int = 200_000) -> str:
    """The text of an element without scripts, styles and templates; stops once it exceeds a limit."""
    pieces: list[str] = []
    length = 0
    for number, (node, text) in enumerate(_visible_parts(element)):
        if length > max_length or number > max_elements:
            break
        if node.tag not in INLINE:
            pieces.append(" ")
        if text:
            pieces.append(text)
            length += len(text.strip())
    return "".join(pieces)


def _visible_parts(element: Element) -> Iterator[tuple[Element, str | None]]:
    """Each element with its text, and each element with the text after it; nothing is read in advance."""
    if element.tag in _INVISIBLE:
        return
    yield element, element.text
    pending = [(element, iter(element))]
    while pending:
        node, children = pending[-1]
        child = next(children, None)
        if child is None:
            pending.pop()
            if pending and node.tail:
                yield node, node.tail
        elif child.tag in _INVISIBLE:
            yield child, child.tail
        else:
            yield child, child.text
            if len(child):
                pending.append((child, iter(child)))
            elif child.tail:
                yield child, child.tail


def raw_text(element: Element) -> str:
    """All text of an element, including scripts; faster than `visible_text`."""
    return "".join(element.itertext())


def has_many_elements(element: Element, most: int = _MAX_SMALL_ELEMENTS) -> bool:
    """Whether an element has more descendants than `most`: it is not a small part of the page.

    What is read for many elements, each with all that it contains, is read for small ones only.
    """
    return next(islice(element.iterdescendants(), most, None), None) is not None


def text_within(element: Element, max_length: int) -> str | None:
    """All text of a small element; None if it has more than `max_length` characters."""
    text = short_text(element, max_length)
    return None if text is None or len(text) > max_length else text


def short_text(element: Element, max_length: int) -> str | None:
    """All text of a small element; None if it has more than `max_length` characters.

    Spaces at the ends of its parts do not count.
    """
    if has_many_elements(element):
        return None
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
    name = (element.get("id") or "")[:_MAX_LABEL_NAME]
    classes = (element.get("class") or "")[: 3 * _MAX_LABEL_NAME].split()[:2]
    shown = "".join(f".{one[:_MAX_LABEL_NAME]}" for one in classes)
    return str(element.tag)[:_MAX_LABEL_NAME] + (f"#{name}" if name else "") + shown
