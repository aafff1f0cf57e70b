"""Link listings to products, in chunks of listings that are pending.

The result depends only on the current data of all listings, not on earlier links: first listings with a GTIN
are linked, then those with a part number, then those with a title only. When a change affects the links of
other listings, these become pending too.
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

CHUNK_SIZE = 500
# Only one process resolves at a time.
LOCK = 0x70726F64

# A step of a batch, after the upsert.
_REQUEST = text("""
UPDATE listings l SET resolve_requested_at = i.observed_at
FROM incoming i
WHERE l.id = i.listing_id AND i.detail AND l.resolve_requested_at IS NULL
  AND (l.product_link -> 'given') IS DISTINCT FROM
      jsonb_build_object('gtin', l.gtin, 'brand', l.brand, 'mpn', l.mpn, 'title', l.title)
""")

_PENDING = text("""
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
_PRODUCTS_OF_FINGERPRINTS = text("""
SELECT DISTINCT fingerprint, product_key FROM listing_keys
WHERE fingerprint = ANY(:keys) AND product_key IS NOT NULL AND (gtin IS NOT NULL OR brand_mpn IS NOT NULL)
ORDER BY 1, 2
""")

_REQUEST_SAME_PART_NUMBER = text("""
UPDATE listings l SET resolve_requested_at = :now FROM listing_keys k
WHERE k.brand_mpn = ANY(:keys) AND k.gtin IS NULL AND l.id = k.listing_id AND NOT l.id = ANY(:done)
""")
_REQUEST_SAME_FINGERPRINT = text("""
UPDATE listings l SET resolve_requested_at = :now FROM listing_keys k
WHERE k.fingerprint = ANY(:keys) AND k.gtin IS NULL AND k.brand_mpn IS NULL
  AND l.id = k.listing_id AND NOT l.id = ANY(:done)
""")

# A product whose listings all have a stronger key now keeps its id, and so the watch rules for it.
_RENAME = text("""
UPDATE products p SET key = r.key, gtin = coalesce(p.gtin, r.gtin), updated_at = :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(product_id bigint, key text, gtin text)
WHERE p.id = r.product_id AND NOT EXISTS (SELECT FROM products o WHERE o.key = r.key)
  AND NOT EXISTS (SELECT FROM listing_keys k WHERE k.product_key = p.key AND k.listing_id = ANY(:done))
  AND NOT EXISTS (SELECT FROM listings l WHERE l.product_id = p.id AND NOT l.id = ANY(:done))
""")
_INSERT_PRODUCTS = text("""
INSERT INTO products (key, title, brand, mpn, gtin, created_at, updated_at)
SELECT key, title, brand, mpn, gtin, :now, :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(key text, title text, brand text, mpn text, gtin text)
ON CONFLICT (key) DO NOTHING
""")
_LINK = text("""
UPDATE listings l SET product_id = p.id, product_link = r.link, resolve_requested_at = NULL
FROM json_to_recordset(CAST(:rows AS json)) AS r(id bigint, key text, link jsonb)
LEFT JOIN products p ON p.key = r.key
WHERE l.id = r.id
""")
_DELETE_UNUSED = text("""
DELETE FROM products p WHERE p.id = ANY(:left)
  AND NOT EXISTS (SELECT FROM listings l WHERE l.product_id = p.id)
  AND NOT EXISTS (SELECT FROM watch_rules w WHERE w.product_id = p.id)
""")


@dataclass(slots=True)
class _Case:
    """A listing and the product that is found for it."""

    row: Any
    keys: Keys
    link: Link | None = None

    @property
    def key(self) -> str | None:
        return self.link.key if self.link else None

    def keys_row(self) -> dict[str, Any]:
        return {
            "listing_id": self.row.id,
            "gtin": self.keys.gtin,
            "brand_mpn": self.keys.brand_mpn,
            "fingerprint": self.keys.fingerprint,
            "product_key": self.key,
        }

    def explanation(self) -> dict[str, Any]:
        row, found = self.row, self.link
        given = {"gtin": row.gtin, "brand": row.brand, "mpn": row.mpn, "title": row.title}
        if found is None:
            raise ValueError("the listing has no link yet")
        return {
            "by": found.by,
            "key": found.key,
            "why": found.why,
            "notes": list(self.keys.notes),
            "given": given,
        }


def request_changed(connection: Connection, _batch: Batch) -> None:
    """Request resolving of listings whose product page has changed."""
    connection.execute(_REQUEST)


def request_all(connection: Connection, now: datetime, source_id: str | None = None) -> int:
    """Request resolving of all listings whose product page was read, or of those of one source."""
    query = update(Listing).where(Listing.last_scraped_at.is_not(None)).values(resolve_requested_at=now)
    if source_id is not None:
        query = query.where(Listing.source_id == source_id)
    return connection.execute(query).rowcount


