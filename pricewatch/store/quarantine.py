"""Offers that are held: everything about them is kept, the page they came from too."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, insert

from pricewatch.items import ProductPage
from pricewatch.store.models import Quarantined
from pricewatch.store.plain import plain


def hold(connection: Connection, item: ProductPage, *, run_id: int, at: datetime) -> None:
    if item.held is None:
        raise ValueError("only an offer that is held goes to quarantine")
    offer = item.offer
    connection.execute(
        insert(Quarantined).values(
            source_id=offer.source,
            run_id=run_id,
            target_id=item.target_id,
            adapter_id=item.adapter_id,
            adapter_version=offer.adapter_version,
            url=plain(offer.fetch_url or offer.url),
            identity_key=plain(offer.identity_key) or None,
            reason=item.held.reason,
            offer=plain(asdict(offer)),
            details=plain({"evidence": item.evidence, **item.held.details, "encoding": item.encoding}),
            page_hash=hashlib.sha256(item.page).hexdigest() if item.page else None,
            page=zlib.compress(item.page) if item.page else None,
            observed_at=offer.observed_at or at,
        )
    )
