"""Every page of the interface with a full database: no undefined values, and all details are shown."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi.routing import APIRoute

from pricewatch.money import Money
from pricewatch.rules.custom_spiders import BUILT_IN_SPIDERS, reader_id
from pricewatch.runs.start_page import StartPage
from pricewatch.store.operations import alert_rows
from pricewatch.store.people import watch_rules
from pricewatch.store.writing import history_append, jump_quarantine, listing_upsert, product_links
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.web.routes import page_routers
from tests.databases import Database
from tests.store import observations
from tests.web.stored import store_one_of_each

NOW = datetime.now(UTC)
# Static files and redirects.
NOT_PAGES = {"/static/{fingerprint}/{name}", "/login"}
SPIDERS = ("discovery", "sweep", "verification", "targets", "Acme/toys & games")
FAILURE = {"time": NOW.isoformat(), "page": 3, "proxy": "proxy-7", "error": "http_error: 500"}
STARTS = [
    StartPage("/c/bikes", read=2, collected=40, failures=[FAILURE], failed_page=3),
    StartPage("/c/toys", read=7, collected=140, completed=True),
    StartPage("/c/new"),
]
PROGRESS: list[dict[str, Any]] = [
    {},
    {"start_pages": [start.as_json() for start in STARTS], "committed": True},
    {"page": 5, "first_page": 2, "last_page": 50, "pages_in_market": 9, "goes_on_from": 5},
    {"page": 5, "last_page": 9, "cycle": {"seen": 140, "last_complete": None, "complete": True}},
    {"result": {"url": "https://shop.example/1", "status": "ok"}},
]
RUN = """
INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at, status, errors,
                  progress, reasons)
VALUES (:spider, 'bazaar-bikes', 'bazaar', :adapter_id, now(), now(), :status, CAST(:errors AS jsonb),
        CAST(:progress AS jsonb), '{"page/ok": 5, "dropped/INVALID_PRICE": 1}')
"""
ERRORS = [{"at": NOW.isoformat(), "error": "A page could not be read", "url": "/c/bikes?page=3"}, {}]


@pytest.fixture
def full(database: Database) -> Database:
    """Runs of every kind and state, and one of everything else that the pages show."""
    store_one_of_each(database, "Evil")
    for spider in SPIDERS:
        adapter_id = "bazaar" if spider in BUILT_IN_SPIDERS else reader_id(spider)
        for progress in PROGRESS:
            status = "running" if progress == PROGRESS[-1] else "failed"
            values = {"progress": json.dumps(progress), "errors": json.dumps(ERRORS if progress else [])}
            database.do(RUN, spider=spider, adapter_id=adapter_id, status=status, **values)
    _quarantine_price_jump(database)
    observations.store(database.engine, [observations.card("yen", 900, NOW, currency="JPY")])
    observations.store(database.engine, [observations.card("free", None, NOW)])
    same = [observations.offer(f"same{n}", 900 + n, NOW, brand="Acme", mpn="X-100") for n in range(2)]
    observations.store(database.engine, same)
    database.call(product_links.request_all, NOW)
    database.call(product_links.resolve, NOW)
    listing, product = (database.value(f"SELECT max(id) FROM {table}") for table in ("listings", "products"))
    for subject in ({"listing_id": listing}, {"product_id": product}, {"target_id": 1}):
        threshold = Money(500, "JPY")
        database.call(watch_rules.add, kind="price_at_or_below", threshold=threshold, now=NOW, **subject)
    alert = {"kind": "market_stale", "subject": "bazaar-bikes", "message": "Late", "severity": "P2"}
    database.call(alert_rows.raise_alert, **alert, now=NOW)
    return database


def _quarantine_price_jump(database: Database) -> None:
    writes: list[Write] = [jump_quarantine.quarantine_jumps, listing_upsert.upsert, history_append.append]
    for price, minutes in ((1_000, 0), (9_000, 1)):
        row = observations.offer("held", price, NOW + timedelta(minutes=minutes))
        with database.engine.connect() as connection:
            BatchWriter(writes, minutes + 1, "bazaar-bikes").store(connection, [WriteUnit([row])])


def test_every_page_renders(client: httpx.Client, full: Database) -> None:
    ids: dict[str, list[Any]] = {
        "adapter_id": ["bazaar", "generic", reader_id(SPIDERS[-1])],
        "listing_id": _ids(full, "listings"),
        "product_id": _ids(full, "products"),
        "quarantine_id": _ids(full, "quarantine"),
        "rule_id": _ids(full, "watch_rules"),
        "run_id": _ids(full, "runs"),
        "spider": list(SPIDERS),
    }
    assert all(ids.values())
    routes = [route for router in page_routers() for route in router.routes if isinstance(route, APIRoute)]
    pages = {route.path for route in routes if "GET" in (route.methods or ())} - NOT_PAGES
    assert len(pages) > 20
    for page in sorted(pages):
        name = re.search(r"{(\w+)(?::path)?}", page)
        for value in ids[name[1]] if name else [""]:
            path = re.sub(r"{[\w:]+}", quote(str(value)), page)
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert not re.search(r"\bNone\b(?!:|\.| yet)|Undefined", answer.text), path


def _ids(database: Database, table: str) -> list[int]:
    return [row.id for row in database.rows(f"SELECT id FROM {table} ORDER BY id DESC LIMIT 30")]


def test_pages_show_the_stored_details(client: httpx.Client, full: Database) -> None:
    run = visible_text(
        client, f"/runs/{full.value('''SELECT max(id) FROM runs WHERE progress ? 'start_pages' ''')}"
    )
    assert "/c/bikes 2 40 failed at page 3 page 3: http_error: 500 via proxy-7" in run
    assert "/c/toys 7 140 complete" in run
    assert "A page could not be read url: /c/bikes?page=3" in run
    sweep = visible_text(
        client, f"/runs/{full.value('''SELECT max(id) FROM runs WHERE progress ? 'cycle' ''')}"
    )
    assert "Cycle 140 cards seen" in sweep
    offer = full.value("SELECT id FROM quarantine WHERE status = 'pending' AND listing_id IS NOT NULL")
    assert "€90.00 stored €10.00" in visible_text(client, "/quarantine")
    assert "€90.00 stored: €10.00 +800%" in visible_text(client, f"/quarantine/{offer}")
    linked = full.row(
        "SELECT product_id, product_link ->> 'why' AS why FROM listings WHERE brand = 'Acme' LIMIT 1"
    )
    assert linked.why
    assert linked.why in visible_text(client, f"/products/{linked.product_id}")


def visible_text(client: httpx.Client, path: str) -> str:
    """The visible text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", client.get(path).text)).split())
