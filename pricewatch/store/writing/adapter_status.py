"""How each adapter fares on each source: judged at the end of every run, switched off when it drifts.

A person may also switch an adapter off as a whole: that is the row of `EVERY_SOURCE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from shlex import quote
from typing import Any

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.custom_spiders import in_words
from pricewatch.rules.drift_thresholds import (
    BASELINE_DAYS,
    Baseline,
    DriftAlert,
    DriftBatch,
    DriftVerdict,
    Streaks,
    baseline_of,
    judge,
)
from pricewatch.rules.metric_names import PREFIX, key
from pricewatch.store.models import AdapterBatch, AdapterStatus, Run
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.writing import alert_rows, metric_totals

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
WHERE queue_state = 'pending' AND adapter_id = :adapter_id AND :source_id IN (source_id, '*')
""")

# Bounded: whether there are so many is all that is asked.
_READ_SINCE = text("""
SELECT count(*) FROM (
    SELECT FROM listings WHERE source_id = :source_id AND last_scraped_at >= :since LIMIT :most) AS found
""")
_WATCHED = text("""
SELECT adapter_id FROM adapter_status
WHERE adapter_id = ANY(:ids) AND source_id = '*' AND watch_next_run ORDER BY adapter_id FOR UPDATE
""")
_SWITCHED_OFF = text("SELECT adapter_id, source_id FROM adapter_status WHERE NOT enabled")


