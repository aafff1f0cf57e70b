"""`scrapy quarantine`: list, show, choose, accept, reject and replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pricewatch.console.terminal_io import user_name
from pricewatch.vocabulary import QuarantineReason
from tests.databases import Database
from tests.services.held_pages import hold_page
from tests.services.test_quarantine_review import quarantine_offer, rows, status, store
from tests.store.observations import card, later


@pytest.fixture
def scrapy(crawl: Any) -> Any:
    return lambda *words: crawl.command("quarantine", *map(str, words)).end()


def test_offers_are_listed_shown_accepted_and_rejected(
    scrapy: Any, database: Database, tmp_path: Path
) -> None:
    store(database, [card(1, 1000)], run_id=1)
    zero = quarantine_offer(database, price=0, reason=QuarantineReason.ZERO_PRICE_EXTRACTED, minutes=5)
    store(database, [card(1, 5000, later(10))], run_id=2)
    jump = database.value("SELECT max(id) FROM quarantine")

    listed = [json.loads(line) for line in scrapy("list", "--json").stdout.splitlines()]
    assert [(row["id"], row["reason"]) for row in listed] == [
        *[(jump, "VALIDATION_FAILED"), (zero, "ZERO_PRICE_EXTRACTED")]
    ]
    table = scrapy("list", "--reason", "VALIDATION_FAILED").stdout
    assert "50.00 EUR" in table
    assert "10.00 EUR" in table
    assert json.loads(scrapy("show", jump).stdout)["details"]["stored_price_cents"] == 1000
    saved = tmp_path / "page.html"
    assert scrapy("show", zero, "--save", saved).returncode == 0
    assert b"item-title" in saved.read_bytes()
    assert f"Offer {jump} has no stored page" in scrapy("show", jump, "--save", saved).stderr

    done = scrapy("accept", jump, zero, "--by", "Ada", "--note", "the shop says so")
    assert done.returncode == 1
    assert f"{jump}: stored, 50.00 EUR (stored so far: 10.00 EUR)" in done.stdout
    assert f"{zero}: invalid" in done.stdout
    assert rows(database) == [(1000, "SCRAPE", 1), (5000, "REVIEW", 2)]
    assert "1 of 1 rejected" in scrapy("reject", zero).stdout
    assert status(database, zero) == "rejected"
    assert "No quarantined offers match" in scrapy("list").stdout
    assert "There is no offer 999" in scrapy("show", 999).stderr


@pytest.mark.proof
def test_replay_stores_only_with_apply(scrapy: Any, database: Database) -> None:
    quarantine_offer(database, price=0)
    broken = quarantine_offer(database, price=0, page="<p>another shop</p>", minutes=11, identity_key="PID:2")
    done = scrapy("replay", "--adapter", "bazaar")
    assert "would be stored, 50.00 EUR" in done.stdout
    assert f"{broken}: nothing read" in done.stdout
    assert "1 of 2 would be stored" in done.stdout
    assert rows(database) == []
    assert "1 of 2 stored" in scrapy("replay", "--adapter", "bazaar", "--apply").stdout
    assert rows(database) == [(5000, "REPLAY", 2)]
    assert "0 of 1 stored" in scrapy("replay", "--adapter", "bazaar", "--apply").stdout
    assert len(rows(database)) == 1
    assert scrapy("replay").returncode == 2


def test_offers_of_custom_spiders_cannot_be_replayed(scrapy: Any, database: Database) -> None:
    quarantine_id = quarantine_offer(database, page="", adapter_id="spider:toys")
    assert str(quarantine_id) in scrapy("list", "--adapter", "spider:toys").stdout
    assert json.loads(scrapy("show", quarantine_id).stdout)["adapter_id"] == "spider:toys"
    assert "the spider toys provided no page" in scrapy("show", quarantine_id, "--save", "x.html").stderr
    refused = scrapy("replay", "--adapter", "spider:toys", "--apply")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "These pages cannot be read again: the spider toys reads its pages itself" in refused.stderr
    done = scrapy("replay", quarantine_id, "--apply")
    assert f"{quarantine_id}: no adapter, the spider toys reads its pages itself" in done.stdout
    assert "0 of 1 stored." in done.stdout
    assert status(database, quarantine_id) == "pending"
    assert f"{quarantine_id}: stored, 50.00 EUR" in scrapy("accept", quarantine_id, "--by", "Ada").stdout
    assert rows(database) == [(5000, "REVIEW", 2)]


def test_price_is_chosen_by_number(scrapy: Any, database: Database) -> None:
    quarantine_id = hold_page(database)
    assert json.loads(scrapy("show", quarantine_id).stdout)["choices"] == [
        "1: 12.50 EUR, current, from page: '€ 12.50'",
        "2: 20.00 EUR, current, from page: '€ 20.00'",
        "3: 17.00 (no currency), current, from page: '17.00'",
    ]
    assert "20.00 EUR" in scrapy("choose", quarantine_id).stdout
    wrong = scrapy("choose", quarantine_id, 9)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "There is no candidate 9. Known: 1, 2, 3." in wrong.stderr
    assert "choose the currency" in scrapy("choose", quarantine_id, 3).stderr
    options = ("--currency", "EUR", "--availability", "in_stock", "--for-site", "--by", "Ada")
    done = scrapy("choose", quarantine_id, 3, *options)
    assert done.returncode == 0, done.stderr
    assert f"{quarantine_id}: stored, 17.00 EUR, the target reads its price at p.bare" in done.stdout
    assert database.value("SELECT selectors FROM targets") == {"price": "p.bare", "currency": "EUR"}
    assert database.value("SELECT price_place_by FROM sources WHERE id = 'shop.example'") == "Ada"
    entry = database.row("SELECT person, details FROM audit")
    assert (entry.person, entry.details["by"]) == (user_name(), "Ada")
    again = scrapy("choose", quarantine_id, 1)
    assert (again.returncode, again.stdout) == (
        *(1, f"{quarantine_id}: not waiting, it was already accepted by Ada\n"),
    )
