"""A page as it can be shown to people: its words and structure, nothing that runs, loads or leads away."""

from __future__ import annotations

from typing import Any

import lxml.html  # type: ignore[import-untyped]
from lxml import etree

# Gone with everything in them.
_REMOVED = (
    *("script", "style", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed", "applet"),
    *(
        "noscript",
        "template",
        "svg",
        "math",
        "audio",
        "video",
        "source",
        "track",
        "picture",
        "canvas",
        "portal",
    ),
)
_KEPT_ATTRIBUTES = frozenset(
    {"id", "class", "itemprop", "itemtype", "title", "alt", "colspan", "rowspan", "dir", "lang", "content"}
)
_UNWRAPPED = ("form", "button", "input", "select", "textarea", "a", "area", "map")
LARGEST = 3_000_000


def sanitized_page(text: str, stylesheet: str) -> str:
    """The page for a frame of ours; `stylesheet` is the address of the only thing that it loads."""
    try:
        root = lxml.html.document_fromstring(text[:LARGEST].replace("\x00", "") or "<p></p>")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return _document("<p>This page cannot be shown.</p>", stylesheet)
    for node in list(root.iter()):
        if not isinstance(node.tag, str):
            _drop(node)
    for node in list(root.iter(*_REMOVED)):
        _drop(node)
    for node in root.iter():
        if node.tag in _UNWRAPPED:
            # What was a link or a button still shows where it was, and does nothing.
            node.tag = "span"
        if ":" in node.tag or not node.tag.isalnum():
            node.tag = "div"
        for name in list(node.attrib):
            if name not in _KEPT_ATTRIBUTES:
                del node.attrib[name]
        if node.tag == "img":
            node.tag = "span"
            node.text = node.get("alt") or ""
    body = root.find("body")
    shown = lxml.html.tostring(body if body is not None else root, encoding="unicode")
    return _document(shown, stylesheet)


def _drop(node: Any) -> None:
    parent = node.getparent()
    if parent is not None:
        lxml.html.HtmlElement.drop_tree(node) if isinstance(node, lxml.html.HtmlElement) else parent.remove(
            node
        )


def _document(body: str, stylesheet: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{stylesheet}">{body}'
