"""Whether adapters are enabled, by source, and switching them on and off.

The row of `EVERY_SOURCE` enables or disables an adapter for all sources. `adapter_batches` disables adapters
that drift.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from shlex import quote
from typing import Any

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.custom_spiders import reader_label
from pricewatch.rules.drift_thresholds import DriftAlert
from pricewatch.rules.metric_names import PREFIX, metric_key
from pricewatch.store.models import AdapterStatus
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.operations import alert_rows, metric_totals

# Queued targets become due again, so that they do not become stale while the adapter is disabled.
_EMPTY_QUEUE = text("""
UPDATE targets SET queue_state = 'idle', queued_at = NULL
WHERE queue_state = 'pending' AND adapter_id = :adapter_id AND :source_id IN (source_id, '*')
""")
_DISABLED = text("SELECT adapter_id, source_id FROM adapter_status WHERE NOT enabled")


class DisabledAdapters:
    """The disabled pairs of adapter and source; a pair is included if its adapter is disabled everywhere."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._pairs = set(pairs)

    def __contains__(self, pair: object) -> bool:
        everywhere = (pair[0], EVERY_SOURCE) if isinstance(pair, tuple) else None
        return pair in self._pairs or everywhere in self._pairs


def disabled_adapters(connection: Connection) -> DisabledAdapters:
    return DisabledAdapters((row.adapter_id, row.source_id) for row in connection.execute(_DISABLED))


def check_enabled(connection: Connection, adapter_id: str | None, source_id: str | None) -> bool:
    """Raise `RunRefused` if the adapter is disabled; return whether the run that starts now is watched."""
    if adapter_id is None:
        return False
    rows = connection.execute(
        select(*AdapterStatus.__table__.columns).where(
            AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id.in_([source_id, EVERY_SOURCE])
        )
    ).all()
    for status in rows:
        if not status.enabled:
            raise RunRefused(_refusal(status))
    return any(status.watch_next_run for status in rows)


def _refusal(status: Any) -> str:
    since = f" since {status.disabled_at:%Y-%m-%d %H:%M} UTC" if status.disabled_at else ""
    reason = f"{status.disabled_reason}: {status.note}" if status.note else status.disabled_reason
    return (
        f"The {reader_label(status.adapter_id)} is disabled{for_source(status.source_id)}{since} ({reason}): "
        f"fix it, then run `{enable_command(status.adapter_id, status.source_id)}`."
    )


def for_source(source_id: str) -> str:
    return "" if source_id == EVERY_SOURCE else f" for {source_id}"


def enable_command(adapter_id: str, source_id: str) -> str:
    source = "" if source_id == EVERY_SOURCE else f" --source {quote(source_id)}"
    return f"scrapy adapters enable {quote(adapter_id)}{source} --by NAME --note WHY"


def sentence_name(adapter_id: str, source_id: str) -> str:
    """Return the name for use in a sentence: `adapter bazaar`, or `spider toys on shop.example`."""
    return alert_subject(reader_label(adapter_id), source_id)


def alert_subject(adapter_id: str, source_id: str) -> str:
    """Return the subject of the adapter's alerts."""
    return adapter_id if source_id == EVERY_SOURCE else f"{adapter_id} on {source_id}"


def statuses(connection: Connection) -> dict[tuple[str, str], dict[str, Any]]:
    rows = connection.execute(select(*AdapterStatus.__table__.columns)).mappings()
    return {(row["adapter_id"], row["source_id"]): dict(row) for row in rows}


def lock_status(connection: Connection, adapter_id: str, source_id: str) -> Any:
    """Lock the adapter's row for a source, and insert it if there is none."""
    connection.execute(
        insert(AdapterStatus).values(adapter_id=adapter_id, source_id=source_id).on_conflict_do_nothing()
    )
    return connection.execute(
        select(*AdapterStatus.__table__.columns)
        .where(AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id == source_id)
        .with_for_update()
    ).one()


def update_status(
    connection: Connection, adapter_id: str, source_ids: list[str], values: dict[str, Any]
) -> None:
    connection.execute(
        update(AdapterStatus)
        .where(AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id.in_(source_ids))
        .values(values)
    )


def disable(
    connection: Connection,
    adapter_id: str,
    source_id: str = EVERY_SOURCE,
    *,
    reason: str,
    by: str,
    note: str,
    now: datetime,
) -> bool:
    """Disable an adapter for a source or for all sources; return False if it was disabled already."""
    if not lock_status(connection, adapter_id, source_id).enabled:
        return False
    values = {
        "enabled": False,
        "disabled_at": now,
        "disabled_reason": reason,
        "disabled_by": by,
        "note": note,
        "watch_next_run": False,
        "updated_at": now,
    }
    update_status(connection, adapter_id, [source_id], values)
    connection.execute(_EMPTY_QUEUE, {"adapter_id": adapter_id, "source_id": source_id})
    counter = metric_key("scrape_adapter_disabled_total", adapter_id, reason).removeprefix(PREFIX)
    metric_totals.increase(connection, counter, now)
    return True


def enable(
    connection: Connection,
    adapter_id: str,
    source_id: str = EVERY_SOURCE,
    *,
    by: str,
    note: str,
    now: datetime,
) -> bool:
    """Enable an adapter for one source or for all, reset its streaks, and mark its next run as watched.

    Return False if it was enabled already.
    """
    if not by.strip():
        raise UserError("Say who approves it: --by NAME.")
    query = select(AdapterStatus.source_id).where(
        AdapterStatus.adapter_id == adapter_id, ~AdapterStatus.enabled
    )
    if source_id != EVERY_SOURCE:
        query = query.where(AdapterStatus.source_id == source_id)
    disabled = list(connection.execute(query.with_for_update()).scalars())
    values = {
        "enabled": True,
        "disabled_at": None,
        "disabled_reason": None,
        "disabled_by": None,
        "note": f"enabled by {by}: {note}",
        "watch_next_run": True,
        "consecutive_failed_batches": 0,
        "consecutive_empty_batches": 0,
        "consecutive_zero_price_batches": 0,
        "updated_at": now,
    }
    update_status(connection, adapter_id, disabled, values)
    for kind in DriftAlert:
        subjects = [alert_subject(adapter_id, each) for each in disabled]
        alert_rows.resolve_alerts(connection, kind=kind, subjects=subjects, now=now)
    return bool(disabled)
