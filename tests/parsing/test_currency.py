from __future__ import annotations

import pytest

from pricewatch.money import ISO_4217
from pricewatch.parsing.prices.currency import (
    ORDINARY_WORD,
    SIGNS,
    WORDS,
    currency_code,
    domain_currency,
    locale_currency,
    resolve_currency,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("EUR", "EUR"),
        (" eur ", "EUR"),
        ("€", "EUR"),
        ("RUR", "RUB"),
        ("руб.", "RUB"),
        ("$", None),
        ("kr", None),
        ("XXX", None),
        ("", None),
        (None, None),
        ("dollar bills", None),
    ],
)
def test_currency_fields_are_parsed(text, code):
    assert currency_code(text) == code


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("shop.de", "EUR"),
        ("shop.co.uk", "GBP"),
        ("shop.com.au", "AUD"),
        ("shop.com", None),
        ("shop.co", None),
        ("shop.com.co", "COP"),
        ("shop.io", None),
        ("localhost", None),
        ("", None),
    ],
)
def test_country_domains_have_a_currency(host, code):
    assert domain_currency(host) == code


@pytest.mark.parametrize(
    ("locale", "code"),
    [
        ("de-AT", "EUR"),
        ("pt_BR", "BRL"),
        ("zh-Hant-TW", "TWD"),
        ("sv", "SEK"),
        ("en", None),
        ("de", None),
        ("", None),
    ],
)
def test_locales_have_a_currency(locale, code):
    assert locale_currency(locale) == code


def test_first_matching_hint_resolves_a_shared_mark():
    assert resolve_currency(SIGNS["$"], ["EUR", "CAD", "USD"]) == "CAD"
    assert resolve_currency(SIGNS["$"], []) is None


def test_all_marks_have_existing_currencies():
    marks = {code for codes in [*SIGNS.values(), *WORDS.values()] for code in codes}
    assert marks <= ISO_4217 | {ORDINARY_WORD}
