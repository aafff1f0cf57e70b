"""How each adapter fares: judged at the end of every run, switched off when it no longer reads its site."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.drift import (
    BASELINE_DAYS,
    Baseline,
    Batch,
    DriftAlert,
    Streaks,
    Verdict,
    baseline_of,
    judge,
)
from pricewatch.store import alerts, figures
from pricewatch.store.models import AdapterBatch, AdapterStatus, Run

SEVERITY = {
    DriftAlert.FAILING: "P2",
    DriftAlert.NOTHING_EXTRACTED: "P2",
    DriftAlert.ZERO_PRICE: "P2",
    DriftAlert.LOW_YIELD: "P3",
    DriftAlert.DISABLED: "P1",
}

# What waited for the adapter goes back to being due: it does not grow stale meanwhile.
_EMPTY_QUEUE = text("""
UPDATE targets SET queue_state = 'idle', queued_at = NULL
WHERE queue_state = 'pending' AND adapter_id = :adapter_id
""")


def begin(connection: Connection, adapter_id: str | None) -> bool:
    """Whether a run that starts now is watched; refuses it where its adapter is switched off."""
    if adapter_id is None:
        return False
    status = connection.execute(
        select(*AdapterStatus.__table__.columns).where(AdapterStatus.adapter_id == adapter_id)
    ).first()
    if status is None:
        return False
    if not status.enabled:
        raise RunRefused(refusal(adapter_id, status))
    return bool(status.watch_next_run)


def refusal(adapter_id: str, status: Any) -> str:
    since = f" since {status.disabled_at:%Y-%m-%d %H:%M} UTC" if status.disabled_at else ""
    why = f" ({status.disabled_reason}: {status.note})" if status.note else f" ({status.disabled_reason})"
    return (
        f"The adapter {adapter_id} is disabled{since}{why}: put it right, then "
        f"`scrapy adapters enable {adapter_id} --by NAME --note WHY`."
    )


def conclude(connection: Connection, run_id: int, batches: Mapping[str, Batch], now: datetime) -> None:
    """Judge what a run read, adapter by adapter, in the transaction that closes the run."""
    for adapter_id, batch in sorted(batches.items()):
        if batch.attempted > 0:
            _conclude(connection, run_id, adapter_id, batch, now)


def _conclude(connection: Connection, run_id: int, adapter_id: str, batch: Batch, now: datetime) -> None:
    status = hold_status(connection, adapter_id)
    streaks = Streaks(
        status.consecutive_failed_batches,
        status.consecutive_empty_batches,
        status.consecutive_zero_price_batches,
    )
    verdict = judge(batch, streaks, baseline(connection, adapter_id, now))
    if not _keep(connection, run_id, adapter_id, batch, verdict, now, watched=status.watch_next_run):
        return
    values: dict[str, Any] = {"updated_at": now, "watch_next_run": False}
    if verdict.judged:
        usual = baseline(connection, adapter_id, now)
        values |= {
            "consecutive_failed_batches": verdict.streaks.failed,
            "consecutive_empty_batches": verdict.streaks.empty,
            "consecutive_zero_price_batches": verdict.streaks.zero_price,
            "last_batch_failure_rate": batch.rates.failure_rate,
            "baseline_failure_rate": usual.failure_rate,
            "baseline_yield_rate": usual.yield_rate,
            "baseline_sample_size": usual.sample_size,
            "baseline_updated_at": now,
        }
    connection.execute(update(AdapterStatus).where(AdapterStatus.adapter_id == adapter_id).values(values))
    if status.watch_next_run:
        connection.execute(update(Run).where(Run.id == run_id).values(watched=True))
    _tell(connection, run_id, adapter_id, batch, verdict, now)
    if verdict.disable and status.enabled:
        _switch_off(
            connection, adapter_id, reason="DRIFT_DETECTED", by="pricewatch", note=verdict.disable, now=now
        )


def _keep(
    connection: Connection,
    run_id: int,
    adapter_id: str,
    batch: Batch,
    verdict: Verdict,
    now: datetime,
    *,
    watched: bool,
) -> bool:
    """False where this run was judged before: its end was written, and only the answer was lost."""
    found = batch.rates
    kept = connection.execute(
        insert(AdapterBatch)
        .values(
            run_id=run_id,
            adapter_id=adapter_id,
            ended_at=now,
            urls=batch.urls,
            failed=batch.failed,
            extracted=batch.extracted,
            valid=batch.valid,
            dropped=batch.dropped,
            quarantined=batch.quarantined,
            zero_prices=batch.zero_prices,
            oos_no_price=batch.oos_no_price,
            availability_unknown=batch.availability_unknown,
            failure_rate=found.failure_rate,
            drop_rate=found.drop_rate,
            yield_rate=found.yield_rate,
            judged=verdict.judged,
            bad=verdict.is_bad,
            watched=watched,
        )
        .on_conflict_do_nothing()
    )
    return kept.rowcount == 1


def _tell(
    connection: Connection, run_id: int, adapter_id: str, batch: Batch, verdict: Verdict, now: datetime
) -> None:
    found = batch.rates
    failed, yielded = found.failure_rate or 0.0, found.yield_rate or 0.0
    messages = {
        DriftAlert.FAILING: f"{failed:.0%} of {batch.urls} URLs failed with the adapter {adapter_id}.",
        DriftAlert.NOTHING_EXTRACTED: f"The adapter {adapter_id} read nothing from {batch.urls} URLs.",
        DriftAlert.ZERO_PRICE: f"The adapter {adapter_id} read a price of zero {batch.zero_prices} times; "
        "those offers are in quarantine.",
        DriftAlert.LOW_YIELD: f"The adapter {adapter_id} yielded an offer for only {yielded:.0%} of "
        f"{batch.urls} URLs, less than half of what is usual.",
        DriftAlert.DISABLED: f"The adapter {adapter_id} was disabled: {verdict.disable}, for the second time "
        f"in a row. After the fix: `scrapy adapters enable {adapter_id} --by NAME --note WHY`.",
    }
    for alert, message in messages.items():
        if alert in verdict.alerts:
            alerts.raise_alert(
                connection,
                kind=alert,
                subject=adapter_id,
                message=message,
                severity=SEVERITY[alert],
                now=now,
                details={"run_id": run_id, "failure_rate": failed, "yield_rate": yielded},
            )
        elif verdict.judged and alert is not DriftAlert.DISABLED:
            alerts.resolve_alert(connection, kind=alert, subject=adapter_id, now=now)


def baseline(connection: Connection, adapter_id: str, now: datetime) -> Baseline:
    """What is usual, from a week of batches that were large enough."""
    rows = connection.execute(
        select(AdapterBatch.failure_rate, AdapterBatch.yield_rate).where(
            AdapterBatch.adapter_id == adapter_id,
            AdapterBatch.ended_at > now - timedelta(days=BASELINE_DAYS),
            AdapterBatch.judged,
        )
    )
    return baseline_of([(None if f is None else float(f), None if y is None else float(y)) for f, y in rows])


def hold_status(connection: Connection, adapter_id: str) -> Any:
    """The adapter's row, made if need be, and nobody else's until the transaction ends."""
    connection.execute(insert(AdapterStatus).values(adapter_id=adapter_id).on_conflict_do_nothing())
    return connection.execute(
        select(*AdapterStatus.__table__.columns)
        .where(AdapterStatus.adapter_id == adapter_id)
        .with_for_update()
    ).one()


def disable(
    connection: Connection, adapter_id: str, *, reason: str, by: str, note: str, now: datetime
) -> bool:
    """A person switches an adapter off; False where it was off already."""
    if not hold_status(connection, adapter_id).enabled:
        return False
    _switch_off(connection, adapter_id, reason=reason, by=by, note=note, now=now)
    return True


def _switch_off(
    connection: Connection, adapter_id: str, *, reason: str, by: str, note: str, now: datetime
) -> None:
    connection.execute(
        update(AdapterStatus)
        .where(AdapterStatus.adapter_id == adapter_id)
        .values(
            enabled=False,
            disabled_at=now,
            disabled_reason=reason,
            disabled_by=by,
            note=note,
            watch_next_run=False,
            updated_at=now,
        )
    )
    connection.execute(_EMPTY_QUEUE, {"adapter_id": adapter_id})
    figures.count(connection, f"scrape_adapter_disabled_total|{adapter_id}|{reason}", now)


def enable(connection: Connection, adapter_id: str, *, by: str, note: str, now: datetime) -> bool:
    """A person answers for it; the next run is watched, and old streaks are forgotten."""
    if not by.strip():
        raise UserError("Somebody has to answer for it: say who, with --by NAME.")
    if hold_status(connection, adapter_id).enabled:
        return False
    connection.execute(
        update(AdapterStatus)
        .where(AdapterStatus.adapter_id == adapter_id)
        .values(
            enabled=True,
            disabled_at=None,
            disabled_reason=None,
            disabled_by=None,
            note=f"enabled by {by}: {note}",
            watch_next_run=True,
            consecutive_failed_batches=0,
            consecutive_empty_batches=0,
            consecutive_zero_price_batches=0,
            updated_at=now,
        )
    )
    for alert in DriftAlert:
        alerts.resolve_alert(connection, kind=alert, subject=adapter_id, now=now)
    return True


def statuses(connection: Connection) -> dict[str, dict[str, Any]]:
    rows = connection.execute(select(*AdapterStatus.__table__.columns)).mappings()
    return {row["adapter_id"]: dict(row) for row in rows}
