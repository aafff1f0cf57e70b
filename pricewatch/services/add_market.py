"""Add a market, by fields or by address. A source made for it is not fetched until a person approves it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError
from pricewatch.parsing.prices.typed_amount import typed_amount, typed_currency
from pricewatch.parsing.url import InvalidUrl, canonical_url, site_of
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.source_registry import new_market_rows, source_rows
from pricewatch.store.source_registry.source_rows import SourceRecord
from pricewatch.store.views.market_list import EDITABLE_FIELDS, SEARCH_FIELDS, check_fields

MARKET_ID = r"[a-z0-9][a-z0-9._-]{0,79}"
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class AddedMarket:
    source_id: str
    adapter_id: str
    is_approved: bool


def add(connection: Connection, values: Mapping[str, Any], source_id: str) -> AddedMarket:
    """Add a market of a known source, from columns of `markets`; raise `UserError` if one is wrong."""
    source = source_rows.load(connection).by_id.get(source_id)
    if source is None:
        raise UserError(f"There is no source {source_id!r}.")
    return _store(connection, source, values)


def add_by_address(
    connection: Connection,
    urls: Sequence[str],
    values: Mapping[str, Any],
    *,
    source_id: str | None = None,
    adapter_id: str | None = None,
) -> AddedMarket:
    """Add a market of the source at these addresses; create that source if there is none."""
    sites = {_site(url) for url in urls}
    if len(sites) != 1:
        raise UserError("A market belongs to one site. Give addresses of one site only.")
    source = _source(connection, sites.pop(), source_id, adapter_id)
    return _store(connection, source, {**values, "start_pages": urls})


def _store(connection: Connection, source: SourceRecord, values: Mapping[str, Any]) -> AddedMarket:
    market_id = str(values.get("id") or "")
    if not re.fullmatch(MARKET_ID, market_id):
        raise UserError(
            f"{market_id!r} is not a valid market id. Use a-z, 0-9, '.', '_' and '-'. Example: boston-bikes"
        )
    if new_market_rows.market_exists(connection, market_id):
        raise UserError(f"There is already a market {market_id!r}.")
    adapter = adapters.get(source.adapter_id)
    if not adapter.has_overview():
        raise UserError(
            f"The adapter {adapter.id!r} reads product pages only. Declare the overview pages of "
            f"{source.domain} in a file (`scrapy newadapter NAME {source.domain} --declarative`), "
            "or add single pages as targets."
        )
    fields = {
        name: values[name]
        for name in (*EDITABLE_FIELDS, *SEARCH_FIELDS)
        if values.get(name) not in (None, "")
    }
    fields |= _prices(values, adapter)
    check_fields(fields)
    site = source.base_url.rstrip("/")
    starts = [path for page in values.get("start_pages") or () if (path := _path(page, site))]
    parameters = values.get("parameters") or {}
    if not starts and not adapter.start_pages({**fields, **parameters}):
        raise UserError(
            f"Market {market_id} has no start page. Give the address of an overview page, "
            f"or the search parameters of the adapter {adapter.id!r}."
        )
    name = json_safe(str(fields.get("display_name") or "")).strip()
    fields["display_name"] = name[:LONGEST_NAME] or market_id
    row = {
        **{name: json_safe(value) if isinstance(value, str) else value for name, value in fields.items()},
        "id": market_id,
        "source_id": source.id,
        "start_pages": json_safe(starts),
        "parameters": json_safe(parameters),
        "exclude_keywords": json_safe(values.get("exclude_keywords") or []),
    }
    new_market_rows.insert_market(connection, row)
    return AddedMarket(source.id, source.adapter_id, source.is_approved)


def _prices(values: Mapping[str, Any], adapter: Adapter) -> dict[str, Any]:
    """Return the bounds of the price range that were typed as text, and their currency."""
    ends = ("min_price", "max_price")
    typed = {f"{end}_cents": str(values[end]) for end in ends if values.get(end) not in (None, "")}
    if not typed and all(values.get(f"{end}_cents") is None for end in ends):
        return {}
    chosen = str(values.get("price_currency") or "")
    currency = typed_currency(chosen) if chosen else adapter.currency
    if adapter.currency and currency != adapter.currency:
        raise UserError(f"The prices of {adapter.id!r} are in {adapter.currency}, not in {currency}.")
    if not currency:
        raise UserError("Give the currency of the price range. Example: EUR")
    prices = {name: typed_amount(text, currency).minor for name, text in typed.items()}
    return {**prices, "price_currency": currency}


def _path(page: str, site: str) -> str | None:
    """Return the path of a start page, or None for the root of the site."""
    if page.startswith("//") or not (page.startswith("/") or "://" in page):
        raise UserError(f"The start page {page[:80]!r} is not an address or a path. Example: /c/bikes")
    url = page if "://" in page else f"{site}{page}"
    if _site(url) != site:
        raise UserError(f"The start page {page[:80]!r} does not belong to {site}.")
    parts = urlsplit(url)
    if not parts.path.strip("/") and not parts.query:
        return None
    return urlunsplit(("", "", parts.path or "/", parts.query, ""))


def _site(url: str) -> str:
    try:
        canonical_url(url)
    except InvalidUrl:
        raise UserError(f"{url[:200]!r} is not a web address.") from None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _source(connection: Connection, site: str, source_id: str | None, adapter_id: str | None) -> SourceRecord:
    sources = source_rows.load(connection).by_id
    if source_id is None:
        known = next((record for record in sources.values() if record.base_url == site), None)
        source_id = known.id if known else site_of(site)
    source = sources.get(source_id)
    if source is None:
        chosen = {"adapter_id": adapters.get(adapter_id).id} if adapter_id else {}
        new_market_rows.insert_source(connection, source_rows.new_source(site, source_id) | chosen)
        return source_rows.load(connection).by_id[source_id]
    if adapter_id not in (None, source.adapter_id):
        raise UserError(
            f"The source {source_id!r} uses the adapter {source.adapter_id!r}. "
            "Give the new source a name of its own: --source NAME"
        )
    if source.base_url.rstrip("/") != site:
        raise UserError(f"The source {source_id!r} is {source.base_url}, not {site}.")
    return source
