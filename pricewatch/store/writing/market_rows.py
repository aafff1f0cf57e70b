"""Markets and their sources, as a run needs them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.market_membership import PriceRange
from pricewatch.rules.market_schedule import FAILURES_TO_OPEN, SHARES
from pricewatch.store.models import Market, Source
from pricewatch.store.writing import alert_rows, source_rows


@dataclass(frozen=True, slots=True)
class MarketRecord:
    """One market with what its source adds to it, read at the start of a run."""

    id: str
    source_id: str
    adapter_id: str
    base_url: str
    display_name: str
    start_pages: list[str]
    parameters: dict[str, Any]
    tier: str
    page_size: int | None
    max_pages: int | None
    max_listings_per_scrape: int
    first_read_at: datetime | None
    source_created_at: datetime
    exclude_keywords: list[str]
    prices: PriceRange
    sweep_start_page: str | None
    sweep_page: int | None
    sweep_last_pages: int | None
    tos_approved_by: str | None

    @property
    def has_filters(self) -> bool:
        """Whether it wants only some of what its pages show."""
        return self.prices.is_set or bool(self.exclude_keywords)

    @property
    def is_search(self) -> bool:
        """Whether it is crawled by a search, whose answer says by itself what is still on sale."""
        return not self.start_pages


def load_market(connection: Connection, market_id: str) -> MarketRecord:
    with Session(connection) as session:
        market = session.get(Market, market_id)
        if market is None:
            known = session.scalars(select(Market.id).order_by(Market.id).limit(50)).all()
            raise UserError(
                f"There is no market {market_id!r}. "
                + (f"Known markets: {', '.join(known)}." if known else "None is known yet.")
            )
        source = session.get_one(Source, market.source_id)
        search = {
            name: value
            for name in ("city", "state", "keyword", "category", "min_price_cents", "max_price_cents")
            if (value := getattr(market, name)) is not None
        }
        return MarketRecord(
            id=market.id,
            source_id=source.id,
            adapter_id=source.adapter_id,
            base_url=source.base_url.rstrip("/"),
            display_name=market.display_name,
            start_pages=market.start_pages,
            parameters={**search, **market.parameters},
            tier=market.tier,
            page_size=market.page_size,
            max_pages=market.max_pages,
            max_listings_per_scrape=market.max_listings_per_scrape,
            first_read_at=market.first_read_at,
            source_created_at=source.created_at,
            exclude_keywords=market.exclude_keywords,
            prices=PriceRange.of(market.min_price_cents, market.max_price_cents, market.price_currency),
            sweep_start_page=market.sweep_start_page,
            sweep_page=market.sweep_page,
            sweep_last_pages=market.sweep_last_pages,
            tos_approved_by=source.tos_approved_by,
        )


def load_approved_market(connection: Connection, market_id: str) -> MarketRecord:
    """A market that may be crawled: a person has read the terms of its source."""
    market = load_market(connection, market_id)
    if market.tos_approved_by is None:
        raise RunRefused(source_rows.not_approved(market.source_id))
    return market


def note_run(
    connection: Connection, market_id: str, *, spider: str, status: str, at: datetime, failed: bool
) -> None:
    """What the dispatcher goes by: when this spider last crawled the market and how that ended.

    The dispatcher starts three spiders; a run of another one says nothing about when those are due.
    """
    if spider not in SHARES:
        return
    counter = Market.__table__.c[f"{spider}_failures"]
    values: dict[str, Any] = {"last_scrape_status": status}
    if failed:
        values |= {counter.name: counter + 1, f"{spider}_failed_at": at}
    else:
        values |= {counter.name: 0, f"last_{spider}_at": at}
        if spider != "verification":
            values["last_scrape_at"] = at
    changed = update(Market).where(Market.id == market_id).values(values)
    failures = connection.execute(changed.returning(counter)).scalar()
    # One alert for each spider: a good discovery does not mend a sweep.
    subject = f"{market_id} {spider}"
    if failures == FAILURES_TO_OPEN:
        alert_rows.raise_alert(
            connection,
            kind="circuit_open",
            subject=subject,
            message=f"The {spider} of market {market_id} failed {failures} times in a row and rests until "
            "the next daily maintenance: see its last run, then "
            f"`scrapy markets scrape {market_id} --spider {spider}` tries it at once.",
            severity="P2",
            now=at,
        )
    elif failures == 0:
        alert_rows.resolve_alert(connection, kind="circuit_open", subject=subject, now=at)
