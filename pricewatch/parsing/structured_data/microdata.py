"""Microdata and RDFa Lite in the structure of JSON-LD, read from the element tree.

`extruct` copies and cleans a part of the tree for every property, which costs more than parsing the page,
and it does not return the element of a price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pricewatch.parsing.pages.element_tree import Element, compiled_xpath, visible_text
from pricewatch.parsing.structured_data.block_limits import MAX_DEPTH, MAX_PROPERTIES, BlockTooLarge
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


# Not `@itemprop/..`, which takes quadratic time for many attributes.
_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", compiled_xpath("descendant::*[@itemprop]"))
_RDFA = _Syntax("typeof", "typeof", "property", compiled_xpath("descendant::*[@property][not(self::meta)]"))

_LINKS = frozenset({"a", "area", "link"})
_MEDIA = frozenset({"img", "source", "audio", "video", "embed", "iframe"})
_MAX_LENGTH = 500
_MAX_NAMES = 20
# Elements of a value whose text is read.
_MAX_ELEMENTS = 200

# The key of an item's element among its properties.
ELEMENT = "@element"


def read_microdata(root: Element) -> list[dict[str, Any]]:
    """Top-level items with `@type`, properties and `@element`; loose properties form one more item.

    Raises BlockTooLarge.
    """
    return _read(root, _MICRODATA)


def read_rdfa(root: Element) -> list[dict[str, Any]]:
    return [item for item in _read(root, _RDFA) if item["@type"]]


def _read(root: Element, syntax: _Syntax) -> list[dict[str, Any]]:
    elements = syntax.find(root)
    if len(elements) > MAX_PROPERTIES:
        raise BlockTooLarge(f"the page has more than {MAX_PROPERTIES:,} `{syntax.prop}` attributes")
    scopes = _Scopes(syntax)
    for element in elements:
        scopes.of(element)
    if syntax is _MICRODATA:
        scopes.add_references(root)
    top: list[dict[str, Any]] = []
    orphans: dict[str, Any] = {"@type": ""}
    owned: dict[Element, dict[str, Any]] = {}
    for element in elements:
        owner, item = scopes.of(element), scopes.items.get(element)
        if owner is not None and item is not None:
            owned[element] = owner
        value = item if item is not None else _value(element)
        for name in (element.get(syntax.prop) or "").split(maxsplit=_MAX_NAMES)[:_MAX_NAMES]:
            # The keys with @ are not properties.
            if not (plain := name.rpartition(":")[2].rpartition("/")[2]).startswith("@"):
                _add(orphans if owner is None else owner, plain, value)
    _check_depth(owned)
    top = [item for element, item in scopes.items.items() if element not in owned]
    return [*top, orphans] if len(orphans) > 1 else top


def _check_depth(owned: dict[Element, dict[str, Any]]) -> None:
    """Raise BlockTooLarge if items are nested too deeply, or contain themselves."""
    for owner in owned.values():
        outer: dict[str, Any] | None = owner
        for _ in range(MAX_DEPTH):
            outer = owned.get(outer[ELEMENT]) if outer else None
        if outer:
            raise BlockTooLarge(f"items are nested more than {MAX_DEPTH} levels deep")


class _Scopes:
    """The items of a page by element; finds the item of a property."""

    def __init__(self, syntax: _Syntax) -> None:
        self.items: dict[Element, dict[str, Any]] = {}
        self._syntax = syntax
        self._references: dict[Element, dict[str, Any]] = {}
        # The item of what is inside an element, for elements that were looked at.
        self._around: dict[Element, dict[str, Any] | None] = {}

    def of(self, element: Element) -> dict[str, Any] | None:
        """The item that contains an element; the element of a nested item belongs to the outer item."""
        self._item(element)
        if element in self._references:
            return self._references[element]
        path: list[Element] = []
        item, node = None, element.getparent()
        while item is None and node is not None and node not in self._around:
            item = self._item(node) or self._references.get(node)
            path.append(node)
            node = node.getparent()
        if item is None and node is not None:
            item = self._around[node]
        # Each element on the way is looked at once for all elements below it.
        self._around.update(dict.fromkeys(path, item))
        return item

    def add_references(self, root: Element) -> None:
        """Add the elements that items refer to with `itemref`."""
        referenced = {
            name: item for scope, item in self.items.items() for name in (scope.get("itemref") or "").split()
        }
        if referenced:
            self._around.clear()
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
    return VisibleText(
        collapse_spaces(visible_text(element, _MAX_LENGTH * 4, _MAX_ELEMENTS)[: _MAX_LENGTH * 4])[
            :_MAX_LENGTH
        ]
    )
