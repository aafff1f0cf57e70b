"""Microdata and RDFa Lite read into the same shape as JSON-LD, straight from the shared element tree.

`extruct` reads both too, but copies and cleans a part of the tree for every property, which costs more
than parsing the whole page; and it forgets the element that a price came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .text import squash
from .tree import Element, compiled_xpath, shown_text


class ShownText(str):
    """A value that is text for people, not a field for machines."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Syntax:
    scope: str
    kind: str
    prop: str
    find: Any


_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", compiled_xpath("//*[@itemprop or @itemscope]"))
_RDFA = _Syntax(
    "typeof",
    "typeof",
    "property",
    compiled_xpath("//*[@typeof or @property][not(self::meta[starts-with(@property,'og:')])]"),
)

_LINKS = frozenset({"a", "area", "link"})
_MEDIA = frozenset({"img", "source", "audio", "video", "embed", "iframe"})
_LONGEST = 500

# Where the element behind an item is kept, beside its properties.
ELEMENT = "@element"


def read_microdata(root: Element) -> list[dict[str, Any]]:
    """Top-level items, each with `@type`, its properties and `@element`; properties of no item make one more."""
    return _read(root, _MICRODATA)


def read_rdfa(root: Element) -> list[dict[str, Any]]:
    return [item for item in _read(root, _RDFA) if item["@type"]]


def _read(root: Element, syntax: _Syntax) -> list[dict[str, Any]]:
    elements = syntax.find(root)
    items: dict[Element, dict[str, Any]] = {}
    top: list[dict[str, Any]] = []
    orphans: dict[str, Any] = {"@type": ""}
    for element in elements:
        if element.get(syntax.scope) is not None:
            items[element] = {"@type": element.get(syntax.kind) or "", ELEMENT: element}
    owners = _referred(root, items) if syntax is _MICRODATA else {}
    for element in elements:
        item = items.get(element)
        names = (element.get(syntax.prop) or "").split()
        owner = _owner(element, items, owners)
        if item is not None and (not names or owner is None):
            top.append(item)
        if names:
            target = orphans if owner is None else owner
            value = item if item is not None else _value(element)
            for name in names:
                _add(target, name.rpartition(":")[2].rpartition("/")[2], value)
    return [*top, orphans] if len(orphans) > 1 else top


def _owner(
    element: Element, items: dict[Element, dict[str, Any]], owners: dict[Element, dict[str, Any]]
) -> dict[str, Any] | None:
    if element in owners:
        return owners[element]
    parent = element.getparent()
    while parent is not None:
        found = items.get(parent) or owners.get(parent)
        if found is not None:
            return found
        parent = parent.getparent()
    return None


def _referred(root: Element, items: dict[Element, dict[str, Any]]) -> dict[Element, dict[str, Any]]:
    """Elements elsewhere on the page that an item claims by `itemref`."""
    wanted = {name: item for scope, item in items.items() for name in (scope.get("itemref") or "").split()}
    if not wanted:
        return {}
    return {element: wanted[name] for element in root.iter() if (name := element.get("id")) in wanted}


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
