"""Markets and their sources, as runs use them, and the record of a market's last runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from pricewatch.errors import RunRefused, UserError
from pricewatch.queued_work import SourceHints
from pricewatch.rules.market_membership import PriceRange
from pricewatch.rules.market_schedule import FAILURES_TO_OPEN, INTERVAL_SHARES
from pricewatch.store.models import Market, Source
from pricewatch.store.operations import alert_rows
from pricewatch.store.source_registry import source_hints, source_rows


@dataclass(frozen=True, slots=True)
class MarketRecord:
    """A market and the fields of its source that a run needs, read at the start of the run."""

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
    hints: SourceHints

    @property
    def has_filters(self) -> bool:
        """Whether only some of the listings on its pages belong to it."""
        return self.prices.is_set or bool(self.exclude_keywords)

    @property
    def is_search(self) -> bool:
        """Whether it is crawled by a search, whose results are all listings that are still on sale."""
        return not self.start_pages


def load_market(connection: Connection, market_id: str) -> MarketRecord:
    with Session(connection) as session:
        market = session.get(Market, market_id)
        if market is None:
            known = session.scalars(select(Market.id).order_by(Market.id).limit(50)).all()
            raise UserError(
                f"There is no market {market_id!r}. "
                + (f"Known markets: {', '.join(known)}." if known else "There are no markets yet.")
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
            hints=source_hints.load(connection, [source.id])[source.id],
        )


def load_approved_market(connection: Connection, market_id: str) -> MarketRecord:
    """Load a market; raise `RunRefused` if its source is not approved."""
    market = load_market(connection, market_id)
    if market.tos_approved_by is None:
        raise RunRefused(source_rows.not_approved_message(market.source_id))
    return market


def record_run(
    connection: Connection, market_id: str, *, spider: str, status: str, at: datetime, failed: bool
) -> None:
    """Record when a spider crawled the market and whether it failed, for the dispatcher.

    Runs of spiders that the dispatcher does not start are ignored.
    """
    if spider not in INTERVAL_SHARES:
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
    # One alert per spider: a successful discovery does not resolve the alert of the sweep.
    subject = f"{market_id} {spider}"
    if failures == FAILURES_TO_OPEN:
        alert_rows.raise_alert(
            connection,
            kind="circuit_open",
            subject=subject,
            message=f"The {spider} of market {market_id} failed {failures} times in a row and is paused "
            "until the next daily maintenance: see its last run. To retry now, run "
            f"`scrapy markets scrape {market_id} --spider {spider}`.",
            severity="P2",
            now=at,
        )
    elif failures == 0:
        alert_rows.resolve_alert(connection, kind="circuit_open", subject=subject, now=at)
