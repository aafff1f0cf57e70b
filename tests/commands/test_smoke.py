"""`scrapy smoke`: true figures end with 0, any other with 1."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from pricewatch.bazaar.client import TruthListing
from pricewatch.errors import UserError
from pricewatch.simulation.smoke_checks import check_first, check_second
from pricewatch.simulation.smoke_rounds import CHEAPER, TARGETS, Round, choose
from pricewatch.store.views.stored_reports import RunReport, StoredListing
from tests.simulation.places import check_nothing_left, only_place, run_in


@pytest.mark.proof
def test_true_figures() -> None:
    with only_place() as place:
        outcome = run_in(place, "scrapy", "smoke")
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        check_nothing_left(place)
    assert "figures are what the marketplace knows to be true" in outcome.stdout
    assert re.search("^(Browser|No browser): ", outcome.stdout, re.MULTILINE)
    rows = [line.split() for line in outcome.stdout.splitlines() if line.split()[:1] in (["1"], ["2"])]
    assert [row[1] for row in rows] == ["discovery", "sweep", "verification", "targets"] * 2


def test_a_spider_that_it_does_not_know_is_not_passed_over() -> None:
    assert choose(["verification", "discovery"]) == ["discovery", "verification"]
    with pytest.raises(UserError, match="smoke does not know how to start exploration"):
        choose(["discovery", "exploration"])


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def listing(path: str, price: int, **fields: object) -> TruthListing:
    values = {
        "id": path,
        "ids": [path],
        "url": path,
        "title": path,
        "category": "bikes",
        "currency": "EUR",
        "seller_id": "1",
        "city": "Wien",
        "markup": "jsonld",
        "listed_at": NOW,
        "relisted_at": None,
        "prices": [],
        "spans": [],
        "urls": [path],
        "other_urls": [],
        "shown": [],
        "state": "on_sale",
        "mode": None,
        "price": price,
        **fields,
    }
    return TruthListing(**values)  # type: ignore[arg-type]


def run(**fields: object) -> RunReport:
    values = dict.fromkeys(RunReport.__slots__, 0) | {"status": "finished", **fields}
    return RunReport(**values)  # type: ignore[arg-type]


def done(number: int, **fields: object) -> Round:
    stored = {
        "https://x/a": StoredListing(100, "EUR", "IN_STOCK", True, 1 + CHEAPER, number),
        "https://x/b": StoredListing(None, None, "OUT_OF_STOCK", True, 0, number),
        "https://x/c": StoredListing(300, "EUR", "IN_STOCK", False, 1, number),
    }
    counters = {"new_listings": 3, "price_rows": 2 + CHEAPER, "gone": 1} if number == 1 else {}
    watched = run(spider="targets", details=TARGETS)
    return Round(number, [run(spider="discovery", **(counters | fields)), watched], stored)


BEFORE = [
    listing("/a", 100),
    listing("/b", 200, state="out_of_stock", mode="hidden"),
    listing("/c", 300),
]


def test_figures_that_are_true_hold() -> None:
    checks = check_first(done(1), BEFORE, BEFORE[:2]) + check_second(done(1), done(2))
    assert [check for check in checks if not check.holds] == []


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"status": "failed"}, "runs that finished"),
        ({"new_listings": 2}, "new listings"),
        ({"price_rows": 1}, "price rows"),
        ({"gone": 0}, "listings found gone"),
    ],
)
def test_a_counter_that_is_not_true_is_told(fields: dict[str, object], what: str) -> None:
    checks = check_first(done(1, **fields), BEFORE, BEFORE[:2])
    assert [check.what for check in checks if not check.holds] == [what]


def test_what_is_stored_and_not_true_is_told() -> None:
    first = done(1)
    after = [listing("/a", 99), BEFORE[1]]
    failed = [check for check in check_first(first, BEFORE, after) if not check.holds]
    assert [check.what for check in failed] == ["listings with another price or stock"]
    assert failed[0].found == ["/a is (99, 'EUR', 'IN_STOCK'), stored as (100, 'EUR', 'IN_STOCK')"]
    del first.stored["https://x/b"]
    assert "listings stored" in [c.what for c in check_first(first, BEFORE, BEFORE[:2]) if not c.holds]


def test_a_second_round_that_adds_something_is_told() -> None:
    second = done(2, price_rows=1)
    second.stored["https://x/a"] = second.stored["https://x/a"]._replace(price_cents=99)
    assert [check.what for check in check_second(done(1), second) if not check.holds] == [
        "second round: price rows",
        "second round: listings that changed",
    ]
