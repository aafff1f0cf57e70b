"""What a targets run is to do, from its arguments: everything that can be refused is refused here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter, check_selectors
from pricewatch.errors import RunRefused, UserError
from pricewatch.parsing.url import InvalidUrl, canonical_url, registrable_domain, site_of
from pricewatch.spiders.arguments import TargetsArguments
from pricewatch.spiders.base import Subject
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget, Wanted
from pricewatch.store.writing import adapter_status, source_rows
from pricewatch.store.writing.source_rows import check_approved, not_approved


@dataclass(slots=True)
class Plan:
    """Named targets, one page to look at, or, with neither, the queue."""

    source_id: str | None = None
    ids: list[int] = field(default_factory=list)
    # The page whose result is printed; looked at only, or watched from now on.
    url: str | None = None
    look: Subject | None = None
    new: NewTarget | None = None
    # What is stored of that page so far.
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
        adapter_status.begin(connection, source.adapter_id, source.id)
        return Plan(source_id=source.id)
    return Plan()


def adapter_of(adapter_id: str, selectors: dict[str, str]) -> Adapter:
    adapter = adapters.get(adapter_id)
    return CustomSelectorAdapter(adapter, selectors) if selectors else adapter


def _plan_url(connection: Connection, arguments: TargetsArguments, url: str) -> Plan:
    try:
        canonical = canonical_url(url)
    except InvalidUrl as error:
        raise UserError(f"This page cannot be looked at: {error}.") from None
    source = source_rows.load(connection).of(url)
    plan = Plan(source_id=source.id if source else None, url=url)
    target_id = target_rows.find_url(connection, url)
    row = target_rows.listed(connection, Wanted(ids=[target_id]), most=1)[0] if target_id else None
    if source is not None:
        plan.known = target_rows.known_price(connection, source.id, canonical)
    if arguments.store == "yes" and row is None:
        if source is None:
            raise RunRefused(f"{site_of(url)} is new: `scrapy targets add {url}` adds it.")
        check_approved(source)
        plan.new = NewTarget(url, canonical)
        adapter_status.begin(connection, source.adapter_id, source.id)
        return plan
    trying = arguments.adapter is not None or arguments.selectors is not None
    if row is not None and row["tos_approved_by"] and arguments.store != "no" and not trying:
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
    plan.look = Subject(adapter_of(adapter_id, selectors), source.id if source else site_of(url))
    return plan


def _selectors(text: str) -> dict[str, str]:
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise UserError('The selectors must be JSON such as {"price": ".amount", "title": "//h1"}.')
    if problem := check_selectors(given):
        raise UserError(f"The selectors cannot be used: {problem}.")
    return given


def _allowed(connection: Connection, ids: list[int]) -> list[int]:
    """These targets, all there and all of sources that somebody approved, read by adapters that are on."""
    rows = target_rows.listed(connection, Wanted(ids=ids), most=len(ids))
    if missing := sorted(set(ids) - {row["id"] for row in rows}):
        raise UserError(f"There is no target {', '.join(map(str, missing[:10]))}.")
    for row in rows:
        if row["tos_approved_by"] is None:
            raise RunRefused(not_approved(row["source_id"]))
    for adapter_id, source_id in sorted({(row["adapter_id"], row["source_id"]) for row in rows}):
        adapter_status.begin(connection, adapter_id, source_id)
    return ids
