"""A sanitized copy of a page for display: text and structure, without scripts, resources and links."""

from __future__ import annotations

from typing import Any

import lxml.html  # type: ignore[import-untyped]
from lxml import etree

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


def sanitized_page(text: str, stylesheet: str) -> str:
    """Sanitize a page for display in a frame; it loads nothing but `stylesheet`."""
    try:
        root = lxml.html.document_fromstring(text[:MAX_LENGTH].replace("\x00", "") or "<p></p>")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return _document("<p>This page cannot be displayed.</p>", stylesheet)
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
    body = root.find("body")
    sanitized = lxml.html.tostring(body if body is not None else root, encoding="unicode")
    return _document(sanitized, stylesheet)


def _drop(node: Any) -> None:
    parent = node.getparent()
    if parent is not None:
        if isinstance(node, lxml.html.HtmlElement):
            node.drop_tree()
        else:
            parent.remove(node)


def _document(body: str, stylesheet: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{stylesheet}">{body}'
