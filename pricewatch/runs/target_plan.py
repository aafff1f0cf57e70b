"""The plan of a targets run, from its arguments; invalid or refused arguments raise `UserError` here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter, check_selectors
from pricewatch.errors import RunRefused, UserError
from pricewatch.parsing.url import InvalidUrl, canonical_url, registrable_domain, site_of
from pricewatch.queued_work import SourceHints
from pricewatch.rules.target_schedule import QueueLimits
from pricewatch.runs.requested_page import PageContext
from pricewatch.store.operations import adapter_status
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.store.queues.target_queue import DefaultRate
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.source_registry import source_hints, source_rows
from pricewatch.store.source_registry.source_rows import check_approved, not_approved_message

if TYPE_CHECKING:
    from pricewatch.spiders.arguments import TargetsArguments


@dataclass(slots=True)
class Plan:
    """Targets by id, one page to check, or the queue if there is neither."""

    source_id: str | None = None
    ids: list[int] = field(default_factory=list)
    # The page whose result is printed: only checked (`context`), or added as a target (`new`).
    url: str | None = None
    context: PageContext | None = None
    new: NewTarget | None = None
    # The stored price and availability of that page.
    known: dict[str, Any] = field(default_factory=dict)


def make_plan(connection: Connection, arguments: TargetsArguments) -> Plan:
    if arguments.url is not None:
        return _plan_url(connection, arguments, arguments.url)
    if arguments.ids is not None:
        ids = sorted({int(number) for number in arguments.ids.split(",")})
        return Plan(ids=_allowed(connection, ids))
    if arguments.source is not None:
        source = source_rows.find(connection, arguments.source)
        check_approved(source)
        adapter_status.check_enabled(connection, source.adapter_id, source.id)
        return Plan(source_id=source.id)
    return Plan()


def adapter_of(adapter_id: str, selectors: dict[str, str]) -> Adapter:
    adapter = adapters.get(adapter_id)
    return CustomSelectorAdapter(adapter, selectors) if selectors else adapter


def _plan_url(connection: Connection, arguments: TargetsArguments, url: str) -> Plan:
    try:
        canonical = canonical_url(url)
    except InvalidUrl as error:
        raise UserError(f"This page cannot be checked: {error}.") from None
    source = source_rows.load(connection).of(url)
    plan = Plan(source_id=source.id if source else None, url=url)
    target_id = target_rows.find_url(connection, url)
    row = target_rows.find_rows(connection, TargetFilter(ids=[target_id]), most=1)[0] if target_id else None
    if source is not None:
        plan.known = target_rows.stored_price(connection, source.id, canonical)
    if arguments.store == "yes" and row is None:
        if source is None:
            raise RunRefused(f"{site_of(url)} is a new site: add it with `scrapy targets add {url}`.")
        check_approved(source)
        plan.new = NewTarget(url, canonical)
        adapter_status.check_enabled(connection, source.adapter_id, source.id)
        return plan
    is_trial = arguments.adapter is not None or arguments.selectors is not None
    if row is not None and row["tos_approved_by"] and arguments.store != "no" and not is_trial:
        plan.ids = _allowed(connection, [row["id"]])
        return plan
    adapter_id = arguments.adapter or (
        row["adapter_id"]
        if row
        else source.adapter_id
        if source
        else adapters.for_new_source(registrable_domain(url))
    )
    selectors = _selectors(arguments.selectors) if arguments.selectors else row["selectors"] if row else {}
    context = PageContext(
        adapter_of(adapter_id, selectors),
        source.id if source else site_of(url),
        render=row["render"] if row else None,
    )
    hints = source_hints.load(connection, [source.id])[source.id] if source else SourceHints()
    plan.context = context.with_hints(hints)
    return plan


def _selectors(text: str) -> dict[str, str]:
    try:
        selectors = json.loads(text)
    except ValueError:
        selectors = None
    if not isinstance(selectors, dict) or not all(isinstance(value, str) for value in selectors.values()):
        raise UserError('The selectors must be JSON such as {"price": ".amount", "title": "//h1"}.')
    if problem := check_selectors(selectors):
        raise UserError(f"The selectors cannot be used: {problem}.")
    return selectors


def _allowed(connection: Connection, ids: list[int]) -> list[int]:
    """Return the ids if all exist, and all their sources are approved and their adapters enabled."""
    rows = target_rows.find_rows(connection, TargetFilter(ids=ids), most=len(ids))
    if missing := sorted(set(ids) - {row["id"] for row in rows}):
        raise UserError(f"There is no target {', '.join(map(str, missing[:10]))}.")
    for row in rows:
        if row["tos_approved_by"] is None:
            raise RunRefused(not_approved_message(row["source_id"]))
    for adapter_id, source_id in sorted({(row["adapter_id"], row["source_id"]) for row in rows}):
        adapter_status.check_enabled(connection, adapter_id, source_id)
    return ids


def limits_of(settings: Any) -> QueueLimits:
    return QueueLimits(
        most_pending=settings.getint("TARGETS_MOST_PENDING"),
        most_pending_per_source=settings.getint("TARGETS_MOST_PENDING_PER_SOURCE"),
        longest_backlog=3600 * settings.getfloat("TARGETS_LONGEST_BACKLOG_HOURS"),
        retry_after=settings.getfloat("TARGETS_RETRY_AFTER_SECONDS"),
        longest_pause=60 * settings.getfloat("TARGETS_LONGEST_PAUSE_MINUTES"),
    )


def pace_of(settings: Any) -> DefaultRate:
    return DefaultRate(settings.getfloat("REQUESTS_PER_SECOND"), settings.getfloat("MIN_DELAY_MS") / 1000)
