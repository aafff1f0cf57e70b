"""Markets as people steer them: listed, added, changed."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, text, update

from pricewatch import adapters
from pricewatch.errors import UserError
from pricewatch.items import Tier
from pricewatch.rules.staleness import no_fresh_data
from pricewatch.store.models import Market, Source
from pricewatch.store.plain import plain

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
CHANGEABLE = (
    "display_name",
    "tier",
    "enabled",
    "scrape_frequency_hours",
    "max_listings_per_scrape",
    "max_pages",
)
SEARCH = ("city", "state", "keyword", "category", "min_price_cents", "max_price_cents")

_LIST = text("""
SELECT m.*, s.name AS source_name, s.adapter_id, s.domain, s.tos_approved_by, s.visibility,
       r.id AS running_id, r.spider AS running_spider
FROM markets m JOIN sources s ON s.id = m.source_id
LEFT JOIN LATERAL (
    SELECT id, spider FROM runs WHERE status = 'running' AND market_id = m.id ORDER BY id DESC LIMIT 1
) r ON true
WHERE (CAST(:id AS text) IS NULL OR m.id = :id)
ORDER BY m.enabled DESC, m.source_id, m.display_name
""")


def markets(connection: Connection) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(_LIST, {"id": None}).mappings()]


def market(connection: Connection, market_id: str) -> dict[str, Any] | None:
    row = connection.execute(_LIST, {"id": market_id}).mappings().first()
    return dict(row) if row else None


def names(connection: Connection) -> list[tuple[str, str]]:
    """Id and name of every market, for people to choose from."""
    rows = connection.execute(select(Market.id, Market.display_name).order_by(Market.display_name))
    return [(row.id, row.display_name) for row in rows]


def add(connection: Connection, values: dict[str, Any]) -> str:
    """A new market of a known source; says in a sentence what is wrong with it."""
    market_id = str(values.get("id") or "").strip()
    if not _ID.fullmatch(market_id):
        raise UserError("A market's id is made of small letters, digits and hyphens, such as boston-bikes.")
    source = connection.execute(
        select(Source.adapter_id).where(Source.id == values.get("source_id"))
    ).scalar()
    if source is None:
        raise UserError(f"There is no source {values.get('source_id')!r}.")
    adapter = adapters.get(source)
    if not adapter.has_overview():
        raise UserError(f"The adapter {source} reads single product pages only: add its URLs as targets.")
    search = {name: values[name] for name in SEARCH if values.get(name) not in (None, "")}
    starts = [str(page) for page in values.get("start_pages") or []]
    for page in starts:
        if not page.startswith("/") or page.startswith("//"):
            raise UserError(f"The start page {page[:80]!r} must be a path of the site, such as /c/bikes.")
    if not starts and not adapter.start_pages({**search, **(values.get("parameters") or {})}):
        raise UserError("Say what to look for: at least one start page, or a search that the site knows.")
    _check(values)
    given = {
        "id": market_id,
        "source_id": values["source_id"],
        "display_name": str(values.get("display_name") or market_id).strip()[:200],
        "start_pages": starts,
        "parameters": values.get("parameters") or {},
        "exclude_keywords": values.get("exclude_keywords") or [],
        **search,
        **{name: values[name] for name in CHANGEABLE[1:] if values.get(name) is not None},
    }
    taken = connection.execute(select(Market.id).where(Market.id == market_id)).scalar()
    if taken is not None:
        raise UserError(f"There is a market {market_id!r} already.")
    connection.execute(insert(Market).values({name: _storable(value) for name, value in given.items()}))
    return market_id


def change(connection: Connection, market_id: str, values: dict[str, Any]) -> bool:
    """Tier, switch, name and limits; False where there is no such market."""
    _check(values)
    given = {name: _storable(values[name]) for name in CHANGEABLE if name in values}
    if values.get("enabled") is True:
        # A person who switches it on wants to see it tried.
        given["consecutive_failures"] = 0
    if not given:
        return connection.execute(select(Market.id).where(Market.id == market_id)).scalar() is not None
    return connection.execute(update(Market).where(Market.id == market_id).values(given)).rowcount == 1


def is_stale(row: dict[str, Any], now: datetime) -> bool:
    """Whether a market that is switched on has had no fresh data for too long."""
    if not row["enabled"] or row["tos_approved_by"] is None:
        return False
    since = max(row["created_at"], row["updated_at"])
    return no_fresh_data(row["tier"], row["scrape_frequency_hours"], row["last_scrape_at"], since, now)


def _check(values: dict[str, Any]) -> None:
    if (tier := values.get("tier")) is not None and tier not in set(Tier):
        raise UserError(f"There is no tier {tier!r}; there are hot, standard and cool.")
    for name in ("scrape_frequency_hours", "max_listings_per_scrape", "max_pages"):
        value = values.get(name)
        if value is not None and not 1 <= value <= 100_000:
            raise UserError(f"{name} must be between 1 and 100000.")
    lowest, highest = values.get("min_price_cents"), values.get("max_price_cents")
    if lowest is not None and highest is not None and lowest > highest:
        raise UserError("The lowest price is above the highest one.")


def _storable(value: Any) -> Any:
    return plain(value) if isinstance(value, (str, dict, list)) else value
