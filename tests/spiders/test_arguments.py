"""Spider arguments: typed, and told apart by sentences for people."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.spiders.arguments import MarketArguments, parse_arguments


def test_takes_text_as_the_shell_gives_it() -> None:
    given = {
        "market": " bazaar-bikes ",
        "max_pages": "3",
        "max_details": "0",
        "_job": "abc",
        "trigger": "SCHEDULED",
    }
    arguments = parse_arguments(MarketArguments, "discovery", given)
    assert (arguments.market, arguments.max_pages, arguments.max_details) == ("bazaar-bikes", 3, 0)
    assert (arguments.job, arguments.trigger) == ("abc", "SCHEDULED")


def test_has_defaults_for_all_but_the_market() -> None:
    arguments = parse_arguments(MarketArguments, "discovery", {"market": "m"})
    assert (arguments.max_pages, arguments.max_details, arguments.job, arguments.trigger) == (
        None,
        None,
        None,
        "MANUAL",
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "The discovery spider needs -a market=… (the market to crawl, by its id)."),
        ({"market": "m", "max_pages": "9" * 30}, "The discovery spider cannot take -a max_pages=999"),
        ({"market": ""}, "The discovery spider cannot take -a market=: "),
        ({"market": "m", "max_pages": "many"}, "The discovery spider cannot take -a max_pages=many: "),
        ({"market": "m", "max_pages": "0"}, "The discovery spider cannot take -a max_pages=0: "),
        ({"market": "m", "max_details": "-1"}, "The discovery spider cannot take -a max_details=-1: "),
        ({"market": "m", "trigger": "WHIM"}, "The discovery spider cannot take -a trigger=WHIM: "),
        (
            {"market": "m", "pages": "3"},
            "The discovery spider knows no argument 'pages'; it takes trigger, market, max_pages,",
        ),
    ],
)
def test_says_in_one_sentence_what_is_wrong(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_arguments(MarketArguments, "discovery", given)
    assert str(raised.value).startswith(sentence)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)
