"""Markets as people keep them: listed, changed, crawled now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.errors import UserError
from pricewatch.store import jobs, target_sources
from pricewatch.store.markets import load_approved_market
from pricewatch.store.models import Market, Source

SPIDERS = ("discovery", "sweep", "verification")


def listed(
    connection: Connection, *, source: str | None = None, enabled: bool | None = None
) -> list[dict[str, Any]]:
    query = (
        select(*Market.__table__.columns, Source.tos_approved_by)
        .join(Source, Source.id == Market.source_id)
        .order_by(Market.source_id, Market.id)
    )
    if source is not None:
        query = query.where(Market.source_id == target_sources.find(connection, source).id)
    if enabled is not None:
        query = query.where(Market.enabled == enabled)
    return [dict(row) for row in connection.execute(query).mappings()]


def change(connection: Connection, market_id: str, now: datetime, **values: Any) -> None:
    changed = connection.execute(
        update(Market).where(Market.id == market_id).values(**values, updated_at=now)
    ).rowcount
    if not changed:
        raise UserError(f"There is no market {market_id!r}: `scrapy markets list` shows all of them.")


def scrape_now(connection: Connection, market_id: str, spider: str = "discovery") -> str:
    """Queue a job before all that the dispatcher has queued; says its id."""
    load_approved_market(connection, market_id)
    return jobs.add(
        connection,
        jobs.PROJECT,
        spider,
        {"market": market_id, "trigger": "MANUAL"},
        priority=jobs.NOW_PRIORITY,
    )
