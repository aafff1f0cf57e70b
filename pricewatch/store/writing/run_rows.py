"""Run rows: opened before the first request, kept up to date with every batch, closed always."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Connection, Update, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from pricewatch.errors import RunRefused
from pricewatch.rules.custom_spiders import LONGEST_NAME
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import CollectedCard, Run, RunPage
from pricewatch.vocabulary import PageOutcome, RunStatus

STALE_AFTER = timedelta(minutes=30)
MOST_ERRORS_KEPT = 50

# Written with every batch, so they are made once: SQLAlchemy takes longer to build one than to send it.
_RUNS = Run.metadata.tables[Run.__tablename__]
_BEAT = update(_RUNS).where(_RUNS.c.id == bindparam("run")).values(heartbeat_at=bindparam("at"))
_ADD_PAGE = insert(RunPage.metadata.tables[RunPage.__tablename__])


def node_name() -> str:
    return os.environ.get("PRICEWATCH_NODE") or socket.gethostname()


def open_run(connection: Connection, *, now: datetime, **fields: Any) -> int:
    """Insert the row of a run that starts now; refuse if the same market is being crawled already."""
    market_id = fields.get("market_id")
    _check_name(fields["spider"])
    if (own := _opened_already(connection, fields["spider"], market_id, now)) is not None:
        return own
    if market_id is not None:
        end_dead_runs(connection, fields["spider"], market_id, now)
    try:
        with connection.begin_nested():
            run_id = connection.execute(
                insert(Run)
                .values(node=node_name(), pid=os.getpid(), started_at=now, heartbeat_at=now, **fields)
                .returning(Run.id)
            ).scalar_one()
    except IntegrityError as error:
        if "uq_runs_running" not in str(error.orig):
            raise
        other = connection.execute(
            select(Run.id, Run.started_at, Run.node, Run.pid).where(
                Run.spider == fields["spider"], Run.market_id == market_id, Run.status == RunStatus.RUNNING
            )
        ).first()
        since = f" (run {other.id}, on {other.node} since {other.started_at:%H:%M:%S} UTC)" if other else ""
        raise RunRefused(
            f"A {fields['spider']} run of market {market_id} is under way already{since}: "
            "wait for it to end, or cancel it."
        ) from None
    return int(run_id)


def _check_name(spider: str) -> None:
    if not 0 < len(spider) <= LONGEST_NAME:
        raise RunRefused(
            f"The name of a spider has 1 to {LONGEST_NAME} characters, not {len(spider)}: give it another."
        )


def _opened_already(connection: Connection, spider: str, market_id: str | None, now: datetime) -> int | None:
    """Asked again because the answer to the first commit was lost: the row is there, and it is ours."""
    return connection.execute(
        select(Run.id).where(
            Run.started_at == now,
            Run.node == node_name(),
            Run.pid == os.getpid(),
            Run.spider == spider,
            Run.market_id.is_not_distinct_from(market_id),
            Run.status == RunStatus.RUNNING,
        )
    ).scalar()


def end_dead_runs(connection: Connection, spider: str, market_id: str, now: datetime) -> None:
    """A run whose process is gone, or that gave no sign of life for long, does not hold up the next one."""
    running = connection.execute(
        select(Run.id, Run.node, Run.pid, Run.started_at, Run.heartbeat_at).where(
            Run.spider == spider, Run.market_id == market_id, Run.status == RunStatus.RUNNING
        )
    ).all()
    for run in running:
        died_here = (
            run.node == node_name() and run.pid is not None and not _is_alive(run.pid, run.started_at, now)
        )
        if died_here or now - run.heartbeat_at > STALE_AFTER:
            mark_stale(connection, run.id, now, "its process is gone" if died_here else "no sign of life")


def mark_stale(connection: Connection, run_id: int, now: datetime, why: str) -> None:
    connection.execute(
        update(Run)
        .where(Run.id == run_id, Run.status == RunStatus.RUNNING)
        .values(status=RunStatus.STALE, reason=why, finished_at=now)
    )
    connection.execute(delete(CollectedCard).where(CollectedCard.run_id == run_id))


def record(connection: Connection, run_id: int, added: dict[str, int], values: dict[str, Any]) -> None:
    """Keep the row up to date: counters that grow with this batch, and values as they are now."""
    given = {**added, **_storable(values)}
    connection.execute(
        _recording(tuple(added), tuple(values)),
        {"run": run_id, **{f"new_{name}": value for name, value in given.items()}},
    )


@cache
def _recording(added: tuple[str, ...], values: tuple[str, ...]) -> Update:
    grown = {name: _RUNS.c[name] + bindparam(f"new_{name}") for name in added}
    changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in values}
    return update(_RUNS).where(_RUNS.c.id == bindparam("run")).values({**grown, **changed})


def beat(connection: Connection, run_id: int, at: datetime) -> None:
    """The last statement of a run's transactions: a sign of life, and a mark that tells if it was kept."""
    connection.execute(_BEAT, {"run": run_id, "at": at})


def has_beaten(connection: Connection, run_id: int, at: datetime) -> bool:
    """Whether the transaction with this beat was committed; waits for it if it is still under way."""
    last = connection.execute(select(Run.heartbeat_at).where(Run.id == run_id).with_for_update()).scalar()
    return last == at


def add_page(
    connection: Connection,
    run_id: int,
    *,
    url: str,
    outcome: PageOutcome,
    fetched_at: datetime,
    **fields: Any,
) -> None:
    page = {"run_id": run_id, "url": json_safe(url), "outcome": outcome, "fetched_at": fetched_at}
    connection.execute(_ADD_PAGE, page | _storable(fields))


def close_run(
    connection: Connection, run_id: int, status: RunStatus, reason: str | None, **values: Any
) -> None:
    connection.execute(
        update(Run)
        .where(Run.id == run_id, Run.status == RunStatus.RUNNING)
        .values(status=status, **_storable({"reason": reason, **values}))
    )
    connection.execute(delete(CollectedCard).where(CollectedCard.run_id == run_id))


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json_safe(value) if isinstance(value, (str, dict, list)) else value
        for name, value in values.items()
    }


def _is_alive(pid: int, started_at: datetime, now: datetime) -> bool:
    """Whether the process of a run still lives; one that is younger than the run only has its number."""
    try:
        process = psutil.Process(pid)
        age = timedelta(seconds=time.time() - process.create_time())
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
    except psutil.NoSuchProcess:
        return False
    # The system tells the age of a process to the hundredth of a second.
    return now - age <= started_at + timedelta(seconds=1)
