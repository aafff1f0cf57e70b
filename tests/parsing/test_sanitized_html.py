"""Sanitized pages and spreadsheet cells: text is preserved, active content is removed."""

from __future__ import annotations

import re

import pytest
from parsel import Selector

from pricewatch.parsing.pages.sanitized_html import PageMark, sanitized_page
from pricewatch.parsing.spreadsheet import escaped_cell

SHEET = "/static/x/page.css"


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script><p>words</p>",
        "<p onclick=alert(1) style='background:url(//evil.example)'>words</p>",
        "<img src=https://evil.example/x onerror=alert(1) alt=words>",
        "<a href=javascript:alert(1)>words</a><iframe src=//evil.example></iframe>",
        "<form action=//evil.example><button formaction=//evil.example>words</button></form>",
        "<link rel=stylesheet href=//evil.example>words",
        "<meta http-equiv=refresh content='0;url=//evil.example'>words",
        "<svg><script>alert(1)</script></svg><base href=//evil.example>words",
        "<style>@import '//evil.example'</style><noscript><img src=//evil.example></noscript>words",
        "<math><mi xlink:href=javascript:alert(1)>x</mi></math><p>words",
        "<object data=//evil.example>no</object><p>words</p><!-- <script>alert(1)</script> -->",
    ],
)
def test_scripts_resources_and_links_are_removed(html: str) -> None:
    sanitized = sanitized_page(html, SHEET)
    assert "words" in sanitized
    assert "evil.example" not in sanitized
    assert not re.search(r"<script|<svg|<iframe|<form|<img|\son\w+=|javascript:|style=|<meta http", sanitized)
    assert sanitized.count("<link") == 1


@pytest.mark.parametrize(
    "html", ["", "\x00", "<", "<!-- only this -->", "\ud800".encode("utf-8", "replace").decode()]
)
def test_invalid_html_gives_a_document(html: str) -> None:
    assert sanitized_page(html, SHEET).startswith("<!doctype html>")


def test_classes_and_ids_for_selectors_are_preserved() -> None:
    sanitized = sanitized_page('<div id="a" class="price big"><b itemprop="price">9</b></div>', SHEET)
    assert '<div id="a" class="price big"><b itemprop="price">9</b></div>' in sanitized


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-5", "-5"),
        ("-5.25", "-5.25"),
        ("-5+3", "'-5+3"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_formula_cells_are_escaped(cell: str, written: str) -> None:
    assert escaped_cell(cell) == written


def marked(html: str, *marks: PageMark) -> list[tuple[str, str]]:
    """The labels on a sanitized page, each with the text of its element."""
    root = Selector(sanitized_page(html, SHEET, marks))
    found = root.xpath("//*[@data-pricewatch-mark]")
    return [(one.attrib["data-pricewatch-mark"], "".join(one.css("::text").getall())) for one in found]


def test_elements_are_marked_although_their_attributes_are_removed() -> None:
    html = '<a href="/x" data-testid="now">€ 5</a><b class="was">€ 6 or € 7</b>'
    marks = [
        PageMark('a[data-testid="now"]', "€ 5", "1"),
        PageMark("b.was", "€ 6 or € 7", "2"),
        PageMark("b.was", "€ 6 or € 7", "3"),
        PageMark("b.was", "€ 6 or € 7", "3"),
    ]
    assert marked(html, *marks) == [("1", "€ 5"), ("2 3", "€ 6 or € 7")]


def test_mark_with_several_elements_is_on_the_one_with_its_text() -> None:
    html = "<p>€ 129</p><p>€ 12</p><p>€ 1</p>"
    assert marked(html, PageMark("p", "€ 12", "1")) == [("1", "€ 12")]
    # The text of a candidate may be shortened.
    assert marked("<p>x</p><p>€ 12, now € 9</p>", PageMark("p", "€ 12, now", "1")) == [("1", "€ 12, now € 9")]
    assert marked(html, PageMark("p", "€ 77", "1"), PageMark("p", "", "2")) == []


@pytest.mark.parametrize("path", ["", "p..x", "script", "::text", "p" * 5000])
def test_path_without_an_element_marks_nothing(path: str) -> None:
    assert marked("<p>€ 5</p><script>5</script>", PageMark(path, "€ 5", "1")) == []


def test_page_cannot_set_marks() -> None:
    assert marked('<p data-pricewatch-mark="1">€ 5</p>') == []
    label = '"><script>alert(1)</script>'
    assert "<script" not in sanitized_page("<p>€ 5</p>", SHEET, [PageMark("p", "", label)])
