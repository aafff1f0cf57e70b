"""Ties listings to products: those that asked for it, a chunk at a time, with the same end every time.

What a listing is tied to depends on what all listings say now, and on nothing that was concluded before:
first those with a GTIN, then those with a part number, then those with words only. Whoever changes what
others depend on makes these ask again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, text, update

from pricewatch.rules.product_matching import Facts, Keys, Link, keys_of, link
from pricewatch.store.models import Listing, Source
from pricewatch.store.writing.batch import Batch

CHUNK = 500
# Whoever resolves is alone in doing so.
LOCK = 0x70726F64

# A step of a batch, after the upsert: what a product page told anew asks to be resolved.
_REQUEST = text("""
UPDATE listings l SET resolve_requested_at = i.observed_at
FROM incoming i
WHERE l.id = i.listing_id AND i.detail AND l.resolve_requested_at IS NULL
  AND (l.product_link -> 'given') IS DISTINCT FROM
      jsonb_build_object('gtin', l.gtin, 'brand', l.brand, 'mpn', l.mpn, 'title', l.title)
""")

_WAITING = text("""
SELECT l.id, l.title, l.brand, l.mpn, l.gtin, l.product_id, s.upc_trusted
FROM listings l JOIN sources s ON s.id = l.source_id
WHERE l.resolve_requested_at IS NOT NULL
ORDER BY l.id LIMIT :most FOR UPDATE OF l SKIP LOCKED
""")

_OLD_KEYS = text("SELECT brand_mpn, fingerprint FROM listing_keys WHERE listing_id = ANY(:ids)")

_SET_KEYS = text("""
INSERT INTO listing_keys (listing_id, gtin, brand_mpn, fingerprint, product_key)
SELECT * FROM json_to_recordset(CAST(:rows AS json))
    AS r(listing_id bigint, gtin text, brand_mpn text, fingerprint text, product_key text)
ON CONFLICT (listing_id) DO UPDATE SET gtin = excluded.gtin, brand_mpn = excluded.brand_mpn,
    fingerprint = excluded.fingerprint, product_key = excluded.product_key
""")

_GTINS = text("""
SELECT DISTINCT brand_mpn, gtin FROM listing_keys
WHERE brand_mpn = ANY(:keys) AND gtin IS NOT NULL ORDER BY 1, 2
""")
_PRODUCTS_OF_WORDS = text("""
SELECT DISTINCT fingerprint, product_key FROM listing_keys
WHERE fingerprint = ANY(:keys) AND product_key IS NOT NULL AND (gtin IS NOT NULL OR brand_mpn IS NOT NULL)
ORDER BY 1, 2
""")

_ASK_SAME_NUMBER = text("""
UPDATE listings l SET resolve_requested_at = :now FROM listing_keys k
WHERE k.brand_mpn = ANY(:keys) AND k.gtin IS NULL AND l.id = k.listing_id AND NOT l.id = ANY(:done)
""")
_ASK_SAME_WORDS = text("""
UPDATE listings l SET resolve_requested_at = :now FROM listing_keys k
WHERE k.fingerprint = ANY(:keys) AND k.gtin IS NULL AND k.brand_mpn IS NULL
  AND l.id = k.listing_id AND NOT l.id = ANY(:done)
""")

# A product whose listings all came to a stronger key keeps its number, and whoever watches it.
_RENAME = text("""
UPDATE products p SET key = r.key, gtin = coalesce(p.gtin, r.gtin), updated_at = :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(product_id bigint, key text, gtin text)
WHERE p.id = r.product_id AND NOT EXISTS (SELECT FROM products o WHERE o.key = r.key)
  AND NOT EXISTS (SELECT FROM listing_keys k WHERE k.product_key = p.key AND k.listing_id = ANY(:done))
  AND NOT EXISTS (SELECT FROM listings l WHERE l.product_id = p.id AND NOT l.id = ANY(:done))
""")
_MAKE = text("""
INSERT INTO products (key, title, brand, mpn, gtin, created_at, updated_at)
SELECT key, title, brand, mpn, gtin, :now, :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(key text, title text, brand text, mpn text, gtin text)
ON CONFLICT (key) DO NOTHING
""")
_TIE = text("""
UPDATE listings l SET product_id = p.id, product_link = r.link, resolve_requested_at = NULL
FROM json_to_recordset(CAST(:rows AS json)) AS r(id bigint, key text, link jsonb)
LEFT JOIN products p ON p.key = r.key
WHERE l.id = r.id
""")
_DROP_EMPTY = text("""
DELETE FROM products p WHERE p.id = ANY(:left)
  AND NOT EXISTS (SELECT FROM listings l WHERE l.product_id = p.id)
  AND NOT EXISTS (SELECT FROM watch_rules w WHERE w.product_id = p.id)
