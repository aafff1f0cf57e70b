"""Words beside an amount: those that mean the price, and those that may mean another amount."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.price_words import has_other_words, last_mark_end


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Price:",
        "our price",
        "Preis",
        "Prix :",
        "Цена:",
        "السعر :",
        "販売価格",
        "促销价",
        "only",
        "jetzt nur",
        "-20%",
        "incl. VAT",
        "inkl. MwSt.",
        "税込",
        "EUR",
        "zł / szt.",
        "US $",
        "*",
    ],
)
def test_words_that_mean_the_price(text):
    assert not has_other_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "Deposit",
        "zzgl. Pfand",
        "Schutzgebühr",
        "when you trade in",
        "per 100g",
        "10 or more:",
        "no Pix",
        "3",
        "운임",
        "คงเหลือ",
    ],
)
def test_words_that_may_mean_another_amount(text):
    assert has_other_words(text)


def test_words_after_the_last_price_belong_to_the_next():
    text = "statt 29,99 € nur"
    assert text[last_mark_end(text) :] == " nur"
    assert last_mark_end("no mark here 12") == 0
