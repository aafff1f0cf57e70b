"""`scrapy smoke`: the exit code is 0 if all checks pass, else 1."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from pricewatch.bazaar.client import TruthListing
from pricewatch.errors import UserError
from pricewatch.simulation.smoke_checks import check_first, check_second
from pricewatch.simulation.smoke_rounds import CHEAPER, TARGETS, Round, choose
from pricewatch.store.views.stored_reports import RunReport, StoredListing
from tests.simulation.isolated_runs import check_nothing_left, isolated_tmpdir, run_in


@pytest.mark.proof
def test_smoke_passes_and_leaves_nothing_behind() -> None:
    with isolated_tmpdir() as tmpdir:
        outcome = run_in(tmpdir, "scrapy", "smoke")
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr
        check_nothing_left(tmpdir)
    assert re.search(r"All \d+ checks passed", outcome.stdout)
    assert re.search("^(Browser|No browser): ", outcome.stdout, re.MULTILINE)
    rows = [line.split() for line in outcome.stdout.splitlines() if line.split()[:1] in (["1"], ["2"])]
    assert [row[1] for row in rows] == ["discovery", "sweep", "verification", "targets"] * 2


def test_unknown_spider_is_an_error() -> None:
    assert choose(["verification", "discovery"]) == ["discovery", "verification"]
    with pytest.raises(UserError, match="smoke has no arguments for the spider exploration"):
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


def make_round(number: int, **fields: object) -> Round:
    stored = {
        "https://x/a": StoredListing(100, "EUR", "IN_STOCK", True, 1 + CHEAPER, number),
        "https://x/b": StoredListing(None, None, "OUT_OF_STOCK", True, 0, number),
        "https://x/c": StoredListing(300, "EUR", "IN_STOCK", False, 1, number),
    }
    counters = {"new_listings": 3, "price_rows": 2 + CHEAPER, "gone": 1} if number == 1 else {}
    targets = run(spider="targets", details=TARGETS)
    return Round(number, [run(spider="discovery", **(counters | fields)), targets], stored)


BEFORE = [
    listing("/a", 100),
    listing("/b", 200, state="out_of_stock", mode="hidden"),
    listing("/c", 300),
]


def test_right_values_pass() -> None:
    checks = check_first(make_round(1), BEFORE, BEFORE[:2]) + check_second(make_round(1), make_round(2))
    assert [check for check in checks if not check.holds] == []


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"status": "failed"}, "finished runs"),
        ({"new_listings": 2}, "new listings"),
        ({"price_rows": 1}, "price rows"),
        ({"gone": 0}, "listings found gone"),
    ],
)
def test_wrong_counter_fails(fields: dict[str, object], name: str) -> None:
    checks = check_first(make_round(1, **fields), BEFORE, BEFORE[:2])
    assert [check.name for check in checks if not check.holds] == [name]


def test_wrong_stored_listing_fails() -> None:
    first = make_round(1)
    after = [listing("/a", 99), BEFORE[1]]
    failed = [check for check in check_first(first, BEFORE, after) if not check.holds]
    assert [check.name for check in failed] == ["listings with a wrong price or stock"]
    assert failed[0].found == ["/a is (99, 'EUR', 'IN_STOCK'), stored as (100, 'EUR', 'IN_STOCK')"]
    del first.stored["https://x/b"]
    assert "stored listings" in [c.name for c in check_first(first, BEFORE, BEFORE[:2]) if not c.holds]


def test_second_round_that_adds_rows_fails() -> None:
    second = make_round(2, price_rows=1)
    second.stored["https://x/a"] = second.stored["https://x/a"]._replace(price_cents=99)
    assert [check.name for check in check_second(make_round(1), second) if not check.holds] == [
        "second round: price rows",
        "second round: changed listings",
    ]
