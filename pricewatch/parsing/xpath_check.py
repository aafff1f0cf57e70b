"""Check an XPath expression without evaluating it: a short expression can take forever, on any document."""

from __future__ import annotations

import re

from lxml.etree import XPath  # type: ignore[import-untyped]

_NAMESPACES = {"re": "http://exslt.org/regular-expressions", "set": "http://exslt.org/sets"}
_PREFIXES = frozenset({*_NAMESPACES, "xml"})
# XPath 1.0, its tests of nodes, its operators that are words, and what parsel adds.
_FUNCTIONS = frozenset(
    {
        "boolean", "ceiling", "concat", "contains", "count", "false", "floor", "id", "lang",
        "last", "local-name", "name", "namespace-uri", "normalize-space", "not", "number",
        "position", "round", "starts-with", "string", "string-length", "substring",
        "substring-after", "substring-before", "sum", "translate", "true", "comment", "node",
        "processing-instruction", "text", "and", "or", "div", "mod", "has-class", "re:match",
        "re:replace", "re:test", "set:difference", "set:distinct", "set:has-same-node",
        "set:intersection", "set:leading", "set:trailing",
    }
)  # fmt: skip
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
# A name with its axis and prefix, and the bracket of a call. Each run of characters is read once.
_NAME = re.compile(r"([^\W\d][\w.:-]*+)\s*+(\(?)")
_VARIABLE = re.compile(r"\$[\w.:-]*+")


def check_xpath(expression: str) -> None:
    """Raise XPathSyntaxError, or ValueError for a function or variable that pages are not read with."""
    XPath(expression, namespaces=_NAMESPACES)
    code = _LITERAL.sub("''", expression)
    if found := _VARIABLE.search(code):
        raise ValueError(f"there is no variable {found[0]}")
    for name, bracket in _NAME.findall(code):
        # After an axis, as in child::text().
        local = name.rpartition("::")[2]
        if bracket and local not in _FUNCTIONS:
            raise ValueError(f"there is no function {local}()")
        prefix, colon, _ = local.partition(":")
        if colon and prefix not in _PREFIXES:
            raise ValueError(f"there is no namespace prefix {prefix}")
