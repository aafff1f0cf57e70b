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
from pricewatch.parsing.prices.currency_marks import has_currency_mark
from pricewatch.parsing.prices.price import parse_price


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


@pytest.mark.parametrize(
    ("text", "hint", "amount", "code"),
    [
        ("120 ج.م", None, "120", "EGP"),
        ("120 جنيه مصري", None, "120", "EGP"),
        ("45,500 د.ت", None, "45.500", "TND"),
        ("45 DT", "TND", "45", "TND"),
        ("1200 د.ج", None, "1200", "DZD"),
        ("99 ر.س", None, "99", "SAR"),
        ("99 ريال", "QAR", "99", "QAR"),
        ("99 د.إ", None, "99", "AED"),
        ("150 درهم", "MAD", "150", "MAD"),
        ("9000 د.ع", None, "9000", "IQD"),
        ("9000 ل.ل", None, "9000", "LBP"),
        ('59 ש"ח', None, "59", "ILS"),
        ("रु 499", "INR", "499", "INR"),
        ("499 руб.", None, "499", "RUB"),
        ("499 грн", None, "499", "UAH"),
        ("19,90 лв.", None, "19.90", "BGN"),
        ("1200 ден.", None, "1200", "MKD"),
        ("1200 дин.", None, "1200", "RSD"),
        ("35 KM", "BAM", "35", "BAM"),
        ("299 Kč", None, "299", "CZK"),
        ("2990 Ft", "HUF", "2990", "HUF"),
        ("29,90 zł", None, "29.90", "PLN"),
        ("29,90 lei", "RON", "29.90", "RON"),
        ("299 kr", "NOK", "299", "NOK"),
        ("250 บาท", None, "250", "THB"),
        ("250000 đồng", None, "250000", "VND"),
        ("12000원", None, "12000", "KRW"),
        ("1980円", None, "1980", "JPY"),
        ("199元", "TWD", "199", "TWD"),
        ("199 美元", None, "199", "USD"),
        ("NT$ 199", None, "199", "TWD"),
        ("KSh 1500", None, "1500", "KES"),
        ("R$ 15", None, "15", "BRL"),
        ("S/. 15", None, "15", "PEN"),
        ("Bs 15", "BOB", "15", "BOB"),
        ("₲ 15000", None, "15000", "PYG"),
        ("Q 15", "GTQ", "15", "GTQ"),
        ("L. 15", "HNL", "15", "HNL"),
        ("Gs. 15000", "PYG", "15000", "PYG"),
        ("$U 1290", None, "1290", "UYU"),
        ("20 ευρώ", None, "20", "EUR"),
        ("5000 FCFA", "XOF", "5000", "XOF"),
    ],
)
def test_marks_of_many_scripts_are_read(text, hint, amount, code):
    parsed = parse_price(text, hints=[hint] if hint else [])
    assert (str(parsed.amount), parsed.currency) == (amount, code)
    assert has_currency_mark(text) or hint


@pytest.mark.parametrize("text", ["35 km", "15 l", "da 15", "bs 15", "q 15", "12 yen", "3 won", "dt 45"])
def test_ordinary_words_are_no_marks_without_a_hint(text):
    assert not parse_price(text).marked
