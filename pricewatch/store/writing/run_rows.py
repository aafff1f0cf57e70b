"""Rows of runs: inserted before the first request, updated with every batch, and closed at the end."""

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
MAX_ERRORS = 50

# Built once: they are executed with every batch, and building one takes longer than sending it.
_RUNS = Run.metadata.tables[Run.__tablename__]
_HEARTBEAT = update(_RUNS).where(_RUNS.c.id == bindparam("run")).values(heartbeat_at=bindparam("at"))
_ADD_PAGE = insert(RunPage.metadata.tables[RunPage.__tablename__])


def node_name() -> str:
    return os.environ.get("PRICEWATCH_NODE") or socket.gethostname()


def open_run(connection: Connection, *, now: datetime, **fields: Any) -> int:
    """Insert the row of a run that starts now; raise `RunRefused` if the market is being crawled already."""
    market_id = fields.get("market_id")
    _check_name(fields["spider"])
    if (run_id := _already_opened(connection, fields["spider"], market_id, now)) is not None:
        return run_id
    if market_id is not None:
        end_dead_runs(connection, fields["spider"], market_id, now)
    try:
        with connection.begin_nested():
            new_id = connection.execute(
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
            f"A {fields['spider']} run of market {market_id} is already running{since}: "
            "wait for it to end, or cancel it."
        ) from None
    return int(new_id)


def _check_name(spider: str) -> None:
    if not 0 < len(spider) <= LONGEST_NAME:
        raise RunRefused(
            f"A spider's name has 1 to {LONGEST_NAME} characters, not {len(spider)}: change its name."
        )


def _already_opened(connection: Connection, spider: str, market_id: str | None, now: datetime) -> int | None:
    """Return the id of this run if it was inserted by a commit whose acknowledgement was lost."""
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
    """Mark runs whose process has died, or whose heartbeat is too old, so that the next one can start."""
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
            mark_stale(connection, run.id, now, "its process is gone" if died_here else "no heartbeat")


def mark_stale(connection: Connection, run_id: int, now: datetime, reason: str) -> None:
    connection.execute(
        update(Run)
        .where(Run.id == run_id, Run.status == RunStatus.RUNNING)
        .values(status=RunStatus.STALE, reason=reason, finished_at=now)
    )
    connection.execute(delete(CollectedCard).where(CollectedCard.run_id == run_id))


def update_run(connection: Connection, run_id: int, added: dict[str, int], values: dict[str, Any]) -> None:
    """Update the row of a run: add to its counters, and set other values."""
    parameters = {**added, **_storable(values)}
    connection.execute(
        _update_statement(tuple(added), tuple(values)),
        {"run": run_id, **{f"new_{name}": value for name, value in parameters.items()}},
    )


@cache
def _update_statement(added: tuple[str, ...], values: tuple[str, ...]) -> Update:
    increased = {name: _RUNS.c[name] + bindparam(f"new_{name}") for name in added}
    changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in values}
    return update(_RUNS).where(_RUNS.c.id == bindparam("run")).values({**increased, **changed})


def write_heartbeat(connection: Connection, run_id: int, at: datetime) -> None:
    """Write the heartbeat that ends each transaction of a run, and by which its commit can be checked."""
    connection.execute(_HEARTBEAT, {"run": run_id, "at": at})


def has_heartbeat(connection: Connection, run_id: int, at: datetime) -> bool:
    """Return whether the transaction with this heartbeat was committed; wait for it if it is still open."""
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
    """Return whether the process of a run is alive. A process younger than the run only reused its pid."""
    try:
        process = psutil.Process(pid)
        age = timedelta(seconds=time.time() - process.create_time())
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
    except psutil.NoSuchProcess:
        return False
    # The age of a process is only known to a hundredth of a second.
    return now - age <= started_at + timedelta(seconds=1)
