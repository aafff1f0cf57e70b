"""Ties listings to products: those that asked for it, a chunk at a time, with the same end every time."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, text, update

from pricewatch.rules.resolver import Facts, Keys, Known, Link, LinkedBy, keys_of, link
from pricewatch.store.models import Listing, Product, Source

CHUNK = 500
# Whoever resolves is alone in doing so: two would make the same product twice.
LOCK = 0x70726F64

_GIVEN = "jsonb_build_object('gtin', l.gtin, 'brand', l.brand, 'mpn', l.mpn, 'title', l.title)"

# A step of a batch, after the upsert: what a product page told anew asks to be resolved.
_REQUEST = text(f"""
UPDATE listings l SET resolve_requested_at = i.observed_at
FROM incoming i
WHERE l.id = i.listing_id AND i.detail AND l.resolve_requested_at IS NULL
  AND (l.product_link -> 'given') IS DISTINCT FROM {_GIVEN}
""")

_WAITING = text("""
SELECT l.id, l.title, l.brand, l.mpn, l.gtin, l.product_id, s.upc_trusted
FROM listings l JOIN sources s ON s.id = l.source_id
WHERE l.resolve_requested_at IS NOT NULL
ORDER BY l.id LIMIT :most FOR UPDATE OF l SKIP LOCKED
""")

_PRODUCTS = text("""
SELECT id, gtin, brand_key, mpn_key, fingerprint FROM products WHERE gtin = ANY(:gtins)
UNION
SELECT p.id, gtin, brand_key, mpn_key, fingerprint
FROM products p JOIN unnest(CAST(:brands AS text[]), CAST(:mpns AS text[])) AS k(brand, mpn)
  ON p.brand_key = k.brand AND p.mpn_key = k.mpn
UNION
SELECT id, gtin, brand_key, mpn_key, fingerprint FROM products WHERE fingerprint = ANY(:fingerprints)
ORDER BY id
""")

_TIE = text("""
UPDATE listings l SET product_id = r.product_id, product_link = r.link, resolve_requested_at = NULL
FROM json_to_recordset(CAST(:rows AS json)) AS r(id bigint, product_id bigint, link jsonb)
WHERE l.id = r.id
""")

# They were tied by a key that now fits more than one product, or a product with a stronger one.
_ASK_AGAIN = text("""
UPDATE listings SET resolve_requested_at = :now
WHERE product_id = ANY(:products) AND resolve_requested_at IS NULL AND NOT id = ANY(:done)
""")

_DROP_EMPTY = text("""
DELETE FROM products p WHERE p.id = ANY(:left)
  AND NOT EXISTS (SELECT FROM listings l WHERE l.product_id = p.id)
  AND NOT EXISTS (SELECT FROM watch_rules w WHERE w.product_id = p.id)
