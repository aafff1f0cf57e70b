"""Adding a market, by fields or by address; a source that it makes is not fetched before it is approved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import Connection, insert, select
from sqlalchemy.orm import Session

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.errors import UserError
from pricewatch.parsing.prices.typed_amount import typed_amount, typed_currency
from pricewatch.parsing.url import InvalidUrl, canonical_url, site_of
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Market, Source
from pricewatch.store.views.market_list import CHANGEABLE, SEARCH, check_values
from pricewatch.store.writing import source_rows

MARKET_ID = r"[a-z0-9][a-z0-9._-]{0,79}"
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class AddedMarket:
    source_id: str
    adapter_id: str
    is_approved: bool


def add(connection: Connection, values: Mapping[str, Any], source_id: str) -> AddedMarket:
    """A market of a known source, from columns of `markets`; says in a sentence what is wrong with it."""
    with Session(connection) as session:
        source = session.get(Source, source_id)
        if source is None:
            raise UserError(f"There is no source {source_id!r}.")
        return _store(session, source, values)


def add_by_address(
    connection: Connection,
    urls: Sequence[str],
    values: Mapping[str, Any],
    *,
    source_id: str | None = None,
    adapter_id: str | None = None,
) -> AddedMarket:
    """The same, of the source at these addresses, which is made where there is none yet."""
    sites = {_site(url) for url in urls}
    if len(sites) != 1:
        raise UserError("A market is a part of one site: give addresses of one site only.")
    with Session(connection) as session:
        source = _source(session, sites.pop(), source_id, adapter_id)
        return _store(session, source, {**values, "start_pages": urls})


def _store(session: Session, source: Source, values: Mapping[str, Any]) -> AddedMarket:
    market_id = str(values.get("id") or "")
    if not re.fullmatch(MARKET_ID, market_id):
        raise UserError(
            f"{market_id!r} cannot be a market's id: use a-z, 0-9, '.', '_' and '-', such as boston-bikes."
        )
    if session.get(Market, market_id) is not None:
        raise UserError(f"There is already a market {market_id!r}.")
    adapter = adapters.get(source.adapter_id)
    if not adapter.has_overview():
        raise UserError(
            f"The adapter {adapter.id!r} reads product pages only: declare the overview pages of "
            f"{source.domain} in a file (`scrapy newadapter NAME {source.domain} --declarative`), "
            "or add single pages as targets."
        )
    given = {name: values[name] for name in (*CHANGEABLE, *SEARCH) if values.get(name) not in (None, "")}
    given |= _prices(values, adapter)
    check_values(given)
    site = source.base_url.rstrip("/")
    starts = [path for page in values.get("start_pages") or () if (path := _path(page, site))]
    parameters = values.get("parameters") or {}
    if not starts and not adapter.start_pages({**given, **parameters}):
        raise UserError(
            f"Market {market_id} has nothing to begin with: give the address of an overview page, "
            f"or what the adapter {adapter.id!r} searches by."
        )
    name = json_safe(str(given.get("display_name") or "")).strip()
    given["display_name"] = name[:LONGEST_NAME] or market_id
    session.add(
        Market(
            id=market_id,
            source_id=source.id,
            start_pages=json_safe(starts),
            parameters=json_safe(parameters),
            exclude_keywords=json_safe(values.get("exclude_keywords") or []),
            **{name: json_safe(value) if isinstance(value, str) else value for name, value in given.items()},
        )
    )
    session.flush()
    return AddedMarket(source.id, source.adapter_id, source.tos_approved_by is not None)


def _prices(values: Mapping[str, Any], adapter: Adapter) -> dict[str, Any]:
    """The ends of the price range that are given as text, and the currency of both."""
    ends = ("min_price", "max_price")
    typed = {f"{end}_cents": str(values[end]) for end in ends if values.get(end) not in (None, "")}
    if not typed and all(values.get(f"{end}_cents") is None for end in ends):
        return {}
    own, given = adapter.currency, str(values.get("price_currency") or "")
    currency = typed_currency(given) if given else own
    if own and currency != own:
        raise UserError(f"The prices of {adapter.id!r} are in {own}, not in {currency}.")
    if not currency:
        raise UserError("Say the currency of the lowest and the highest price, such as EUR.")
    prices = {name: typed_amount(text, currency).minor for name, text in typed.items()}
    return {**prices, "price_currency": currency}


def _path(page: str, site: str) -> str | None:
    """A start page without its site; None where the address names no more than the site."""
    if page.startswith("//") or not (page.startswith("/") or "://" in page):
        raise UserError(f"The start page {page[:80]!r} must be an address, or a path such as /c/bikes.")
    url = page if "://" in page else f"{site}{page}"
    if _site(url) != site:
        raise UserError(f"The start page {page[:80]!r} is not a part of {site}.")
    parts = urlsplit(url)
    if not parts.path.strip("/") and not parts.query:
        return None
    return urlunsplit(("", "", parts.path or "/", parts.query, ""))


def _site(url: str) -> str:
    try:
        canonical_url(url)
    except InvalidUrl:
        raise UserError(f"{url[:200]!r} is not the address of a web page.") from None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _source(session: Session, site: str, source_id: str | None, adapter_id: str | None) -> Source:
    if source_id is None:
        known = session.scalars(select(Source).where(Source.base_url == site)).first()
        source_id = known.id if known else site_of(site)
    source = session.get(Source, source_id)
    if source is None:
        chosen = {"adapter_id": adapters.get(adapter_id).id} if adapter_id else {}
        session.execute(insert(Source).values(source_rows.new_source(site, source_id) | chosen))
        return session.get_one(Source, source_id)
    if adapter_id not in (None, source.adapter_id):
        raise UserError(
            f"The source {source_id!r} is read by {source.adapter_id!r}: give the new one its own --source."
        )
    if source.base_url.rstrip("/") != site:
        raise UserError(f"The source {source_id!r} is {source.base_url}, not {site}.")
    return source