""")


@dataclass(slots=True)
class _Case:
    """One listing on its way to a product."""

    row: Any
    keys: Keys
    link: Link | None = None

    @property
    def key(self) -> str | None:
        return self.link.key if self.link else None

    def as_keys(self) -> dict[str, Any]:
        return {
            "listing_id": self.row.id,
            "gtin": self.keys.gtin,
            "brand_mpn": self.keys.brand_mpn,
            "fingerprint": self.keys.fingerprint,
            "product_key": self.key,
        }

    def explained(self) -> dict[str, Any]:
        row, found = self.row, self.link
        given = {"gtin": row.gtin, "brand": row.brand, "mpn": row.mpn, "title": row.title}
        if found is None:
            raise ValueError("it has not been tied yet")
        return {
            "by": found.by,
            "key": found.key,
            "why": found.why,
            "notes": list(self.keys.notes),
            "given": given,
        }


def request(connection: Connection, _batch: Batch) -> None:
    """Listings whose product page tells something else than before are resolved again."""
    connection.execute(_REQUEST)


def request_all(connection: Connection, now: datetime, source_id: str | None = None) -> int:
    """Every listing whose own page was read, or those of one source, are resolved anew."""
    query = update(Listing).where(Listing.last_scraped_at.is_not(None)).values(resolve_requested_at=now)
    if source_id is not None:
        query = query.where(Listing.source_id == source_id)
    return connection.execute(query).rowcount


def trust(connection: Connection, source_id: str, now: datetime, *, trusted: bool) -> int:
    """Whether a source's GTINs are taken for what they say; its listings are resolved anew."""
    changed = connection.execute(
        update(Source)
        .where(Source.id == source_id, Source.upc_trusted.is_not(trusted))
        .values(upc_trusted=trusted)
    ).rowcount
    return request_all(connection, now, source_id) if changed else 0


def waiting(connection: Connection) -> int:
    query = select(func.count()).select_from(Listing).where(Listing.resolve_requested_at.is_not(None))
    return connection.execute(query).scalar_one()


def resolve(connection: Connection, now: datetime, most: int = CHUNK) -> int:
    """Resolve up to so many listings that asked for it; says how many that were."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    rows = connection.execute(_WAITING, {"most": most}).all()
    if not rows:
        return 0
    cases = [
        _Case(row, keys_of(Facts(row.title, row.brand, row.mpn, row.gtin, row.upc_trusted))) for row in rows
    ]
    ids = [row.id for row in rows]
    old = connection.execute(_OLD_KEYS, {"ids": ids}).all()
    numbers = {pair for pair, _ in old if pair} | {one.keys.brand_mpn for one in cases if one.keys.brand_mpn}
    words = {some for _, some in old if some} | {
        one.keys.fingerprint for one in cases if one.keys.fingerprint
    }
    gtins_before = _sets(connection, _GTINS, numbers)
    products_before = _sets(connection, _PRODUCTS_OF_WORDS, words)

    for one in cases:
        one.link = link(one.keys) if one.keys.gtin else None
    _set_keys(connection, cases)
    gtins = _sets(connection, _GTINS, numbers)
    _tie_some(connection, cases, lambda keys: keys.is_strong, lambda keys: link(keys, gtins[keys.brand_mpn]))
    products = _sets(connection, _PRODUCTS_OF_WORDS, words)
    _tie_some(connection, cases, lambda _: True, lambda keys: link(keys, (), products[keys.fingerprint]))

    _write(connection, cases, now)
    for ask, before, after in (
        (_ASK_SAME_NUMBER, gtins_before, gtins),
        (_ASK_SAME_WORDS, products_before, products),
    ):
        changed = [key for key in {*before, *after} if key and before[key] != after[key]]
        if changed:
            connection.execute(ask, {"keys": changed, "done": ids, "now": now})
    return len(rows)


def _tie_some(
    connection: Connection,
    cases: list[_Case],
    are_meant: Callable[[Keys], bool],
    tie: Callable[[Keys], Link],
) -> None:
    some = [one for one in cases if one.link is None and are_meant(one.keys)]
    for one in some:
        one.link = tie(one.keys)
    _set_keys(connection, some)


def _set_keys(connection: Connection, cases: list[_Case]) -> None:
    if cases:
        connection.execute(_SET_KEYS, {"rows": json.dumps([one.as_keys() for one in cases])})


def _sets(connection: Connection, query: Any, keys: Iterable[str]) -> defaultdict[str | None, list[str]]:
    found: defaultdict[str | None, list[str]] = defaultdict(list)
    for key, value in connection.execute(query, {"keys": sorted(keys)}):
        found[key].append(value)
    return found


def _write(connection: Connection, cases: list[_Case], now: datetime) -> None:
    """Make the products that are not there yet, tie the listings to them, and drop what nobody is tied to."""
    wanted = {one.key: one.row for one in reversed(cases) if one.key}
    # One new name for a product, and one product for a name.
    names = {row.product_id: key for key, row in wanted.items() if row.product_id}
    if names:
        rows = [{"product_id": number, "key": key, "gtin": _gtin(key)} for number, key in names.items()]
        given = {"rows": json.dumps(rows), "now": now, "done": [one.row.id for one in cases]}
        connection.execute(_RENAME, given)
    made = [
        {"key": key, "title": row.title, "brand": row.brand, "mpn": row.mpn, "gtin": _gtin(key)}
        for key, row in wanted.items()
    ]
    if made:
        connection.execute(_MAKE, {"rows": json.dumps(made), "now": now})
    ties = [{"id": one.row.id, "key": one.key, "link": one.explained()} for one in cases]
    connection.execute(_TIE, {"rows": json.dumps(ties)})
    left = sorted({one.row.product_id for one in cases if one.row.product_id})
    if left:
        connection.execute(_DROP_EMPTY, {"left": left})


def _gtin(product_key: str) -> str | None:
    return product_key.removeprefix("gtin:") if product_key.startswith("gtin:") else None