""")


@dataclass(slots=True)
class Products:
    """The products that a chunk may be tied to, by each of their keys; grows as new ones are made."""

    by_gtin: dict[str, Known] = field(default_factory=dict)
    by_brand_mpn: defaultdict[tuple[str, str], list[Known]] = field(default_factory=lambda: defaultdict(list))
    by_fingerprint: defaultdict[str, list[Known]] = field(default_factory=lambda: defaultdict(list))

    def add(self, product: Known) -> None:
        if product.gtin:
            self.by_gtin[product.gtin] = product
        for key, shelf in (
            (product.brand_mpn, self.by_brand_mpn),
            (product.fingerprint, self.by_fingerprint),
        ):
            if key and product not in shelf[key]:  # type: ignore[index]
                shelf[key].append(product)  # type: ignore[index]

    def alike(self, product: Known) -> list[int]:
        """Others that share a weaker key with it."""
        found = [
            *(self.by_brand_mpn[product.brand_mpn] if product.brand_mpn else ()),
            *(self.by_fingerprint[product.fingerprint] if product.fingerprint else ()),
        ]
        return [other.id for other in found if other.id != product.id]


def request(connection: Connection, _run_id: int, _market_id: str | None) -> None:
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


def resolve(connection: Connection, now: datetime, most: int = CHUNK) -> int:
    """Resolve up to so many listings that asked for it; says how many that were."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    rows = connection.execute(_WAITING, {"most": most}).all()
    if not rows:
        return 0
    facts = {row.id: Facts(row.title, row.brand, row.mpn, row.gtin, row.upc_trusted) for row in rows}
    keys = {listing_id: keys_of(one) for listing_id, one in facts.items()}
    products = _load(connection, list(keys.values()))
    ties: list[dict[str, Any]] = []
    left: set[int] = set()
    stirred: set[int] = set()
    for row in rows:
        found = link(keys[row.id], products.by_gtin, products.by_brand_mpn, products.by_fingerprint)
        product_id = _product(connection, row, found, keys[row.id], products, now, stirred)
        if row.product_id is not None and row.product_id != product_id:
            left.add(row.product_id)
        ties.append({"id": row.id, "product_id": product_id, "link": _explained(row, found)})
    connection.execute(_TIE, {"rows": json.dumps(ties)})
    if stirred:
        given = {"products": sorted(stirred), "done": [row.id for row in rows], "now": now}
        connection.execute(_ASK_AGAIN, given)
    if left:
        connection.execute(_DROP_EMPTY, {"left": sorted(left)})
    return len(rows)


def _load(connection: Connection, keys: list[Keys]) -> Products:
    pairs = sorted({one.brand_mpn for one in keys if one.brand_mpn})
    given = {
        "gtins": [one.gtin for one in keys if one.gtin],
        "brands": [brand for brand, _ in pairs],
        "mpns": [mpn for _, mpn in pairs],
        "fingerprints": [one.fingerprint for one in keys if one.fingerprint],
    }
    products = Products()
    for row in connection.execute(_PRODUCTS, given):
        pair = (row.brand_key, row.mpn_key) if row.brand_key and row.mpn_key else None
        products.add(Known(row.id, row.gtin, pair, row.fingerprint))
    return products


def _product(
    connection: Connection,
    row: Any,
    found: Link,
    keys: Keys,
    products: Products,
    now: datetime,
    stirred: set[int],
) -> int | None:
    """The product that the link names, with what this listing adds to it, or a new one."""
    if found.by is LinkedBy.NOTHING:
        return None
    known = found.product
    if known is None:
        made = {
            "title": row.title,
            "brand": row.brand,
            "mpn": row.mpn if keys.brand_mpn else None,
            "gtin": keys.gtin,
            "brand_key": keys.brand,
            "mpn_key": keys.mpn if keys.brand_mpn else None,
            "fingerprint": keys.fingerprint,
            "created_at": now,
            "updated_at": now,
        }
        product_id = connection.execute(insert(Product).values(made).returning(Product.id)).scalar_one()
        known = Known(product_id, keys.gtin, keys.brand_mpn, keys.fingerprint)
    else:
        added: dict[str, Any] = {}
        if keys.gtin and known.gtin is None:
            known.gtin = added["gtin"] = keys.gtin
        if keys.brand_mpn and known.brand_mpn is None:
            known.brand_mpn = keys.brand_mpn
            added |= {"brand_key": keys.brand, "mpn_key": keys.mpn, "brand": row.brand, "mpn": row.mpn}
        if keys.fingerprint and known.fingerprint is None:
            known.fingerprint = added["fingerprint"] = keys.fingerprint
        if not added:
            return known.id
        connection.execute(update(Product).where(Product.id == known.id).values(**added, updated_at=now))
    products.add(known)
    stirred.update(products.alike(known))
    return known.id


def _explained(row: Any, found: Link) -> dict[str, Any]:
    return {
        "by": found.by,
        "key": found.key,
        "why": found.why,
        "notes": list(found.notes),
        "given": {"gtin": row.gtin, "brand": row.brand, "mpn": row.mpn, "title": row.title},
    }


def waiting(connection: Connection) -> int:
    query = select(Listing.id).where(Listing.resolve_requested_at.is_not(None))
    return len(connection.execute(query).all())
