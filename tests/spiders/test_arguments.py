"""Spider arguments: typed, with one-sentence errors."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.spiders.arguments import MarketArguments, parse_arguments


def test_converts_text_from_the_shell() -> None:
    arguments_given = {
        "market": " bazaar-bikes ",
        "max_pages": "3",
        "max_details": "0",
        "_job": "abc",
        "trigger": "SCHEDULED",
    }
    arguments = parse_arguments(MarketArguments, "discovery", arguments_given)
    assert (arguments.market, arguments.max_pages, arguments.max_details) == ("bazaar-bikes", 3, 0)
    assert (arguments.job, arguments.trigger) == ("abc", "SCHEDULED")


def test_only_the_market_is_required() -> None:
    arguments = parse_arguments(MarketArguments, "discovery", {"market": "m"})
    assert (arguments.max_pages, arguments.max_details, arguments.job, arguments.trigger) == (
        None,
        None,
        None,
        "MANUAL",
    )


@pytest.mark.parametrize(
    ("arguments_given", "sentence"),
    [
        ({}, "The discovery spider needs -a market=… (the market to crawl, by its id)."),
        ({"market": "m", "max_pages": "9" * 30}, "The discovery spider cannot use -a max_pages=999"),
        ({"market": ""}, "The discovery spider cannot use -a market=: "),
        ({"market": "m", "max_pages": "many"}, "The discovery spider cannot use -a max_pages=many: "),
        ({"market": "m", "max_pages": "0"}, "The discovery spider cannot use -a max_pages=0: "),
        ({"market": "m", "max_details": "-1"}, "The discovery spider cannot use -a max_details=-1: "),
        ({"market": "m", "trigger": "WHIM"}, "The discovery spider cannot use -a trigger=WHIM: "),
        (
            {"market": "m", "pages": "3"},
            "The discovery spider has no argument 'pages'. Known: trigger, market, max_pages,",
        ),
    ],
)
def test_error_is_one_sentence(arguments_given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_arguments(MarketArguments, "discovery", arguments_given)
    assert str(raised.value).startswith(sentence)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)
