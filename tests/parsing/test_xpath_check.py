"""XPath expressions are checked as parsel evaluates them, but without evaluating them."""

from __future__ import annotations

import pytest
from lxml.etree import XPathSyntaxError  # type: ignore[import-untyped]
from parsel import Selector

from pricewatch.parsing.xpath_check import check_xpath

DOCUMENT = Selector("<html lang=en><body><p class=a>EUR 1<b>2</b></p><x-y>3</x-y></body></html>")
ACCEPTED = [
    "//span[@class='a']/text()", "//p[re:test(., '\\d')]", "//p[has-class('a')]", "(//b)[1]",
    ".//p[contains(., 'EUR')]", "//p/child::text()", "//p/child :: text ()", "//b/ancestor-or-self::div",
    "set:distinct(//p)", "set:difference(//p, //b)", "set:intersection(//p, //b)", "set:leading(//p, //b)",
    "set:trailing(//p, //b)", "//p[set:has-same-node(., //p)]", "re:match('a', 'a')", "//x-y", "//x-y.z_1",
    "re:replace('a', 'b', '', 'c')", "//p[.='foo(']", "//p[.='$x']", '//p[.="x:y"]', "//p[.=\"it's foo(\"]",
    "//p[.='\"' or .=\"'$x(\"] | //b[.=\"']\"]", "//p[@a and (@b) or(@c)]", "//p[4 div (2) = 5 mod(3)]",
    "-(1)", "//p[last() -(1)]", "//p[2-(1)]", "//p[.-(1)]", "(1)*(2)", "//p[1e1 > .5]", "//p/@*", "//p/..",
    "//@xml:lang", "//re:x", "//set:*", "//text()", "//comment()", "//processing-instruction('x')",
    "//self::node()", "id('x')", "//p[lang('en')]", "count(//p)", "string(//p)", "number('1')", "sum(//b)",
    "boolean(1)", "not(false())", "true()", "floor(1.5)", "ceiling(1.5)", "round(1.5)", "name(//p)",
    "local-name(//p)", "namespace-uri(//p)", "normalize-space(//p)", "string-length('a')", "concat('a', 'b')",
    "starts-with('a', 'b')", "substring('abc', 2)", "substring-before('a', 'b')", "substring-after('a', 'b')",
    "translate('a', 'b', 'c')", "//p[position() = 1]",
]  # fmt: skip
REFUSED = {
    "document('x')": "there is no function document()",
    "//p[foo()]": "there is no function foo()",
    "//p[1-foo (1)]": "there is no function foo()",
    "re:foo('a')": "there is no function re:foo()",
    "//p[x:y()]": "there is no function x:y()",
    "key('a', 'b')": "there is no function key()",
    "//p[$x]": "there is no variable $x",
    "//p[.='a' + $x:y]": "there is no variable $x:y",
    "//x:y": "there is no namespace prefix x",
    "//x:*": "there is no namespace prefix x",
    "//p/attribute::x:y": "there is no namespace prefix x",
}


@pytest.mark.parametrize("expression", ACCEPTED)
def test_expressions_that_parsel_evaluates_are_accepted(expression: str) -> None:
    DOCUMENT.xpath(expression)
    check_xpath(expression)


@pytest.mark.parametrize("expression", REFUSED)
def test_unknown_functions_variables_and_prefixes_are_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="XPath error"):
        DOCUMENT.xpath(expression)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the sentence is compared below
        check_xpath(expression)
    assert str(refusal.value) == REFUSED[expression]


@pytest.mark.parametrize("expression", ["//*[", "//p[)]", "//div(1)", "", "(" * 5_000, "//p['a]", "//x : y"])
def test_malformed_expressions_are_refused(expression: str) -> None:
    with pytest.raises(XPathSyntaxError):
        check_xpath(expression)
