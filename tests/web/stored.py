"""One of everything that the pages show; a test may use HTML as the text of every field."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.databases import Database
from tests.store import observations

RUN = """
INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at, status, reason, errors,
                  progress)
SELECT 'discovery', 'bazaar-bikes', 'bazaar', 'bazaar', now(), now(), 'finished', evil,
       jsonb_build_array(jsonb_build_object('error', evil)),
       jsonb_build_object('start_pages', jsonb_build_array(jsonb_build_object('start_page', evil)))
FROM (SELECT CAST(:evil AS text) AS evil) AS given RETURNING id
"""
REST = (
    """
INSERT INTO runs (spider, source_id, adapter_id, started_at, heartbeat_at, status)
VALUES (left(:evil, 100), 'bazaar', 'spider:' || left(:evil, 100), now(), now(), 'finished')
""",
    """
INSERT INTO adapter_status (adapter_id, source_id, note)
VALUES ('spider:' || left(:evil, 100), 'bazaar', :evil)
""",
    """
INSERT INTO run_pages (run_id, url, outcome, error, fetched_at)
SELECT id, :evil, 'unreadable', :evil, now() FROM runs
""",
    """
INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, reason, offer, details, observed_at)
SELECT 'bazaar', 'bazaar', '1', evil, 'AMBIGUOUS_PRICE', jsonb_build_object('title', evil),
       jsonb_build_object('why', evil, 'evidence', jsonb_build_array(evil)), now()
FROM (SELECT CAST(:evil AS text) AS evil) AS given
""",
    """
INSERT INTO alerts (key, kind, severity, subject, message, first_at, last_at)
VALUES ('x', 'market_stale', 'P2', :evil, :evil, now(), now())
""",
    "INSERT INTO products (key, title, brand) VALUES ('x', :evil, :evil)",
    "UPDATE listings SET product_id = (SELECT id FROM products) WHERE title = :evil",
    "INSERT INTO watch_rules (kind, listing_id) SELECT 'gone', id FROM listings WHERE title = :evil",
    """
INSERT INTO targets (source_id, adapter_id, url, canonical_url, notes)
VALUES ('bazaar', 'bazaar', 'https://bazaar.example/' || :evil, 'https://bazaar.example/' || :evil, :evil)
""",
    """
INSERT INTO proxy_blocks (domain, proxy, failed_at, blocked_until, last_error)
VALUES ('bazaar.example', :evil, now(), now() + interval '1 day', :evil)
""",
    """
INSERT INTO people (name, role, password_hash, created_at, created_by, password_changed_at)
VALUES ('eve', 'read', 'scrypt$2$8$1$00$00', now(), :evil, now())
""",
    """
INSERT INTO access_tokens (name, token_hash, role, created_at, created_by, last_used_from)
VALUES (:evil, 'x', 'read', now(), :evil, :evil)
""",
    """
INSERT INTO audit (at, person, address, action, subject, details)
SELECT now(), evil, evil, evil, evil, jsonb_build_object(evil, evil)
FROM (SELECT CAST(:evil AS text) AS evil) AS given
""",
)

# Forms about a login, which are on no page while no login is configured.
ACCOUNT_FORMS: dict[str, list[str]] = {
    "/login": ["username", "password", "next"],
    "/account/password": ["current", "password", "repeated"],
    "/account/sessions/end-others": [],
    "/account/sessions/1/end": [],
}


def store_one_of_each(database: Database, evil: str) -> int:
    """Store a listing, a run, an alert, a quarantined offer and so on; return the ID of the listing."""
    run = database.value(RUN, evil=evil)
    for price in (2000, 1500):
        row = observations.offer(
            1, price, datetime.now(UTC), title=evil, brand=evil, location=evil, attributes={evil: evil}
        )
        observations.store(database.engine, [row], run_id=run)
    for statement in REST:
        database.do(statement, evil=evil)
    return int(database.value("SELECT id FROM listings"))
