"""The place of the price of each source: stored, confirmed, replaced and forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.store.source_registry import price_places, source_hints
from pricewatch.store.source_registry.price_places import PricePlace
from tests.databases import Database
from tests.store.observations import START, later


def place(database: Database) -> PricePlace | None:
    found: dict[str, PricePlace] = database.call(price_places.place_of, ["bazaar", "apartments", "nobody"])
    assert set(found) <= {"bazaar"}
    return found.get("bazaar")


def remember(database: Database, selector: str, by: str, now: Any = START) -> None:
    database.call(price_places.remember, "bazaar", selector, by=by, now=now)


def test_first_place_is_stored_and_confirmed(database: Database) -> None:
    assert place(database) is None
    remember(database, ".price", "pages")
    remember(database, ".price", "pages", later(5))
    assert place(database) == PricePlace(".price", 2, later(5), "pages")
    (hints,) = database.call(source_hints.load, ["bazaar"]).values()
    assert (hints.price_place, hints.price_place_seen) == (".price", 2)


def test_other_place_replaces_it_after_three_pages_in_a_row(database: Database) -> None:
    remember(database, ".price", "pages")
    for _ in range(2):
        remember(database, ".new", "pages")
    remember(database, ".price", "pages")
    for _ in range(2):
        remember(database, ".new", "pages")
    assert place(database) == PricePlace(".price", 2, START, "pages")
    remember(database, ".new", "pages", later(9))
    assert place(database) == PricePlace(".new", 3, later(9), "pages")


def test_choice_of_a_person_is_replaced_only_by_a_person(database: Database) -> None:
    remember(database, ".price", "pages")
    remember(database, " .chosen ", "Ada")
    changed = later(1)
    database.call(price_places.remember_pages, {"bazaar": [".price"] * 9}, changed)
    assert place(database) == PricePlace(".chosen", 0, START, "Ada")
    database.call(price_places.remember_pages, {"bazaar": [".chosen"] * 9}, changed)
    assert place(database) == PricePlace(".chosen", 9, changed, "Ada")
    remember(database, ".better", "Bob")
    assert place(database) == PricePlace(".better", 0, START, "Bob")
    database.call(price_places.forget, "bazaar")
    assert place(database) is None
    remember(database, ".price", "pages")
    assert place(database) == PricePlace(".price", 1, START, "pages")


def test_unchanged_source_is_not_written(database: Database) -> None:
    remember(database, ".chosen", "Ada")
    version = "SELECT xmin::text FROM sources WHERE id = 'bazaar'"
    before = database.value(version)
    database.call(price_places.remember_pages, {"bazaar": [".price"], "nobody": [".x"]}, later(1))
    assert database.value(version) == before


@pytest.mark.parametrize("selector", ["", "  ", "a" * 501, ".a\x00b"])
def test_unusable_selectors_are_refused(database: Database, selector: str) -> None:
    with pytest.raises(UserError, match="A selector has 1 to 500 characters"):
        remember(database, selector, "Ada")
    with pytest.raises(UserError, match="There is no source 'nobody'"):
        database.call(price_places.remember, "nobody", ".a", by="Ada", now=START)
    with pytest.raises(UserError, match="There is no source 'nobody'"):
        database.call(price_places.forget, "nobody")