def set_gtin_trust(connection: Connection, source_id: str, now: datetime, *, trusted: bool) -> int:
    """Set whether the GTINs of a source are trusted; if that changes, request resolving of its listings."""
    changed = connection.execute(
        update(Source)
        .where(Source.id == source_id, Source.upc_trusted.is_not(trusted))
        .values(upc_trusted=trusted)
    ).rowcount
    return request_all(connection, now, source_id) if changed else 0


def count_pending(connection: Connection) -> int:
    query = select(func.count()).select_from(Listing).where(Listing.resolve_requested_at.is_not(None))
    return connection.execute(query).scalar_one()


def resolve(connection: Connection, now: datetime, most: int = CHUNK_SIZE) -> int:
    """Resolve up to `most` pending listings; return how many were resolved."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    rows = connection.execute(_PENDING, {"most": most}).all()
    if not rows:
        return 0
    cases = [
        _Case(row, keys_of(Facts(row.title, row.brand, row.mpn, row.gtin, row.upc_trusted))) for row in rows
    ]
    ids = [row.id for row in rows]
    old = connection.execute(_OLD_KEYS, {"ids": ids}).all()
    part_numbers = {number for number, _ in old} | {case.keys.brand_mpn for case in cases}
    fingerprints = {fingerprint for _, fingerprint in old} | {case.keys.fingerprint for case in cases}
    gtins_before = _values_by_key(connection, _GTINS, part_numbers)
    products_before = _values_by_key(connection, _PRODUCTS_OF_FINGERPRINTS, fingerprints)

    for case in cases:
        case.link = link(case.keys) if case.keys.gtin else None
    _set_keys(connection, cases)
    gtins = _values_by_key(connection, _GTINS, part_numbers)
    _link_remaining(
        connection, cases, lambda keys: keys.is_strong, lambda keys: link(keys, gtins[keys.brand_mpn])
    )
    products = _values_by_key(connection, _PRODUCTS_OF_FINGERPRINTS, fingerprints)
    _link_remaining(
        connection, cases, lambda _: True, lambda keys: link(keys, (), products[keys.fingerprint])
    )

    _write(connection, cases, now)
    for request_others, before, after in (
        (_REQUEST_SAME_PART_NUMBER, gtins_before, gtins),
        (_REQUEST_SAME_FINGERPRINT, products_before, products),
    ):
        changed = [key for key in {*before, *after} if key and before[key] != after[key]]
        if changed:
            connection.execute(request_others, {"keys": changed, "done": ids, "now": now})
    return len(rows)


def _link_remaining(
    connection: Connection,
    cases: list[_Case],
    applies_to: Callable[[Keys], bool],
    find_link: Callable[[Keys], Link],
) -> None:
    remaining = [case for case in cases if case.link is None and applies_to(case.keys)]
    for case in remaining:
        case.link = find_link(case.keys)
    _set_keys(connection, remaining)


def _set_keys(connection: Connection, cases: list[_Case]) -> None:
    if cases:
        connection.execute(_SET_KEYS, {"rows": json.dumps([case.keys_row() for case in cases])})


def _values_by_key(
    connection: Connection, query: Any, keys: Iterable[str | None]
) -> defaultdict[str | None, list[str]]:
    found: defaultdict[str | None, list[str]] = defaultdict(list)
    for key, value in connection.execute(query, {"keys": sorted(filter(None, keys))}):
        found[key].append(value)
    return found


def _write(connection: Connection, cases: list[_Case], now: datetime) -> None:
    """Insert missing products, link the listings to them, and delete products without listings."""
    rows_by_key = {case.key: case.row for case in reversed(cases) if case.key}
    # At most one new key per product, and one product per key.
    new_keys = {row.product_id: key for key, row in rows_by_key.items() if row.product_id}
    if new_keys:
        renamed = [
            {"product_id": product_id, "key": key, "gtin": _gtin(key)} for product_id, key in new_keys.items()
        ]
        done = [case.row.id for case in cases]
        connection.execute(_RENAME, {"rows": json.dumps(renamed), "now": now, "done": done})
    products = [
        {"key": key, "title": row.title, "brand": row.brand, "mpn": row.mpn, "gtin": _gtin(key)}
        for key, row in rows_by_key.items()
    ]
    if products:
        connection.execute(_INSERT_PRODUCTS, {"rows": json.dumps(products), "now": now})
    links = [{"id": case.row.id, "key": case.key, "link": case.explanation()} for case in cases]
    connection.execute(_LINK, {"rows": json.dumps(links)})
    left = sorted({case.row.product_id for case in cases if case.row.product_id})
    if left:
        connection.execute(_DELETE_UNUSED, {"left": left})


def _gtin(product_key: str) -> str | None:
    return product_key.removeprefix("gtin:") if product_key.startswith("gtin:") else None
