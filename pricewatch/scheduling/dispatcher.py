"""The dispatcher: runs in every daemon, but ticks in one at a time; a row in the database is the lock."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

from scrapy.settings import Settings
from scrapyd.config import Config
from sqlalchemy import Connection
from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from pricewatch import clock
from pricewatch.scheduling.dispatch_settings import DispatchSettings
from pricewatch.scheduling.dispatch_tick import DispatchTick, tick
from pricewatch.scheduling.membership import membership, store_engine
from pricewatch.scheduling.outage import Outage
from pricewatch.services.minute_checks import run_minute_checks
from pricewatch.store.operations import daily_maintenance
from pricewatch.store.queues import deployed_eggs, dispatch_state, node_rows
from pricewatch.store.queues.job_queue import PROJECT

log = Logger()
CHECKS_PER_TICK = 12
FORGET_NODES = timedelta(days=7)
Begin = Callable[[], AbstractContextManager[Connection]]


class Dispatcher(Service):
    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        settings = Settings()
        settings.setmodule(dict(config.items("settings", [])).get(PROJECT, "pricewatch.settings"))
        self._dispatch_settings = DispatchSettings.of(settings)
        self._every = timedelta(seconds=config.getfloat("dispatch_seconds", 60))
        self._outage = Outage("Dispatching")
        self._loop = LoopingCall(self._check)

    def startService(self) -> None:  # noqa: N802 - twisted's name
        super().startService()
        if self._every:
            self._loop.start(self._every.total_seconds() / CHECKS_PER_TICK)

    def stopService(self) -> Any:  # noqa: N802 - twisted's name
        if self._loop.running:
            self._loop.stop()
        return super().stopService()

    def _check(self) -> Deferred[None]:
        ticked: Deferred[Any] = deferToThread(self._tick_if_due)
        ticked.addCallback(lambda _: self._outage.record_success())
        return ticked.addErrback(self._outage.record_failure)

    def _tick_if_due(self) -> None:
        place = self._membership.place
        done = dispatch_once(
            self._membership.begin,
            self._dispatch_settings,
            node=place.node,
            silence=place.lease * 2,
            every=self._every,
        )
        if done is not None:
            run_minute_checks(store_engine(), self._dispatch_settings.stale_prices)
        if done is not None and (done.started or done.silent_runs or done.maintained):
            log.info(
                "Queued {started} jobs; ended {silent} runs without a heartbeat{maintained}",
                started=done.started,
                silent=done.silent_runs,
                maintained="; daily maintenance done" if done.maintained else "",
            )


def dispatch_once(
    begin: Begin,
    dispatch_settings: DispatchSettings,
    *,
    node: str,
    silence: timedelta,
    every: timedelta | None = None,
    now: datetime | None = None,
    chance: Callable[[], float] = random.random,
) -> DispatchTick | None:
    """Run one tick; return None if another process runs one now or ran one within `every`."""
    now = now or clock.now()
    began = time.monotonic()
    with begin() as connection:
        locked = dispatch_state.lock_row(connection, wait=every is None)
        if locked is None:
            return None
        if every is not None and locked.last_tick_at is not None and now - locked.last_tick_at < every:
            return None
        done = tick(
            connection,
            now,
            dispatch_settings,
            chance,
            node=node,
            silence=silence,
            maintained_at=locked.maintained_at,
            details_kept_from=locked.details_kept_from,
        )
        dispatch_state.record_tick(connection, last_tick_ms=round(1000 * (time.monotonic() - began)))
    if done.maintained:
        clean_up(begin, dispatch_settings, done)
    return done


def clean_up(begin: Begin, dispatch_settings: DispatchSettings, done: DispatchTick) -> None:
    """Remove old rows in small transactions, so that no lock is held for long."""
    if done.removes_details is not None:
        since, before = done.removes_details
        while since is not None:
            with begin() as connection:
                further = daily_maintenance.remove_run_details(connection, since, before)
                dispatch_state.record_tick(connection, details_kept_from=further or before)
            if further is None or further <= since:
                break
            since = further
    more = True
    while more:
        with begin() as connection:
            more = daily_maintenance.remove_old_jobs(
                connection, done.at.astimezone(UTC) - dispatch_settings.keep_jobs
            )
    more = True
    while more:
        with begin() as connection:
            more = daily_maintenance.remove_quarantine_pages(
                connection, done.at.astimezone(UTC), dispatch_settings.keep_held_pages
            )
    with begin() as connection:
        deployed_eggs.delete_old_versions(connection, dispatch_settings.keep_versions)
        node_rows.delete_silent(connection, FORGET_NODES)
