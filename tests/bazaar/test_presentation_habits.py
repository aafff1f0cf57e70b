"""Habits of presentation: how cards and pages show prices and stock, and what the ground truth says."""

import pytest

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.bazaar.ground_truth import listed, shown_now
from tests.bazaar.visitor import Visitor


def cards_with(bazaar: Bazaar, visitor: Visitor, habit: str) -> list[tuple[dict[str, str], TruthListing]]:
    bazaar.habit(habit, category="bikes", share=1.0)
    true = {each.id: each for each in listed(bazaar)}
    return [(card, true[card["data-id"]]) for card in visitor.all_cards("/c/bikes")]


def test_cards_show_no_price(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_without_price"):
        assert ("data-price" in card, card["text"]) == (False, "")
        assert (shown_now(true).card_price, shown_now(true).page_price) == (False, True)


def test_cards_show_no_stock(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_without_stock"):
        assert "data-status" not in card
        assert (shown_now(true).card_stock, shown_now(true).page_stock) == (None, "in")


@pytest.mark.parametrize("habit", ["cards_net_and_gross", "tax_switch"])
def test_cards_show_net_and_gross_prices(bazaar: Bazaar, visitor: Visitor, habit: str) -> None:
    for card, true in cards_with(bazaar, visitor, habit):
        gross, _, without = card["text"].partition(" excl. VAT: ")
        assert gross == amounts.displayed(true.price, "EUR")
        assert without == amounts.displayed(presentation.net_price(true.price), "EUR")
        assert "data-price" not in card
        assert (shown_now(true).card_price, shown_now(true).page_price) == (True, True)
    true = next(each for each in listed(bazaar) if each.markup == "jsonld")
    page = visitor.request(true.url)
    assert page.product["offers"]["price"] == amounts.decimal(true.price, "EUR")
    assert bool(page.page.css(".net-price")) == (habit == "tax_switch")


def test_cards_show_from_prices(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "cards_from_price"):
        assert card["text"] == f"from {amounts.displayed(true.price * 4 // 5, 'EUR')}"
        assert "data-price" not in card
        assert (shown_now(true).card_price, shown_now(true).page_price) == (False, True)


def test_prices_are_hidden_until_login(bazaar: Bazaar, visitor: Visitor) -> None:
    for card, true in cards_with(bazaar, visitor, "logged_out_price"):
        assert ("data-price" in card, card["text"]) == (False, "Log in to see the price")
        assert (shown_now(true).card_price, shown_now(true).page_price) == (False, False)
        if true.markup == "jsonld":
            page = visitor.request(true.url)
            assert "price" not in page.product["offers"]
            assert page.page.css(".buy-box .price").get() is None
            assert "€" not in "".join(page.page.css(".buy-box ::text").getall())


def test_ambiguous_pages_keep_showing_two_prices(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.habit("ambiguous_pages", category="bikes", share=0.2)
    bad = [each for each in listed(bazaar) if not shown_now(each).page_price and each.markup != "js"]
    assert 0.1 < len(bad) / len(listed(bazaar)) < 0.3
    for days in (0, 3):
        bazaar.advance(days=days)
        for true in [each for each in listed(bazaar) if each.url in {one.url for one in bad}][:10]:
            page = visitor.request(true.url).page
            prices = page.css(".buy-box .price::text").getall()
            assert prices == [
                amounts.displayed(true.price, "EUR"),
                amounts.displayed(true.price * 93 // 100, "EUR"),
            ]
            assert (shown_now(true).card_price, shown_now(true).page_price) == (True, False)


@pytest.mark.parametrize(
    ("habit", "stock", "words", "schema"),
    [
        ("backorder", "backorder", "Available on backorder", "https://schema.org/BackOrder"),
        ("preorder", "preorder", "Pre-order now", "https://schema.org/PreOrder"),
        ("unknown_stock", "unknown", "Ask in the shop", None),
    ],
)
def test_pages_show_other_stock_states(
    bazaar: Bazaar, visitor: Visitor, habit: str, stock: str, words: str, schema: str | None
) -> None:
    cards = cards_with(bazaar, visitor, habit)
    assert {card["data-status"] for card, _ in cards} == {stock}
    true = next(each for _, each in cards if each.markup == "jsonld")
    page = visitor.request(true.url)
    assert page.page.css(".item-state::text").get() == words
    assert page.product["offers"].get("availability") == schema
    assert (shown_now(true).card_stock, shown_now(true).page_stock) == (stock, stock)


@pytest.mark.parametrize(("habit", "currency"), [("prices_in_yen", "JPY"), ("prices_in_dinar", "KWD")])
def test_prices_are_shown_in_other_currencies(
    bazaar: Bazaar, visitor: Visitor, habit: str, currency: str
) -> None:
    for card, true in cards_with(bazaar, visitor, habit):
        assert (card["data-price"], card["data-currency"]) == (str(true.price), currency)
        assert card["text"] == amounts.displayed(true.price, currency)
        assert (true.currency, shown_now(true).currency) == (currency, currency)
    true = next(each for each in listed(bazaar) if each.markup == "jsonld")
    offer = visitor.request(true.url).product["offers"]
    assert (offer["price"], offer["priceCurrency"]) == (amounts.decimal(true.price, currency), currency)


def test_amounts_have_the_decimals_of_their_currency() -> None:
    assert amounts.displayed(1_299_900, "KWD") == "KWD 1,299.900"
    assert amounts.decimal(1_299_900, "KWD") == "1299.900"