class SwitchedOff:
    """Which adapters may not be used, and where."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._pairs = set(pairs)

    def __contains__(self, read_of: object) -> bool:
        whole = (read_of[0], EVERY_SOURCE) if isinstance(read_of, tuple) else None
        return read_of in self._pairs or whole in self._pairs


def switched_off(connection: Connection) -> SwitchedOff:
    return SwitchedOff((row.adapter_id, row.source_id) for row in connection.execute(_SWITCHED_OFF))


def begin(connection: Connection, adapter_id: str | None, source_id: str | None) -> bool:
    """Whether a run that starts now is watched; refuses it where its adapter is switched off."""
    if adapter_id is None:
        return False
    rows = connection.execute(
        select(*AdapterStatus.__table__.columns).where(
            AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id.in_([source_id, EVERY_SOURCE])
        )
    ).all()
    for status in rows:
        if not status.enabled:
            raise RunRefused(refusal(status))
    return any(status.watch_next_run for status in rows)


def refusal(status: Any) -> str:
    since = f" since {status.disabled_at:%Y-%m-%d %H:%M} UTC" if status.disabled_at else ""
    why = f" ({status.disabled_reason}: {status.note})" if status.note else f" ({status.disabled_reason})"
    where = _where(status.source_id)
    return (
        f"The {in_words(status.adapter_id)} is disabled{where}{since}{why}: put it right, then "
        f"`{_enabling(status.adapter_id, status.source_id)}`."
    )


def _where(source_id: str) -> str:
    return "" if source_id == EVERY_SOURCE else f" for {source_id}"


def _enabling(adapter_id: str, source_id: str) -> str:
    where = "" if source_id == EVERY_SOURCE else f" --source {quote(source_id)}"
    return f"scrapy adapters enable {quote(adapter_id)}{where} --by NAME --note WHY"


def named(adapter_id: str, source_id: str) -> str:
    """Who it is about, in a sentence: `adapter bazaar`, or `spider toys on shop.example`."""
    return subject(in_words(adapter_id), source_id)


def subject(adapter_id: str, source_id: str) -> str:
    """Whose alert it is."""
    return adapter_id if source_id == EVERY_SOURCE else f"{adapter_id} on {source_id}"


def conclude(
    connection: Connection, run_id: int, batches: Mapping[tuple[str, str], DriftBatch], now: datetime
) -> None:
    """Judge what a run read, by adapter and source, in the transaction that closes the run."""
    # Everybody takes these rows before those of sources, so that no two runs wait for each other.
    watched = set(connection.execute(_WATCHED, {"ids": [adapter_id for adapter_id, _ in batches]}).scalars())
    for (adapter_id, source_id), batch in sorted(batches.items()):
        if batch.attempted > 0:
            whole = adapter_id in watched
            _conclude(connection, run_id, adapter_id, source_id, batch, now, watched=whole)


def _conclude(
    connection: Connection,
    run_id: int,
    adapter_id: str,
    source_id: str,
    batch: DriftBatch,
    now: datetime,
    *,
    watched: bool,
) -> None:
    status = hold_status(connection, adapter_id, source_id)
    if _is_read_otherwise(connection, source_id, batch):
        batch = batch.without_lasting()
    streaks = Streaks(
        status.consecutive_failed_batches,
        status.consecutive_empty_batches,
        status.consecutive_zero_price_batches,
    )
    usual = baseline(connection, adapter_id, source_id, now)
    verdict = judge(batch, streaks, usual)
    watched = watched or status.watch_next_run
    if not _keep(connection, run_id, adapter_id, source_id, batch, verdict, now, watched=watched):
        return
    values: dict[str, Any] = {"updated_at": now, "watch_next_run": False}
    if verdict.judged:
        # With this batch in it.
        usual = baseline(connection, adapter_id, source_id, now)
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
    _set(connection, adapter_id, [source_id], values)
    if watched:
        _set(connection, adapter_id, [EVERY_SOURCE], {"watch_next_run": False})
        connection.execute(update(Run).where(Run.id == run_id).values(watched=True))
    _tell(connection, run_id, adapter_id, source_id, batch, verdict, now)
    if verdict.disable and status.enabled:
        _switch_off(
            connection,
            adapter_id,
            source_id,
            reason="DRIFT_DETECTED",
            by="pricewatch",
            note=verdict.disable,
            now=now,
        )


def _is_read_otherwise(connection: Connection, source_id: str, batch: DriftBatch) -> bool:
    """Since the first of them could not be read any more, at least as many other pages could."""
    if batch.lasting_since is None:
        return False
    given = {"source_id": source_id, "since": batch.lasting_since, "most": batch.lasting}
    return int(connection.execute(_READ_SINCE, given).scalar_one()) >= batch.lasting


def _set(connection: Connection, adapter_id: str, source_ids: list[str], values: dict[str, Any]) -> None:
    connection.execute(
        update(AdapterStatus)
        .where(AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id.in_(source_ids))
        .values(values)
    )


def _keep(
    connection: Connection,
    run_id: int,
    adapter_id: str,
    source_id: str,
    batch: DriftBatch,
    verdict: DriftVerdict,
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
            source_id=source_id,
            ended_at=now,
            urls=batch.urls,
            failed=batch.failures,
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
    connection: Connection,
    run_id: int,
    adapter_id: str,
    source_id: str,
    batch: DriftBatch,
    verdict: DriftVerdict,
    now: datetime,
) -> None:
    found, whose, who = batch.rates, subject(adapter_id, source_id), named(adapter_id, source_id)
    failed, yielded = found.failure_rate or 0.0, found.yield_rate or 0.0
    messages = {
        DriftAlert.FAILING: f"{failed:.0%} of {batch.urls} URLs failed with the {who}.",
        DriftAlert.NOTHING_EXTRACTED: f"The {who} read nothing from {batch.urls} URLs.",
        DriftAlert.ZERO_PRICE: f"The {who} read a price of zero {batch.zero_prices} times; "
        "those offers are in quarantine.",
        DriftAlert.LOW_YIELD: f"The {who} yielded an offer for only {yielded:.0%} of "
        f"{batch.urls} URLs, less than half of what is usual.",
        DriftAlert.DISABLED: f"The {in_words(adapter_id)} was disabled{_where(source_id)}: "
        f"{verdict.disable}, for the second time in a row. "
        f"After the fix: `{_enabling(adapter_id, source_id)}`.",
    }
    for alert, message in messages.items():
        if alert in verdict.alerts:
            alert_rows.raise_alert(
                connection,
                kind=alert,
                subject=whose,
                message=message,
                severity=SEVERITY[alert],
                now=now,
                details={"run_id": run_id, "failure_rate": failed, "yield_rate": yielded},
            )
        elif verdict.judged and alert is not DriftAlert.DISABLED:
            alert_rows.resolve_alert(connection, kind=alert, subject=whose, now=now)


def baseline(connection: Connection, adapter_id: str, source_id: str, now: datetime) -> Baseline:
    """What is usual, from a week of batches that were large enough."""
    rows = connection.execute(
        select(AdapterBatch.failure_rate, AdapterBatch.yield_rate).where(
            AdapterBatch.adapter_id == adapter_id,
            AdapterBatch.source_id == source_id,
            AdapterBatch.ended_at > now - timedelta(days=BASELINE_DAYS),
            AdapterBatch.judged,
        )
    )
    return baseline_of([(None if f is None else float(f), None if y is None else float(y)) for f, y in rows])


def hold_status(connection: Connection, adapter_id: str, source_id: str) -> Any:
    """The adapter's row for a source, made if need be, and nobody else's until the transaction ends."""
    connection.execute(
        insert(AdapterStatus).values(adapter_id=adapter_id, source_id=source_id).on_conflict_do_nothing()
    )
    return connection.execute(
        select(*AdapterStatus.__table__.columns)
        .where(AdapterStatus.adapter_id == adapter_id, AdapterStatus.source_id == source_id)
        .with_for_update()
    ).one()


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
    """A person switches an adapter off, for a source or as a whole; False where it was off already."""
    if not hold_status(connection, adapter_id, source_id).enabled:
        return False
    _switch_off(connection, adapter_id, source_id, reason=reason, by=by, note=note, now=now)
    return True


def _switch_off(
    connection: Connection, adapter_id: str, source_id: str, *, reason: str, by: str, note: str, now: datetime
) -> None:
    off = {
        "enabled": False,
        "disabled_at": now,
        "disabled_reason": reason,
        "disabled_by": by,
        "note": note,
        "watch_next_run": False,
        "updated_at": now,
    }
    _set(connection, adapter_id, [source_id], off)
    connection.execute(_EMPTY_QUEUE, {"adapter_id": adapter_id, "source_id": source_id})
    counted = key("scrape_adapter_disabled_total", adapter_id, reason).removeprefix(PREFIX)
    metric_totals.count(connection, counted, now)


def enable(
    connection: Connection,
    adapter_id: str,
    source_id: str = EVERY_SOURCE,
    *,
    by: str,
    note: str,
    now: datetime,
) -> bool:
    """A person answers for it, for one source or for all; the next run is watched, old streaks are forgotten.

    False where it was on already.
    """
    if not by.strip():
        raise UserError("Somebody has to answer for it: say who, with --by NAME.")
    query = select(AdapterStatus.source_id).where(
        AdapterStatus.adapter_id == adapter_id, ~AdapterStatus.enabled
    )
    if source_id != EVERY_SOURCE:
        query = query.where(AdapterStatus.source_id == source_id)
    off = list(connection.execute(query.with_for_update()).scalars())
    on = {
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
    _set(connection, adapter_id, off, on)
    for alert in DriftAlert:
        for one in off:
            alert_rows.resolve_alert(connection, kind=alert, subject=subject(adapter_id, one), now=now)
    return bool(off)


def statuses(connection: Connection) -> dict[tuple[str, str], dict[str, Any]]:
    rows = connection.execute(select(*AdapterStatus.__table__.columns)).mappings()
    return {(row["adapter_id"], row["source_id"]): dict(row) for row in rows}
