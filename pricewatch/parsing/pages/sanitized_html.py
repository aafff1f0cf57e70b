"""A sanitized copy of a page for display: text and structure, without scripts, resources and links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import lxml.html  # type: ignore[import-untyped]
from lxml import etree

from pricewatch.parsing.pages.element_path import elements_at
from pricewatch.parsing.pages.element_tree import Element

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
_NO_DIGIT = re.compile(r"\D+")


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
        return _document("<p>This page cannot be displayed.</p>", stylesheet)
    # Paths may use attributes that are removed below.
    labels = _labels(root, marks)
    for node in list(root.iter()):
        if not isinstance(node.tag, str):
            _drop(node)
    for node in list(root.iter(*_REMOVED)):
        _drop(node)
    for node in root.iter():
        if node.tag in _REPLACED_BY_SPAN:
            # Keep the text of links and buttons, without their function.
            node.tag = "span"
        if ":" in node.tag or not node.tag.isalnum():
            node.tag = "div"
        for name in list(node.attrib):
            if name not in _ALLOWED_ATTRIBUTES:
                del node.attrib[name]
        if node.tag == "img":
            node.tag = "span"
            node.text = node.get("alt") or ""
        if node in labels:
            node.set(_MARK, " ".join(labels[node]))
    body = root.find("body")
    sanitized = lxml.html.tostring(body if body is not None else root, encoding="unicode")
    return _document(sanitized, stylesheet)


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
    found = [(_NO_DIGIT.sub("", "".join(element.itertext())), element) for element in elements if digits]
    # The text of a candidate may be cut off.
    matches = [one for has, one in found if has == digits] or [
        one for has, one in found if has.startswith(digits)
    ]
    return matches[0] if matches else None


def _drop(node: Any) -> None:
    parent = node.getparent()
    if parent is not None:
        if isinstance(node, lxml.html.HtmlElement):
            node.drop_tree()
        else:
            parent.remove(node)


def _document(body: str, stylesheet: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{stylesheet}">{body}'
