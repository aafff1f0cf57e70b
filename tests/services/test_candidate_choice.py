"""A person chooses the price of a quarantined page: it is stored once, and its place is taught."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.errors import UserError
from pricewatch.items import Extracted, Quarantine
from pricewatch.money import Money
from pricewatch.parsing.pages.element_path import element_path
from pricewatch.services import candidate_choice
from pricewatch.services.candidate_choice import ChoiceRequest, ChosenPrice
from pricewatch.services.quarantine_review import Review
from tests.databases import Database
from tests.services.held_pages import CANDIDATES, candidate, hold_page, response_of, two_prices
from tests.services.test_quarantine_review import rows, status
from tests.store.observations import later


def choose(database: Database, quarantine_id: int, number: int, **values: Any) -> ChosenPrice:
    chosen: ChosenPrice = database.call(
        candidate_choice.choose, quarantine_id, ChoiceRequest(number, **values), by="Ada", now=later(60)
    )
    return chosen


def selectors(database: Database) -> dict[str, str]:
    found: dict[str, str] = database.value("SELECT selectors FROM targets")
    return found


def price_of_another_page(database: Database, **prices: str) -> Money | None:
    adapter = CustomSelectorAdapter(adapters.get("generic"), selectors(database))
    found = adapter.extract(response_of(two_prices(**prices)))
    assert isinstance(found, Extracted), found
    return found.offer.price


def test_chosen_price_is_stored_and_its_place_is_taught(database: Database) -> None:
    quarantine_id = hold_page(database)
    database.do(
        "UPDATE targets SET status = 'BROKEN', consecutive_failures = 5, selectors = '{\"title\": \"h1\"}'"
    )
    chosen = choose(database, quarantine_id, 2)
    assert chosen.review.outcome is Review.STORED
    assert chosen.review.details == "the target reads its price at p.second from now on"
    assert rows(database) == [(2000, "REVIEW", 2)]
    listing = database.row("SELECT * FROM listings")
    assert (listing.title, listing.price_cents, listing.currency) == ("Fine shoes", 2000, "EUR")
    assert (listing.availability, listing.canonical_url) == ("IN_STOCK", "https://shop.example/p/1")
    assert listing.price_observed_at == later(10)
    row = database.row("SELECT * FROM quarantine")
    assert (row.status, row.reviewed_by) == ("accepted", "Ada")
    assert row.note == "chosen: candidate 2, 20.00 EUR, current, from page: '€ 20.00'"
    target = database.row("SELECT * FROM targets")
    assert target.selectors == {"title": "h1", "price": "p.second"}
    assert (target.status, target.consecutive_failures, target.last_status) == ("ACTIVE", 0, "SUCCESS")
    assert price_of_another_page(database, first="44,00", second="45,90") == Money(4590, "EUR")
    audit = database.row("SELECT * FROM audit")
    assert (audit.person, audit.action, audit.subject) == ("Ada", "price chosen", f"offer {quarantine_id}")
    assert audit.details["price"] == "20.00 EUR"
    assert audit.details["selectors"] == {"price": "p.second"}


def test_path_of_an_element_is_taught(database: Database) -> None:
    (element,) = response_of(two_prices()).xpath("//p[@class='second']")
    path = element_path(element.root)
    quarantine_id = hold_page(database, candidates=[CANDIDATES[0], candidate(2, "20.00", path=path)])
    assert choose(database, quarantine_id, 2).selectors == {"price": "div.buy > p.second"}
    assert price_of_another_page(database, first="44,00", second="45,90") == Money(4590, "EUR")


def test_price_is_chosen_once(database: Database) -> None:
    quarantine_id = hold_page(database)
    choose(database, quarantine_id, 1)
    again = choose(database, quarantine_id, 2)
    assert again.review.outcome is Review.NOT_WAITING
    assert again.review.details == "it was already accepted by Ada"
    assert rows(database) == [(1250, "REVIEW", 2)]
    assert selectors(database) == {"price": "p.first"}
    assert database.value("SELECT count(*) FROM audit") == 1


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("p.second", "p.second reads 20.00 EUR"),
        ("p.missing", "p.missing reads nothing certain (SELECTOR_FAILURE)"),
        ("p..x", "the selector for price is not valid"),
        ("", "the page does not display it"),
    ],
)
def test_place_with_another_price_is_not_taught(database: Database, path: str, why: str) -> None:
    quarantine_id = hold_page(database, candidates=[candidate(1, "12.50", path=path), CANDIDATES[1]])
    chosen = choose(database, quarantine_id, 1, for_site=True)
    assert chosen.review.outcome is Review.STORED
    assert f"the place of the price was not learned: {why}" in chosen.review.details
    assert (chosen.selectors, chosen.site_selector) == ({}, "")
    assert rows(database) == [(1250, "REVIEW", 2)]
    assert selectors(database) == {}
    assert database.value("SELECT price_place FROM sources WHERE id = 'shop.example'") is None


def test_place_of_another_candidate_with_the_same_price_is_taught(database: Database) -> None:
    structured = candidate(1, "20.00", source="json-ld", path="", text="20")
    quarantine_id = hold_page(database, candidates=[structured, *CANDIDATES[1:]])
    assert choose(database, quarantine_id, 1).selectors == {"price": "p.second"}


def test_place_is_remembered_for_the_site(database: Database) -> None:
    quarantine_id = hold_page(database, with_target=False)
    chosen = choose(database, quarantine_id, 2, for_site=True)
    assert chosen.site_selector == "p.second"
    assert "the whole site is read with p.second" in chosen.review.details
    source = database.row("SELECT * FROM sources WHERE id = 'shop.example'")
    assert (source.price_place, source.price_place_by) == ("p.second", "Ada")


def test_currency_that_the_page_does_not_name_is_needed_and_taught(database: Database) -> None:
    quarantine_id = hold_page(database)
    with pytest.raises(UserError, match=r"does not name the currency of 17\.00: choose the currency"):
        choose(database, quarantine_id, 3)
    with pytest.raises(UserError, match="'XYZ' is not a currency code"):
        choose(database, quarantine_id, 3, currency="XYZ")
    with pytest.raises(UserError, match=r"12\.50 is not a valid amount of JPY"):
        choose(database, quarantine_id, 1, currency="JPY")
    assert (status(database, quarantine_id), rows(database)) == ("pending", [])
    chosen = choose(database, quarantine_id, 3, currency="usd")
    assert chosen.selectors == {"price": "p.bare", "currency": "USD"}
    assert database.value("SELECT currency FROM price_history") == "USD"


def test_number_and_availability_are_checked(database: Database) -> None:
    quarantine_id = hold_page(database, two_prices(button=""), evidence=["availability: UNKNOWN (none)"])
    for number in (0, 4):
        with pytest.raises(UserError, match=rf"There is no candidate {number}\. Known: 1, 2, 3\."):
            choose(database, quarantine_id, number)
    with pytest.raises(UserError, match="does not state the availability: choose one of IN_STOCK, "):
        choose(database, quarantine_id, 1)
    for word in ("UNKNOWN", "SOLD", "perhaps"):
        with pytest.raises(UserError, match=f"'{word}' is not an availability to choose"):
            choose(database, quarantine_id, 1, availability=word)
    with pytest.raises(UserError, match="no quarantined offer 99"):
        choose(database, 99, 1)
    chosen = choose(database, quarantine_id, 1, availability="backorder")
    assert database.value("SELECT availability FROM listings") == "BACKORDER"
    assert "it still needs a selector for the availability" in chosen.review.details


def test_row_of_an_earlier_version_is_chosen_by_position(database: Database) -> None:
    old = [
        {name: value for name, value in one.items() if name not in ("number", "path", "score")}
        for one in CANDIDATES
    ]
    quarantine_id = hold_page(database, candidates=old)
    database.do("UPDATE quarantine SET offer = '{}'")
    chosen = choose(database, quarantine_id, 2)
    assert chosen.review.outcome is Review.STORED
    assert "was not learned: the page does not display it" in chosen.review.details
    listing = database.row("SELECT * FROM listings")
    assert (listing.title, listing.url, listing.price_cents) == (
        *("Fine shoes", "https://shop.example/p/1", 2000),
    )


def test_page_that_was_removed_teaches_nothing(database: Database) -> None:
    quarantine_id = hold_page(database)
    database.do("DELETE FROM quarantine_pages")
    chosen = choose(database, quarantine_id, 1)
    assert chosen.review.outcome is Review.STORED
    assert "was not learned: its page was removed" in chosen.review.details
    assert selectors(database) == {}


def test_older_choice_does_not_replace_a_newer_price(database: Database) -> None:
    quarantine_id = hold_page(database)
    choose(database, quarantine_id, 1)
    values = {"details": json.dumps({"candidates": CANDIDATES, "title": "Fine shoes"}), "at": later(5)}
    older = database.value(
        "INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, reason, offer, details,"
        " observed_at) VALUES ('shop.example', 'generic', '1', 'https://shop.example/p/1', 'AMBIGUOUS_PRICE',"
        ' \'{"availability": "IN_STOCK"}\', CAST(:details AS jsonb), :at) RETURNING id',
        **values,
    )
    chosen = choose(database, older, 2, for_site=True)
    assert chosen.review.outcome is Review.OUTDATED
    assert status(database, older) == "pending"
    assert rows(database) == [(1250, "REVIEW", 2)]
    assert database.value("SELECT count(*) FROM audit") == 1


def test_candidates_of_the_reader_can_be_chosen(database: Database) -> None:
    """What the reader reports of a page in doubt is what a person chooses and teaches."""
    found = adapters.get("generic").extract(response_of(two_prices()))
    assert isinstance(found, Quarantine), found
    quarantine_id = hold_page(database, candidates=found.details["candidates"])
    number = next(row["number"] for row in found.details["candidates"] if row["amount"] == "20.00")
    assert choose(database, quarantine_id, number).review.outcome is Review.STORED
    assert rows(database) == [(2000, "REVIEW", 2)]
    assert price_of_another_page(database, first="13,00", second="21,50") == Money(2150, "EUR")
