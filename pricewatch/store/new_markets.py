"""A market that somebody adds, with its source where there is none yet: not fetched before it is approved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.orm import Session

from pricewatch import adapters
from pricewatch.errors import UserError
from pricewatch.parsing.url import InvalidUrl, canonical_url, registrable_domain
from pricewatch.store.models import Listing, Market, Source

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class NewMarket:
    """What a person says of a market; an address without a path names the site, a search the rest."""

    id: str
    urls: Sequence[str]
    adapter_id: str | None = None
    source_id: str | None = None
    display_name: str | None = None
    # What to search for, how often and how much.
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Added:
    source_id: str
    adapter_id: str
    is_approved: bool


def add(connection: Connection, new: NewMarket) -> Added:
    """Store it; raises `UserError` where it cannot be crawled as it is described."""
    if not _ID.fullmatch(new.id):
        raise UserError(f"{new.id!r} cannot be a market's id: use a-z, 0-9, '.', '_' and '-'.")
    site, starts = _places(new.urls)
    with Session(connection) as session:
        if session.get(Market, new.id) is not None:
            raise UserError(f"There is already a market {new.id!r}.")
        source = _source(session, new, site)
        adapter = adapters.get(source.adapter_id)
        if not adapter.has_overview():
            raise UserError(
                f"The adapter {adapter.id!r} reads product pages only: declare the overview pages of "
                f"{source.domain} in a file (`scrapy newadapter NAME {source.domain} --declarative`)."
            )
        if not starts and not adapter.start_pages(new.columns):
            raise UserError(
                f"Market {new.id} has nothing to begin with: give the address of an overview page, "
                f"or what the adapter {adapter.id!r} searches by."
            )
        session.add(
            Market(
                id=new.id,
                source_id=source.id,
                display_name=new.display_name or new.id,
                start_pages=starts,
                **new.columns,
            )
        )
        session.flush()
        return Added(source.id, source.adapter_id, source.tos_approved_by is not None)


def latest_listings(connection: Connection, market_id: str, most: int) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(
                Listing.identity_key,
                Listing.title,
                Listing.price_cents,
                Listing.currency,
                Listing.availability,
                Listing.active,
                Listing.canonical_url,
            )
            .where(Listing.market_id == market_id)
            .order_by(Listing.last_seen_at.desc(), Listing.id.desc())
            .limit(most)
        )
    )


def _places(urls: Sequence[str]) -> tuple[str, list[str]]:
    """The site that all addresses share, and the start pages among them, without it."""
    starts: list[str] = []
    sites: set[str] = set()
    for url in urls:
        try:
            canonical_url(url)
        except InvalidUrl as error:
            raise UserError(f"{url!r} is not the address of a web page: {error}.") from None
        parts = urlsplit(url)
        sites.add(f"{parts.scheme}://{parts.netloc.lower()}")
        if parts.path.strip("/") or parts.query:
            starts.append(urlunsplit(("", "", parts.path or "/", parts.query, "")))
    if len(sites) != 1:
        raise UserError("A market is a part of one site: give addresses of one site only.")
    return sites.pop(), starts


def _source(session: Session, new: NewMarket, site: str) -> Source:
    domain = registrable_domain(site)
    source_id = new.source_id
    if source_id is None:
        known = session.scalars(select(Source).where(Source.base_url == site)).first()
        source_id = known.id if known else domain
    source = session.get(Source, source_id)
    if source is None:
        adapter_id = adapters.get(new.adapter_id).id if new.adapter_id else adapters.for_domain(domain)
        session.execute(
            insert(Source).values(
                id=source_id, name=source_id, domain=domain, base_url=site, adapter_id=adapter_id
            )
        )
        return session.get_one(Source, source_id)
    if new.adapter_id not in (None, source.adapter_id):
        raise UserError(
            f"The source {source_id!r} is read by {source.adapter_id!r}: give the new one its own --source."
        )
    if source.base_url.rstrip("/") != site:
        raise UserError(f"The source {source_id!r} is {source.base_url}, not {site}.")
    return source
