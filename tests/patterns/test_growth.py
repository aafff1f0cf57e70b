"""The time of every regular expression that reads data from outside grows in proportion to its input.

8 times the text may take 16 times the time; 64 times would be quadratic. A new expression is found by itself.
"""

from __future__ import annotations

import re

import pytest

from tests.patterns.adversarial_texts import adversarial_texts, build
from tests.patterns.found_patterns import found_patterns
from tests.patterns.growth import slow_text

# Quadratic or worse, each in another way; with the methods that make them so.
SLOW = {
    "a prefix that repeats": (r"<title[^>]*>", "search"),
    "two runs of the same": (r"\s*x?\s*y", "match"),
    "an end that is missing": (r"\s+$", "sub"),
    "a run that is read from each place": (r"\d+%", "search"),
    "a string without an end": (r'"(?:\\.|[^"\\])*"', "finditer"),
    "a comment without an end": (r"/\*.*?\*/", "sub"),
    "a lookahead": (r"a(?=[^b]*b)", "search"),
    "repeated alternatives": (r"(?:a|b|ab)*c", "match"),
    "nested repetitions": (r"(?:a+)+b", "match"),
    "bytes": (rb"<a[^>]*>", "search"),
    "later in the expression": (r"x(?:y|price\s*:\s*(?:\w+\s*,?\s*)*;)", "search"),
}
LINEAR = {
    "a class that excludes the prefix": (r"<title[^<>]*+>", "search"),
    "possessive runs": (r"\s*+x?\s*+y", "match"),
    "the start of a run": (r"(?<!\d)\d++%", "search"),
    "an optional end": (r'"(?:\\.|[^"\\])*+"?', "finditer"),
    "a bounded run": (r"\d{1,3}%", "search"),
    "an anchor": (r"^\W*price", "search"),
}
# Files with patterns that are only known when the code runs.
DYNAMIC = {
    "pricewatch/declared_shops/declaration.py": "checks a pattern that a user wrote",
    "pricewatch/declared_shops/declared_adapter.py": "a pattern that a user wrote",
    "pricewatch/fetching/browser/page_data.py": "the patterns of adapters, which are found at the adapters",
    "pricewatch/parsing/phrase_table.py": "the patterns of tables, which are found at the tables",
}


@pytest.mark.proof
@pytest.mark.parametrize("name", SLOW)
def test_slow_expressions_are_found(name: str) -> None:
    text, method = SLOW[name]
    assert slow_text(re.compile(text), frozenset({method})) is not None


@pytest.mark.proof
@pytest.mark.parametrize("name", LINEAR)
def test_fast_expressions_are_not_found(name: str) -> None:
    text, method = LINEAR[name]
    assert slow_text(re.compile(text), frozenset({method})) is None


@pytest.mark.proof
def test_every_expression_takes_linear_time() -> None:
    found, _ = found_patterns()
    slow = {each.where: why for each in found if (why := slow_text(each.pattern, each.methods))}
    assert not slow


@pytest.mark.proof
def test_expressions_are_found_wherever_they_are() -> None:
    found, _ = found_patterns()
    by_place = {each.where.partition(":")[0].removeprefix("pricewatch/"): each for each in found}
    for place in (
        "parsing/structured_data/jsonld.py",  # a global
        "parsing/prices/money_text.py",  # in a dictionary
        "adapters/willhaben.py",  # an attribute of a class
        "parsing/pages/stock_words.py",  # compiled at the first use
        "rules/page_moves.py",  # inside a function
        "middlewares/blocked_pages.py",  # of bytes
        "adapters/mercari.py",  # for the addresses of data
        "fetching/proxy_pool.py",
    ):
        assert place in by_place
    searched = next(each for each in found if each.where.endswith("blocked_pages.py: _TITLE"))
    assert searched.methods == {"search"}
    assert len(found) > 150


def test_expressions_in_functions_are_known_before_the_code_runs() -> None:
    """Otherwise they are not tested: compile them at the level of the module."""
    _, unknown = found_patterns()
    assert {each.file for each in unknown} == set(DYNAMIC)


def test_texts_contain_what_an_expression_repeats() -> None:
    texts = [build(text, 40) for text in adversarial_texts(re.compile(r'"(?:\\.|[^"\\])*"'))]
    assert any(text.startswith('\\"\\"\\"') for text in texts)
    assert any(
        build(text, 12).startswith("<title<title") for text in adversarial_texts(re.compile("<title[^>]*>"))
    )
