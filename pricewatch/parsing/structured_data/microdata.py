"""Microdata and RDFa Lite read into the same shape as JSON-LD, straight from the shared element tree.

`extruct` reads both too, but copies and cleans a part of the tree for every property, which costs more
than parsing the whole page; and it forgets the element that a price came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pricewatch.parsing.pages.element_tree import Element, compiled_xpath, shown_text
from pricewatch.parsing.text import squash


class ShownText(str):
    """A value that is text for people, not a field for machines."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Syntax:
    scope: str
    kind: str
    prop: str
    find: Any


# By way of the attribute: the quickest of the ways to ask for elements that have it.
_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", compiled_xpath("descendant::*/@itemprop/.."))
_RDFA = _Syntax("typeof", "typeof", "property", compiled_xpath("descendant::*[not(self::meta)]/@property/.."))

_LINKS = frozenset({"a", "area", "link"})
_MEDIA = frozenset({"img", "source", "audio", "video", "embed", "iframe"})
_LONGEST = 500

# Where the element behind an item is kept, beside its properties.
ELEMENT = "@element"


def read_microdata(root: Element) -> list[dict[str, Any]]:
    """Top-level items with `@type`, properties and `@element`; properties of no item make one more."""
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
    """The items of a page by their elements, and which item each property belongs to."""

    def __init__(self, syntax: _Syntax) -> None:
        self.items: dict[Element, dict[str, Any]] = {}
        self._syntax = syntax
        self._references: dict[Element, dict[str, Any]] = {}

    def of(self, element: Element) -> dict[str, Any] | None:
        """The item around an element; a nested item's own element belongs to the item outside it."""
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
        """Elements elsewhere on the page that an item claims by `itemref`."""
        wanted = {
            name: item for scope, item in self.items.items() for name in (scope.get("itemref") or "").split()
        }
        if wanted:
            self._references = {
                element: wanted[name] for element in root.iter() if (name := element.get("id")) in wanted
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
    return ShownText(squash(shown_text(element)[: _LONGEST * 4])[:_LONGEST])
