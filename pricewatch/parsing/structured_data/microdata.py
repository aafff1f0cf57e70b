"""Microdata and RDFa Lite in the structure of JSON-LD, read from the element tree.

`extruct` copies and cleans a part of the tree for every property, which costs more than parsing the page,
and it does not return the element of a price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pricewatch.parsing.pages.element_tree import Element, compiled_xpath, visible_text
from pricewatch.parsing.text import collapse_spaces


class VisibleText(str):
    """A value that is displayed text, not a machine-readable field."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Syntax:
    scope: str
    kind: str
    prop: str
    find: Any


# Selecting by attribute is the fastest XPath for elements that have it.
_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", compiled_xpath("descendant::*/@itemprop/.."))
_RDFA = _Syntax("typeof", "typeof", "property", compiled_xpath("descendant::*[not(self::meta)]/@property/.."))

_LINKS = frozenset({"a", "area", "link"})
_MEDIA = frozenset({"img", "source", "audio", "video", "embed", "iframe"})
_MAX_LENGTH = 500

# The key of an item's element among its properties.
ELEMENT = "@element"


def read_microdata(root: Element) -> list[dict[str, Any]]:
    """Top-level items with `@type`, properties and `@element`; loose properties form one more item."""
    return _read(root, _MICRODATA)


def read_rdfa(root: Element) -> list[dict[str, Any]]:
    return [item for item in _read(root, _RDFA) if item["@type"]]


def _read(root: Element, syntax: _Syntax) -> list[dict[str, Any]]:
    elements = syntax.find(root)
    scopes = _Scopes(syntax)
    for element in elements:
        scopes.of(element)
    if syntax is _MICRODATA:
        scopes.add_references(root)
    top: list[dict[str, Any]] = []
    orphans: dict[str, Any] = {"@type": ""}
    owned: set[Element] = set()
    for element in elements:
        owner, item = scopes.of(element), scopes.items.get(element)
        if owner is not None and item is not None:
            owned.add(element)
        value = item if item is not None else _value(element)
        for name in (element.get(syntax.prop) or "").split():
            _add(orphans if owner is None else owner, name.rpartition(":")[2].rpartition("/")[2], value)
    top = [item for element, item in scopes.items.items() if element not in owned]
    return [*top, orphans] if len(orphans) > 1 else top


class _Scopes:
    """The items of a page by element; finds the item of a property."""

    def __init__(self, syntax: _Syntax) -> None:
        self.items: dict[Element, dict[str, Any]] = {}
        self._syntax = syntax
        self._references: dict[Element, dict[str, Any]] = {}

    def of(self, element: Element) -> dict[str, Any] | None:
        """The item that contains an element; the element of a nested item belongs to the outer item."""
        self._item(element)
        if element in self._references:
            return self._references[element]
        parent = element.getparent()
        while parent is not None:
            item = self._item(parent) or self._references.get(parent)
            if item is not None:
                return item
            parent = parent.getparent()
        return None

    def add_references(self, root: Element) -> None:
        """Add the elements that items refer to with `itemref`."""
        referenced = {
            name: item for scope, item in self.items.items() for name in (scope.get("itemref") or "").split()
        }
        if referenced:
            self._references = {
                element: referenced[name]
                for element in root.iter()
                if (name := element.get("id")) in referenced
            }

    def _item(self, element: Element) -> dict[str, Any] | None:
        item = self.items.get(element)
        if item is None and element.get(self._syntax.scope) is not None:
            item = self.items[element] = {"@type": element.get(self._syntax.kind) or "", ELEMENT: element}
        return item


def _add(item: dict[str, Any], name: str, value: Any) -> None:
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]


def _value(element: Element) -> str:
    content = element.get("content")
    if content is not None:
        return str(content)
    if element.tag in _LINKS and element.get("href"):
        return str(element.get("href"))
    if element.tag in _MEDIA:
        return str(element.get("src") or element.get("data-src") or "")
    if element.tag in ("data", "meter") and element.get("value") is not None:
        return str(element.get("value"))
    if element.tag == "time" and element.get("datetime"):
        return str(element.get("datetime"))
    if element.tag == "input" and element.get("value") is not None:
        return str(element.get("value"))
    return VisibleText(collapse_spaces(visible_text(element)[: _MAX_LENGTH * 4])[:_MAX_LENGTH])
