"""Fetch policies: rate limit, proxies and headers of each source."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from pricewatch.rules.request_budget import SourceLimit
from pricewatch.store.models import Source


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    source_id: str
    domain: str
    base_url: str
    rate_limit: SourceLimit = field(default_factory=SourceLimit)
    proxy_strategy: str = "none"
    cooldown_minutes: int = 30
    headers: dict[str, str] = field(default_factory=dict)


def load_policies(connection: Connection) -> list[FetchPolicy]:
    return [
        FetchPolicy(
            source_id=row.id,
            domain=row.domain,
            base_url=row.base_url,
            rate_limit=SourceLimit(
                None if row.requests_per_second is None else float(row.requests_per_second),
                None if row.min_delay_ms is None else row.min_delay_ms / 1000,
                row.max_concurrent,
            ),
            proxy_strategy=row.proxy_strategy,
            cooldown_minutes=row.cooldown_minutes,
            headers={str(name): str(value) for name, value in row.headers.items()},
        )
        for row in connection.execute(select(*Source.__table__.columns).order_by(Source.id))
    ]
