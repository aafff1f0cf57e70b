"""The dispatcher: in every daemon, at work in one at a time, each minute. The row it holds is the lock."""

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
from pricewatch.scheduling.dispatch_settings import DispatchPlan
from pricewatch.scheduling.dispatch_tick import DispatchTick, tick
from pricewatch.scheduling.membership import membership, store_engine
from pricewatch.scheduling.outage import Outage
from pricewatch.services.minute_checks import run_minute_checks
from pricewatch.store.maintenance import daily
from pricewatch.store.queues import deployed_eggs, dispatch_state, node_rows
from pricewatch.store.queues.job_queue import PROJECT

log = Logger()
LOOKS_PER_TICK = 12
FORGET_NODES = timedelta(days=7)
Begin = Callable[[], AbstractContextManager[Connection]]


class Dispatcher(Service):
    def __init__(self, config: Config) -> None:
        self._membership = membership(config)
        settings = Settings()
        settings.setmodule(dict(config.items("settings", [])).get(PROJECT, "pricewatch.settings"))
        self._plan = DispatchPlan.of(settings)
        self._every = timedelta(seconds=config.getfloat("dispatch_seconds", 60))
        self._outage = Outage("Dispatching")
        self._loop = LoopingCall(self._look)

    def startService(self) -> None:  # noqa: N802 - twisted's name
        super().startService()
        if self._every:
            self._loop.start(self._every.total_seconds() / LOOKS_PER_TICK)

    def stopService(self) -> Any:  # noqa: N802 - twisted's name
        if self._loop.running:
            self._loop.stop()
        return super().stopService()

    def _look(self) -> Deferred[None]:
        asked: Deferred[Any] = deferToThread(self._tick_if_due)
        return asked.addCallback(lambda _: self._outage.over()).addErrback(self._outage.note)

    def _tick_if_due(self) -> None:
        place = self._membership.place
        done = dispatch_once(
            self._membership.begin, self._plan, node=place.node, silence=place.lease * 2, every=self._every
        )
        if done is not None:
            run_minute_checks(store_engine(), self._plan.stale_prices)
        if done is not None and (done.started or done.silent_runs or done.maintained):
            log.info(
                "Dispatched {started} jobs; {silent} silent runs ended{maintained}",
                started=done.started,
                silent=done.silent_runs,
                maintained="; daily maintenance done" if done.maintained else "",
            )


def dispatch_once(
    begin: Begin,
    plan: DispatchPlan,
    *,
    node: str,
    silence: timedelta,
    every: timedelta | None = None,
    now: datetime | None = None,
    chance: Callable[[], float] = random.random,
) -> DispatchTick | None:
    """Look at what is due, unless somebody else does or did so within `every`; None then."""
    now = now or clock.now()
    began = time.monotonic()
    with begin() as connection:
        held = dispatch_state.hold(connection, wait=every is None)
        if held is None:
            return None
        if every is not None and held.last_tick_at is not None and now - held.last_tick_at < every:
            return None
        done = tick(
            connection,
            now,
            plan,
            chance,
            node=node,
            silence=silence,
            maintained_at=held.maintained_at,
            details_kept_from=held.details_kept_from,
        )
        dispatch_state.note_tick(connection, last_tick_ms=round(1000 * (time.monotonic() - began)))
    if done.maintained:
        clean_up(begin, plan, done)
    return done


def clean_up(begin: Begin, plan: DispatchPlan, done: DispatchTick) -> None:
    """In small steps, none of which holds anything up."""
    if done.removes_details is not None:
        since, before = done.removes_details
        while since is not None:
            with begin() as connection:
                further = daily.remove_details(connection, since, before)
                dispatch_state.note_tick(connection, details_kept_from=further or before)
            if further is None or further <= since:
                break
            since = further
    more = True
    while more:
        with begin() as connection:
            more = daily.remove_jobs(connection, done.at.astimezone(UTC) - plan.keep_jobs)
    more = True
    while more:
        with begin() as connection:
            more = daily.remove_pages(connection, done.at.astimezone(UTC), plan.keep_held_pages)
    with begin() as connection:
        deployed_eggs.keep_newest(connection, plan.keep_versions)
        node_rows.forget(connection, FORGET_NODES)
