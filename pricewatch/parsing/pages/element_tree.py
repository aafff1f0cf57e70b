"""The element tree of a page, parsed once and shared by everything that reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from pricewatch.parsing.text import word_set

# lxml ships no types; this name says what is meant.
Element = Any

# Elements that do not interrupt a line of text.
INLINE = word_set(
    "span b strong i em sup sub small a font ins del s strike data bdi abbr u label time bdo mark meta "
    "link wbr"
)
_NOT_SHOWN = word_set("script style noscript template head title svg iframe")


def parse_html(body: bytes) -> Element | None:
    """The root element of a page in UTF-8, or None where there is nothing to parse."""
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


def compiled_xpath(expression: str) -> Callable[[Element], list[Element]]:
    find: Callable[[Element], list[Element]] = etree.XPath(expression, smart_strings=False)
    return find


def is_shown_tag(element: Element) -> bool:
    return element.tag not in _NOT_SHOWN


def shown_text(element: Element, longest: int = 100_000) -> str:
    """What a reader sees of an element, without scripts, styles and templates; cut once it is too long."""
    pieces: list[str] = []
    length = 0
    pending = [(element, False)]
    while pending and length <= longest:
        node, is_tail = pending.pop()
        if not is_tail and node.tag in _NOT_SHOWN:
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
    """All text of an element, scripts included: quicker than `shown_text` where that does not matter."""
    return "".join(element.itertext())


def place(element: Element) -> str:
    """A short address of an element for people: tag, id and first classes, with its parent."""
    own = _label(element)
    parent = element.getparent()
    return own if parent is None else f"{_label(parent)} > {own}"


def _label(element: Element) -> str:
    name = element.get("id")
    classes = (element.get("class") or "").split()[:2]
    return str(element.tag) + (f"#{name}" if name else "") + "".join(f".{one}" for one in classes)
