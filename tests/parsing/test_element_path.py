"""Selectors of elements, which are stored and used on other pages of the shop."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.element_path import element_path, elements_at
from pricewatch.parsing.pages.element_tree import Element, parse_html


def tree(body: str) -> Element:
    root = parse_html(f"<html><body>{body}</body></html>".encode())
    assert root is not None
    return root


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('<main><p class="price">', "main > p.price"),
        ('<main><p id="price">', "p#price"),
        ('<main><p class="price now old active x1">', "main > p.price.now.old"),
        ('<div><p itemprop="price">', 'div > p[itemprop="price"]'),
        ('<my-shop-price><p class="price">', "my-shop-price > p.price"),
        ("<main><section><div><center><p>", "section > div > center > p"),
    ],
)
def test_the_path_of_an_element_finds_it(body: str, path: str) -> None:
    root = tree(body)
    element = next(root.iter("p"))
    assert element_path(element) == path
    assert elements_at(root, path) == [element]


@pytest.mark.parametrize("tag", ["p~*~*", "p:has(*)", "p:last-child", "p,div", "a" * 5_000, "x:y"])
def test_a_tag_cannot_inject_a_selector(tag: str) -> None:
    root = tree(f'<main><{tag} class="price">€19.99</{tag}></main>')
    element = root.find(".//main")[0]
    assert str(element.tag) not in ("p", "div")
    path = element_path(element)
    assert path == "main > *.price"
    assert elements_at(root, path) == [element]


@pytest.mark.parametrize(
    "path",
    [
        "main > p~*~*.price",
        "p:has(*)",
        "p:last-child.price",
        "p, div",
        "main p",
        "p.a\nb",
        "",
        "p[class]",
        "*" * 500,
    ],
)
def test_other_selectors_are_not_evaluated(path: str) -> None:
    assert elements_at(tree('<main><p class="price now">€1</p></main>'), path) == []
