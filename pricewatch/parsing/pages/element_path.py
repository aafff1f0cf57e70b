"""A CSS selector for an element that also matches the same place on other pages of the shop."""

from __future__ import annotations

import re
from functools import lru_cache

from cssselect import SelectorError
from lxml.cssselect import CSSSelector  # type: ignore[import-untyped]
from lxml.etree import LxmlError  # type: ignore[import-untyped]

from pricewatch.parsing.pages.element_tree import Element

_MAX_STEPS = 4
MAX_PATH_LENGTH = 400
# Names that are the same on every page: words, not numbers, hashes or states.
_STABLE_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{2,39}")
_MIXED_CASE_HASH = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|^[^aeiouyAEIOUY]+$")
_STATES = frozenset(
    {"active", "selected", "visible", "hidden", "open", "loaded", "ng-scope", "ng-binding", "clearfix"}
)
# A page may have an element such as `<p:has(*)>`, whose name would be a selector.
_TAG = r"[a-z][a-z0-9]{0,19}(?:-[a-z0-9]{1,20}){0,3}"
_NAME = "[A-Za-z][A-Za-z0-9_-]{0,39}"
_STEP = rf'(?:{_TAG}|\*)(?:#{_NAME}|\[[a-z-]+="{_NAME}"\]|(?:\.{_NAME})*)'
_PLAIN_TAG = re.compile(_TAG)
_PATH = re.compile(rf"{_STEP}(?: > {_STEP})*")
_MARKING_ATTRIBUTES = ("itemprop", "data-testid", "data-test", "data-qa", "data-hook", "data-automation")


def element_path(element: Element) -> str:
    """A selector of the element: from the nearest stable id, or else its own and its ancestors' names."""
    steps: list[str] = []
    node: Element | None = element
    while node is not None and node.tag not in ("body", "html") and len(steps) < _MAX_STEPS:
        step, is_unique = _step(node)
        steps.insert(0, step)
        if is_unique:
            break
        node = node.getparent()
    path = " > ".join(steps)
    return path if len(path) <= MAX_PATH_LENGTH else steps[-1][:MAX_PATH_LENGTH]


def elements_at(root: Element, path: str) -> list[Element]:
    """The elements at a path; none for any selector that `element_path` does not return.

    Others may take long, and no signal interrupts them.
    """
    find = _selector(path)
    return list(find(root)) if find else []


@lru_cache(maxsize=1024)
def _selector(path: str) -> CSSSelector | None:
    if len(path) > MAX_PATH_LENGTH or not _PATH.fullmatch(path):
        return None
    try:
        return CSSSelector(path)
    except (ValueError, SelectorError, LxmlError):
        return None


def _step(element: Element) -> tuple[str, bool]:
    """One step of a path, and whether it identifies the element by an id."""
    name = str(element.tag)
    tag = name if _PLAIN_TAG.fullmatch(name) else "*"
    identifier = element.get("id") or ""
    if _is_stable(identifier):
        return f"{tag}#{identifier}", True
    for name in _MARKING_ATTRIBUTES:
        value = element.get(name) or ""
        if _STABLE_NAME.fullmatch(value):
            return f'{tag}[{name}="{value}"]', False
    names = [name for name in (element.get("class") or "").split() if _is_stable(name)][:3]
    return tag + "".join(f".{name}" for name in names), False


def _is_stable(name: str) -> bool:
    if not _STABLE_NAME.fullmatch(name) or name in _STATES:
        return False
    return len(name) < 5 or "-" in name or "_" in name or not _MIXED_CASE_HASH.search(name) or name.islower()
