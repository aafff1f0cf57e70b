"""Displayed prices in many formats; real cases that were misread are in a table of their own."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.money import ISO_4217, MAX_CENTS, Money, minor_units
from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price, parse_price, to_cents

# text, amount, currency
CAUGHT: list[tuple[str, str | None, str | None]] = [
    ("1.226 €", "1226", "EUR"),
    ("€1,106.18", "1106.18", "EUR"),
    ("1 649,00", "1649", None),
    ("1\u00a0649,00 €", "1649", "EUR"),
    ("1\u2009649,00 €", "1649", "EUR"),
    ("1\u202f649,00 €", "1649", "EUR"),
    ("179,95", "179.95", None),
    ("R$ 2.720,00", "2720", "BRL"),
    (",89", "0.89", None),
    (",89 €", "0.89", "EUR"),
    ("$100", "100", None),
    ("68,50 €", "68.50", "EUR"),
    ("2879.2 €", "2879.2", "EUR"),
    ("2879.20 €", "2879.2", "EUR"),
]

WRITTEN: list[tuple[str, str | None, str | None]] = [
    ("19.99 EUR", "19.99", "EUR"),
    ("EUR 19,99", "19.99", "EUR"),
    ("19,99 Euro", "19.99", "EUR"),
    ("Price: $12.99 USD", "12.99", "USD"),
    ("12.99 $ CAD", "12.99", "CAD"),
    ("US$ 12.50", "12.50", "USD"),
    ("NT$1,200", "1200", "TWD"),
    ("12,99", "12.99", None),
    ("$.75", "0.75", None),
    ("80,-", "80", None),
    ("20,- €", "20", "EUR"),
    ("1.499,-", "1499", None),
    ("CHF 29.–", "29", "CHF"),
    ("1'299.00 CHF", "1299", "CHF"),
    ("1’299.00 CHF", "1299", "CHF"),
    ("49 €99", "49.99", "EUR"),
    ("49€ 99", "49.99", "EUR"),
    ("₹1,23,456.00", "123456", "INR"),
    ("$1,234,567.89", "1234567.89", None),
    ("1.299.000 Kč", "1299000", "CZK"),
    ("2 990 Kč", "2990", "CZK"),
    ("1 299,00 zł", "1299", "PLN"),
    ("44 890 тг.", "44890", "KZT"),
    ("249 ₽", "249", "RUB"),
    ("150.000 ₫", "150000", "VND"),
    ("JPY 1,200", "1200", "JPY"),
    ("1,980円", "1980", "JPY"),
    ("12,000원", "12000", "KRW"),
    ("KWD 1.250", "1.250", "KWD"),
    ("1.250 KWD", "1.250", "KWD"),
    ("12.345,6 €", "12345.6", "EUR"),
    ("€ 19,99 *", "19.99", "EUR"),
    ("119,01 € inkl. MwSt. zzgl. Versandkosten", "119.01", "EUR"),
    ("$24.99$24.99", "24.99", None),
    ("-20% €19.99", "19.99", "EUR"),
    ("€19.99 each", "19.99", "EUR"),
    ("19,99 € 5 Bewertungen", "19.99", "EUR"),
    ("€19.99 5 stars", "19.99", "EUR"),
    ("0.0", None, None),
    ("١٩٫٩٩ ر.س", "19.99", "SAR"),
    ("١٬٢٩٩٫٥٠ ر.س", "1299.50", "SAR"),
    ("１，９８０円", "1980", "JPY"),
    ("19·99 £", "19.99", "GBP"),
    ("CHF 1ʼ299.50", "1299.50", "CHF"),
    ("19\u200f.99 €", "19.99", "EUR"),
    ("1\u200e299,00 €", "1299", "EUR"),
    ("19\xad,99 €", "19.99", "EUR"),
    ("1980円 10ポイント", "1980", "JPY"),
]

REFUSED = [
    ("", PriceRefusal.NO_NUMBER),
    ("Free", PriceRefusal.NO_NUMBER),
    ("50 %", PriceRefusal.NO_NUMBER),
    ("New (8) from $93.99", PriceRefusal.NOT_THE_PRICE),
    ("ab 119,00 €", PriceRefusal.FROM),
    ("à partir de 19,99 €", PriceRefusal.FROM),
    ("от 1 299 ₽", PriceRefusal.FROM),
    ("$210 起", PriceRefusal.FROM),
    ("€100+", PriceRefusal.FROM),
    ("€10.00 – €20.00", PriceRefusal.RANGE),
    ("10 - 20 €", PriceRefusal.RANGE),
    ("10 € bis 20 €", PriceRefusal.RANGE),
    ("€10.00 €20.00", PriceRefusal.SEVERAL),
    ("10€ 20€", PriceRefusal.SEVERAL),
    ("$10 $20", PriceRefusal.SEVERAL),
    ("12,99 €/kg", PriceRefusal.PER_UNIT),
    ("12,99 € / 100 g", PriceRefusal.PER_UNIT),
    ("€3.50 per litre", PriceRefusal.PER_UNIT),
    ("$0.35 per round", PriceRefusal.PER_UNIT),
    ("10,65 € mtl.", PriceRefusal.INSTALMENT),
    ("202 Kč / měsíc", PriceRefusal.INSTALMENT),
    ("12 x 10,65 €", PriceRefusal.INSTALMENT),
    ("4 interest-free payments of $25.00", PriceRefusal.INSTALMENT),
    ("R$ 99,90 sem juros", PriceRefusal.INSTALMENT),
    ("0,00 €", PriceRefusal.ZERO),
    ("-5,00 €", PriceRefusal.NEGATIVE),
    ("-€5.00", PriceRefusal.NEGATIVE),
    ("Save €90.00", PriceRefusal.NOT_THE_PRICE),
    ("Was €1239.00", PriceRefusal.NOT_THE_PRICE),
    ("UVP € 149,99", PriceRefusal.NOT_THE_PRICE),
    ("€5 off", PriceRefusal.NOT_THE_PRICE),
    ("+ €4.95 shipping", PriceRefusal.NOT_THE_PRICE),
    ("3 for $10", PriceRefusal.NOT_THE_PRICE),
    ("£1.5m", PriceRefusal.UNCLEAR_NUMBER),
    ("1.2345", PriceRefusal.UNCLEAR_NUMBER),
    ("12,34,567", PriceRefusal.UNCLEAR_NUMBER),
    ("1,234.567 €", PriceRefusal.UNCLEAR_NUMBER),
    ("19,99.12 €", PriceRefusal.UNCLEAR_NUMBER),
    ("1\ufffd226,50 €", PriceRefusal.UNCLEAR_NUMBER),
    ("19 ,99 €", PriceRefusal.UNCLEAR_NUMBER),
    ("19, 99 €", PriceRefusal.UNCLEAR_NUMBER),
    ("19,,99 €", PriceRefusal.UNCLEAR_NUMBER),
    ("1 9,99 €", PriceRefusal.UNCLEAR_NUMBER),
    ("19,9 9 €", PriceRefusal.UNCLEAR_NUMBER),
    ("€ 19 99", PriceRefusal.UNCLEAR_NUMBER),
    ("19 EUR 99", PriceRefusal.UNCLEAR_NUMBER),
    ("5 Euro 49 Cent", PriceRefusal.UNCLEAR_NUMBER),
    ("19¸99 €", PriceRefusal.UNCLEAR_NUMBER),
    ("Current bid: €20.00", PriceRefusal.NOT_THE_PRICE),
]


@pytest.mark.parametrize(("text", "amount", "currency"), CAUGHT + WRITTEN)
def test_displayed_prices_are_parsed(text, amount, currency):
    parsed = parse_price(text)
    assert (parsed.amount, parsed.currency) == (Decimal(amount) if amount else None, currency)


@pytest.mark.parametrize(("text", "refusal"), REFUSED)
def test_texts_without_a_clear_price_are_refused(text, refusal):
    parsed = parse_price(text)
    assert (parsed.amount, parsed.refusal, parsed.cents()) == (None, refusal, None)


@pytest.mark.parametrize(
    "text",
    [
        "July, 2004",
        "Published: 4 July 2004",
        "май 2019",
        "16.00 ft",
        "1 990 Ft",
        "120 cm",
        "(мин. заказ: 1 )",
        "Min. order: 5",
        "Mindestabnahme: 10",
        "Qty: 1",
    ],
)
def test_dates_measures_and_counts_are_not_prices(text):
    assert parse_price(text, hints=["USD"]).amount is None


@pytest.mark.parametrize(
    ("text", "amount"),
    [("16.00 ft", "16"), ("1 990 Ft", "1990"), ("Qty: 1 2 990 Ft", None), ("Ár: 2004 Ft", "2004")],
)
def test_ambiguous_word_is_a_currency_with_a_hint(text, amount):
    parsed = parse_price(text, hints=["HUF"])
    assert parsed.amount == (Decimal(amount) if amount else None)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2004", "2004"), ("July sale: 25", "25"), ("19.99 in stock", "19.99"), ("Size M 31 €", "31")],
)
def test_prices_that_resemble_dates_measures_or_counts_are_parsed(text, amount):
    assert parse_price(text).amount == Decimal(amount)


@pytest.mark.parametrize(
    ("text", "hints", "currency"),
    [
        ("$19.99", ["AUD"], "AUD"),
        ("$19.99", ["EUR", "CAD"], "CAD"),
        ("$19.99", ["EUR"], None),
        ("19 kr", ["NOK"], "NOK"),
        ("¥1,200", ["CNY"], "CNY"),
        ("Rs 500", ["PKR"], "PKR"),
        ("500 km", ["BAM"], "BAM"),
        ("500 km", [], None),
        ("€19.99", ["USD"], "EUR"),
    ],
)
def test_shared_mark_needs_a_hint(text, hints, currency):
    assert parse_price(text, hints=hints).currency == currency


@pytest.mark.parametrize(
    ("amount", "currency", "cents"),
    [
        ("19.99", "EUR", 1999),
        ("1980", "JPY", 1980),
        ("1.250", "KWD", 1250),
        ("0.01", "EUR", 1),
        ("999999.99", "EUR", MAX_CENTS),
        ("1000000", "EUR", None),
        ("0", "EUR", None),
        ("-1", "EUR", None),
        ("19.999", "EUR", None),
        ("0.5", "JPY", None),
        ("NaN", "EUR", None),
    ],
)
def test_prices_are_converted_to_minor_units(amount, currency, cents):
    assert to_cents(Decimal(amount), currency) == cents


STYLES = {
    "en": (",", "."),
    "de": (".", ","),
    "fr": ("\u202f", ","),
    "cz": ("\u00a0", ","),
    "ch": ("'", "."),
    "plain": ("", "."),
}


def format_price(cents: int, currency: str, style: str) -> str:
    group, point = STYLES[style]
    text = f"{Money(cents, currency).amount:,.{minor_units(currency)}f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", group)


@settings(deadline=None)
@given(
    st.integers(1, MAX_CENTS),
    st.sampled_from(sorted(ISO_4217)),
    st.sampled_from(sorted(STYLES)),
    st.booleans(),
)
def test_all_number_styles_are_parsed(cents, currency, style, is_before):
    number = format_price(cents, currency, style)
    text = f"{currency} {number}" if is_before else f"{number} {currency}"
    parsed = parse_price(text)
    assert (parsed.cents(), parsed.currency) == (cents, currency)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_raises_and_no_amount_is_out_of_range(text):
    parsed = parse_price(text, hints=["USD", "SEK"])
    assert (parsed.amount is None) is (parsed.refusal is not None)
    cents = parsed.cents()
    assert cents is None or 1 <= cents <= MAX_CENTS
    parse_machine_price(text, "EUR")
