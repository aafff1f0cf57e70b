"""Markets: how often each is crawled, switched on and off, scraped now, added by a form of its adapter."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch import adapters
from pricewatch.errors import UserError
from pricewatch.services import add_market
from pricewatch.store.views import market_list, source_list
from pricewatch.store.writing import source_rows, sweep_checkpoints
from pricewatch.vocabulary import Tier
from pricewatch.web.request_context import AForm, AVisit, Form

router = APIRouter()
# What an adapter calls the ends of a price range, and the fields in which people type them.
PRICES = {"min_price_cents": "min_price", "max_price_cents": "max_price"}
TIERS = [str(tier) for tier in Tier]


@router.get("/markets")
def found(visit: AVisit) -> Response:
    with visit.read() as connection:
        rows = market_list.markets(connection)
        stale = {row["id"] for row in rows if market_list.is_stale(row, visit.now)}
        return visit.render(
            connection,
            "markets.html",
            rows=rows,
            stale=stale,
            tiers=TIERS,
            sources=source_list.sources(connection),
        )


@router.get("/markets/add")
def add_form(visit: AVisit, source: str = "") -> Response:
    with visit.read() as connection:
        known = [
            row for row in source_list.sources(connection) if adapters.get(row["adapter_id"]).has_overview()
        ]
        chosen = next((row for row in known if row["id"] == source), known[0] if known else None)
        return visit.render(
            connection,
            "market_add.html",
            sources=known,
            chosen=chosen,
            parameters=adapters.get(chosen["adapter_id"]).search_parameters if chosen else (),
            prices=PRICES,
            currency=adapters.get(chosen["adapter_id"]).currency if chosen else "",
            tiers=TIERS,
        )


@router.post("/markets/add")
def add(visit: AVisit, form: AForm) -> Response:
    market_id, source_id = form.text("id"), form.text("source_id")
    with visit.change("market added", market_id, source=source_id) as connection:
        source = source_rows.find(connection, source_id)
        parameters = adapters.get(source.adapter_id).search_parameters
        add_market.add(connection, _values(form, parameters), source.id)
        if form.flag("approve") and not source.is_approved:
            source_rows.approve(connection, source.id, visit.person, visit.now)
    return visit.back("/markets", f"The market {market_id} is added.")


@router.post("/markets/{market_id}")
def change(visit: AVisit, form: AForm, market_id: str) -> Response:
    given: dict[str, Any] = {}
    if tier := form.text("tier"):
        given["tier"] = tier
    if form.text("enabled"):
        given["enabled"] = form.flag("enabled")
    with visit.change("market changed", market_id, **given) as connection:
        if not market_list.change(connection, market_id, given):
            raise HTTPException(404, f"There is no market {market_id[:80]!r}.")
    told = ", ".join(
        "on" if value is True else "off" if value is False else str(value) for value in given.values()
    )
    return visit.back("/markets", f"{market_id} is now {told}.")


@router.post("/markets/{market_id}/scrape")
def scrape(
    visit: AVisit,
    form: AForm,
    market_id: str,
    spider: Literal["discovery", "sweep", "verification"] = "discovery",
) -> Response:
    with visit.change("scrape now", market_id, spider=spider) as connection:
        job = market_list.scrape_now(connection, market_id, spider)
    return visit.back("/markets", f"A {spider} run of {market_id} is queued as job {job}.")


@router.post("/markets/{market_id}/believe")
def believe(visit: AVisit, form: AForm, market_id: str) -> Response:
    with visit.change("smaller market believed", market_id) as connection:
        counts = sweep_checkpoints.believe(connection, market_id, visit.now)
    return visit.back("/markets", f"{market_id} now has {counts.seen} cards, not {counts.last_complete}.")


@router.post("/sources/{source_id}/approve")
def approve(visit: AVisit, form: AForm, source_id: str) -> Response:
    if not form.flag("read"):
        raise UserError("Say that you have read the site's terms.")
    with visit.change("source approved", source_id) as connection:
        source_rows.approve(connection, source_rows.find(connection, source_id).id, visit.person, visit.now)
    return visit.back("/markets#sources", f"{source_id} is approved by {visit.person}.")


@router.post("/sources/{source_id}/visibility")
def visibility(visit: AVisit, form: AForm, source_id: str) -> Response:
    wanted = form.text("visibility")
    with visit.change("source visibility", source_id, visibility=wanted) as connection:
        source_list.set_visibility(connection, source_id, wanted)
    return visit.back("/markets#sources", f"{source_id} is now {wanted.lower()} for consumers.")


def _values(form: Form, parameters: tuple[str, ...]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "id": form.text("id"),
        "display_name": form.text("display_name"),
        "tier": form.text("tier"),
        "start_pages": form.lines("start_pages"),
        "exclude_keywords": [
            word.strip() for word in form.text("exclude_keywords").split(",") if word.strip()
        ],
        "price_currency": form.text("price_currency", 20),
        "max_listings_per_scrape": form.number("max_listings_per_scrape"),
        "parameters": {},
    }
    for name in (PRICES.get(parameter, parameter) for parameter in parameters):
        if not (value := form.text(name, 200)):
            continue
        if name in (*market_list.SEARCH, *PRICES.values()):
            given[name] = value
        else:
            given["parameters"][name] = value
    return given
