"""Strict review: a price that changes by more than a percentage waits for a person."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.rules.price_jump import is_jump, needs_person
from pricewatch.services import quarantine_review
from pricewatch.store.writing import (
    incoming_rows,
    jump_quarantine,
    listing_upsert,
    reviewed_offers,
    strict_review_rows,
)
from pricewatch.store.writing.batch import Batch, WriteUnit
from tests.databases import Database
from tests.store.observations import MARKET, card, later, offer
from tests.store.test_jump_quarantine import CENTS, listing, prices, quarantined, store


def set_percent(database: Database, kind: str, subject: str, percent: float | None) -> None:
    database.call(strict_review_rows.set_percent, kind, subject, percent, by="Ada", now=later(0))


def test_no_number_of_runs_confirms_a_price_under_strict_review(database: Database) -> None:
    set_percent(database, "source", "bazaar", 20)
    store(database, [card(1, 30679)], run_id=1)
    for run in range(2, 6):
        counts = store(database, [offer(1, 307, later(run * 60))], run_id=run)
        assert (counts.quarantined, counts.price_rows) == (1, 0)
    assert quarantined(database) == [("pending", 307)]
    assert listing(database).price_cents == 30679
    why = "the price changed, and strict review is on"
    assert database.value("SELECT details ->> 'why' FROM quarantine") == why
    number = database.value("SELECT id FROM quarantine")
    database.call(quarantine_review.accept, number, by="Ada", note="", now=later(600))
    assert prices(database) == [30679, 307]


def test_smaller_changes_are_stored_and_the_usual_price_rejects_the_held_one(database: Database) -> None:
    set_percent(database, "source", "bazaar", 20)
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 1200, later(10))], run_id=2)
    store(database, [card(1, 1441, later(20))], run_id=3)
    assert quarantined(database) == [("pending", 1441)]
    store(database, [card(1, 1200, later(30))], run_id=4)
    assert quarantined(database) == [("rejected", 1441)]
    assert prices(database) == [1000, 1200]


def test_a_price_in_another_currency_waits_too(database: Database) -> None:
    set_percent(database, "source", "bazaar", 20)
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 1000, later(10), currency="USD")], run_id=2)
    assert quarantined(database) == [("pending", 1000)]
    assert listing(database).currency == "EUR"


def test_target_wins_over_market_and_market_over_source(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    target = database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url, listing_id)"
        " SELECT source_id, 'bazaar', url, url, id FROM listings RETURNING id"
    )
    share = "SELECT strict_review_share(id, source_id) FROM listings"
    found = [database.value(share)]
    for kind, subject, percent in (
        ("source", "bazaar", 40),
        ("market", MARKET, 30),
        ("target", str(target), 50),
    ):
        set_percent(database, kind, subject, percent)
        found.append(database.value(share))
    assert [None if one is None else float(one) for one in found] == [None, 0.4, 0.3, 0.5]
    listed = [(row["kind"], row["subject"], row["percent"]) for row in database.call(strict_review_rows.find)]
    assert listed == [("source", "bazaar", 40), ("market", MARKET, 30), ("target", str(target), 50)]
    for kind, subject in (("target", str(target)), ("market", MARKET), ("source", "bazaar")):
        set_percent(database, kind, subject, None)
    assert database.value(share) is None


def test_a_replay_does_not_accept_a_price_for_a_person(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    row = offer(1, 1500, later(10))
    with database.engine.begin() as connection:
        reviewed_offers.load(connection, row)
        assert not reviewed_offers.needs_person(connection)
        strict_review_rows.set_percent(connection, "source", "bazaar", 20, by="Ada", now=later(0))
        assert reviewed_offers.needs_person(connection)


@pytest.mark.parametrize(
    ("kind", "subject", "percent"),
    [
        ("shop", "bazaar", 20),
        ("source", "nowhere", 20),
        ("target", "one", 20),
        ("target", "9" * 40, 20),
        ("source", "bazaar", 0),
        ("source", "bazaar", 1001),
        ("source", "bazaar", float("nan")),
    ],
)
def test_unusable_choices_are_refused(database: Database, kind: str, subject: str, percent: float) -> None:
    with pytest.raises(UserError):
        set_percent(database, kind, subject, percent)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(known=CENTS, share=st.sampled_from([0.5, 0.79, 0.8, 0.81, 1, 1.19, 1.2, 1.21, 1.5]))
def test_rule_and_database_agree(database: Database, known: int, share: float) -> None:
    seen = min(max(round(known * share), 1), 99_999_999)
    before, after = Money(known, "EUR"), Money(seen, "EUR")
    with database.engine.connect() as connection, connection.begin() as trial:
        strict_review_rows.set_percent(connection, "source", "bazaar", 20, by="Ada", now=later(0))
        for number, price in enumerate((known, seen)):
            incoming_rows.load(connection, [card(1, price, later(number))])
            for write in (jump_quarantine.quarantine_jumps, listing_upsert.upsert):
                write(connection, Batch(number + 1, MARKET, [WriteUnit([])]))
        held = connection.exec_driver_sql("SELECT quarantined FROM incoming").scalar()
        assert bool(held) == (needs_person(before, after, share=0.2) or is_jump(before, after))
        trial.rollback()
