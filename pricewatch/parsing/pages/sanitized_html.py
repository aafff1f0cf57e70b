"""A sanitized copy of a page for display: text and structure, without scripts, resources and links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import lxml.html  # type: ignore[import-untyped]
from lxml import etree

from pricewatch.parsing.pages.element_path import elements_at
from pricewatch.parsing.pages.element_tree import Element, short_text

# Removed with their content.
_REMOVED = (
    "script", "style", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed", "applet",
    "noscript", "template", "svg", "math", "audio", "video", "source", "track", "picture", "canvas", "portal",
)  # fmt: skip
_ALLOWED_ATTRIBUTES = frozenset(
    {"id", "class", "itemprop", "itemtype", "title", "alt", "colspan", "rowspan", "dir", "lang", "content"}
)
_REPLACED_BY_SPAN = ("form", "button", "input", "select", "textarea", "a", "area", "map")
MAX_LENGTH = 3_000_000
# Not an allowed attribute, so a page cannot set it.
_MARK = "data-pricewatch-mark"
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NO_DIGIT = re.compile(r"\D+")
_MAX_ELEMENTS = 100
_MAX_MARKED_LENGTH = 5_000


class PageMark(NamedTuple):
    """A label for the element at a path; the text tells apart several elements at the same path."""

    path: str
    text: str
    label: str


def sanitized_page(text: str, stylesheet: str, marks: Iterable[PageMark] = ()) -> str:
    """Sanitize a page for display in a frame; it loads nothing but `stylesheet`, which shows the marks."""
    try:
        root = lxml.html.document_fromstring(text[:MAX_LENGTH].replace("\x00", "") or "<p></p>")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return notice_document("This page cannot be displayed.", stylesheet)
    # Paths may use attributes that are removed below.
    labels = _labels(root, marks)
    etree.strip_elements(root, *_REMOVED, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    for node in root.iter():
        if node.tag in _REPLACED_BY_SPAN:
            # Keep the text of links and buttons, without their function.
            node.tag = "span"
        if ":" in node.tag or not node.tag.isalnum():
            node.tag = "div"
        kept = {name: _xml_text(value) for name, value in node.items() if name in _ALLOWED_ATTRIBUTES}
        # A page may give attributes names that lxml does not accept, not even to delete them.
        node.attrib.clear()
        node.attrib.update(kept)
        if node.tag == "img":
            node.tag = "span"
            node.text = kept.get("alt", "")
        if node in labels:
            node.set(_MARK, " ".join(labels[node]))
    body = root.find("body")
    sanitized = lxml.html.tostring(body if body is not None else root, encoding="unicode")
    return _document(sanitized, stylesheet)


def notice_document(sentence: str, stylesheet: str) -> str:
    """A sentence in place of a page."""
    return _document(f"<p>{escape(sentence)}</p>", stylesheet)


def _xml_text(text: str) -> str:
    """The text without characters that lxml does not accept."""
    return _NOT_XML.sub("", text)


def _labels(root: Element, marks: Iterable[PageMark]) -> dict[Element, list[str]]:
    labels: dict[Element, list[str]] = {}
    for mark in marks:
        element = _marked_element(elements_at(root, mark.path), mark.text)
        if element is not None and mark.label not in labels.setdefault(element, []):
            labels[element].append(mark.label)
    return labels


def _marked_element(elements: list[Element], text: str) -> Element | None:
    """The element with the digits of the text; None if there are several elements, and none has them."""
    if len(elements) == 1:
        return elements[0]
    digits = _NO_DIGIT.sub("", text)
    found = [
        (_NO_DIGIT.sub("", short), element)
        for element in elements[:_MAX_ELEMENTS]
        if digits and (short := short_text(element, _MAX_MARKED_LENGTH))
    ]
    # The text of a candidate may be cut off.
    matches = [one for has, one in found if has == digits] or [
        one for has, one in found if has.startswith(digits)
    ]
    return matches[0] if matches else None


def _document(body: str, stylesheet: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{stylesheet}">{body}'
