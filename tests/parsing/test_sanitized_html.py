"""Sanitized pages and spreadsheet cells: text is preserved, active content is removed."""

from __future__ import annotations

import re

import pytest

from pricewatch.parsing.pages.sanitized_html import sanitized_page
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
