"""Reports of stored runs and listings, for commands that compare them with expected values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, select, update

from pricewatch.store.models import Listing, MarketListing, PriceHistory, Quarantined, Run, Source


@dataclass(frozen=True, slots=True)
class RunReport:
    id: int
    spider: str
    status: str
    reason: str | None
    seconds: float
    pages: int
    cards: int
    new_listings: int
    updated_listings: int
    price_rows: int
    details: int
    quarantined: int
    gone: int


class StoredListing(NamedTuple):
    price_cents: int | None
    currency: str | None
    availability: str
    active: bool
    history_rows: int
    times_seen: int


def set_base_url(connection: Connection, source_id: str, base_url: str) -> None:
    """Set the base URL of a source: the sample marketplace gets a new address at every start."""
    connection.execute(update(Source).where(Source.id == source_id).values(base_url=base_url))


def last_run(connection: Connection, spider: str) -> RunReport | None:
    run = connection.execute(select(Run).where(Run.spider == spider).order_by(Run.id.desc()).limit(1)).first()
    if run is None:
        return None
    return RunReport(
        id=run.id,
        spider=run.spider,
        status=run.status,
        reason=run.reason,
        seconds=((run.finished_at or run.heartbeat_at) - run.started_at).total_seconds(),
        pages=run.pages,
        cards=run.cards,
        new_listings=run.new_listings,
        updated_listings=run.updated_listings,
        price_rows=run.price_rows,
        details=run.details,
        quarantined=run.offers_quarantined,
        gone=run.gone,
    )


def stored_listings(connection: Connection, market_id: str) -> dict[str, StoredListing]:
    """Return a market's listings by canonical URL."""
    history_rows = (
        select(func.count())
        .select_from(PriceHistory)
        .where(PriceHistory.listing_id == Listing.id)
        .correlate(Listing)
        .scalar_subquery()
    )
    result = connection.execute(
        select(
            Listing.canonical_url,
            Listing.price_cents,
            Listing.currency,
            Listing.availability,
            Listing.active,
            history_rows,
            Listing.times_seen,
        )
        .join(MarketListing, MarketListing.listing_id == Listing.id)
        .where(MarketListing.market_id == market_id)
    )
    return {url: StoredListing(*rest) for url, *rest in result}


def count_quarantined(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(Quarantined)).scalar_one()
