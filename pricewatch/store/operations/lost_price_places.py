"""The alert about a source whose price no longer stands where it did."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from pricewatch.rules.price_place import is_lost
from pricewatch.store.operations import adapter_status, alert_rows

KIND = "price_place_lost"


def judge(
    connection: Connection, adapter_id: str, source_id: str, *, missing: int, pages: int, now: datetime
) -> None:
    """Raise the alert if the place is missing on most pages of a run, and resolve it if it is not."""
    lost = is_lost(missing, pages)
    if lost is None:
        return
    subject = adapter_status.alert_subject(adapter_id, source_id)
    if not lost:
        alert_rows.resolve_alert(connection, kind=KIND, subject=subject, now=now)
        return
    alert_rows.raise_alert(
        connection,
        kind=KIND,
        subject=subject,
        message=f"On {missing} of {pages} product pages of {source_id}, the price is not where it was. "
        "The site may have changed its pages: check some of its prices.",
        severity="P3",
        now=now,
        details={"missing": missing, "pages": pages},
    )
