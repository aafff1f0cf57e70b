"""Markets: list, add with the search parameters of their adapter, change, and scrape now; and sources."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from sqlalchemy import Connection

from pricewatch import adapters
from pricewatch.errors import UserError
from pricewatch.services import add_market
from pricewatch.store.source_registry import source_rows
from pricewatch.store.views import market_list, source_list
from pricewatch.store.writing import sweep_checkpoints
from pricewatch.vocabulary import AccessRole, Tier
from pricewatch.web.request_context import Context, Form, PostedForm, RequestContext

router = APIRouter()
# The price parameters of an adapter, and the form fields in which people type them.
PRICES = {"min_price_cents": "min_price", "max_price_cents": "max_price"}
TIERS = [str(tier) for tier in Tier]


@router.get("/markets")
def list_page(context: Context) -> Response:
    with context.read() as connection:
        rows = market_list.markets(connection)
        stale = {row["id"] for row in rows if market_list.is_stale(row, context.now)}
        return context.render(
            connection,
            "markets.html",
            rows=rows,
            stale=stale,
            tiers=TIERS,
            sources=source_list.sources(connection),
        )


@router.get("/markets/add")
def add_form(context: Context, source: str = "") -> Response:
    with context.read() as connection:
        sources = [
            row for row in source_list.sources(connection) if adapters.get(row["adapter_id"]).has_overview()
        ]
        chosen = next((row for row in sources if row["id"] == source), sources[0] if sources else None)
        return context.render(
            connection,
            "market_add.html",
            sources=sources,
            chosen=chosen,
            parameters=adapters.get(chosen["adapter_id"]).search_parameters if chosen else (),
            prices=PRICES,
            currency=adapters.get(chosen["adapter_id"]).currency if chosen else "",
            tiers=TIERS,
        )


@router.post("/markets/add")
def add(context: Context, form: PostedForm) -> Response:
    market_id, source_id = form.text("id"), form.text("source_id")
    with context.change("market added", market_id, source=source_id) as connection:
        source = source_rows.find(connection, source_id)
        parameters = adapters.get(source.adapter_id).search_parameters
        add_market.add(connection, _values(form, parameters), source.id)
        if form.flag("approve") and not source.is_approved:
            approve_source(connection, context, source.id)
    return context.redirect("/markets", f"The market {market_id} is added.")


@router.post("/markets/{market_id}")
def change(context: Context, form: PostedForm, market_id: str) -> Response:
    changes: dict[str, Any] = {}
    if tier := form.text("tier"):
        changes["tier"] = tier
    if form.text("enabled"):
        changes["enabled"] = form.flag("enabled")
    with context.change("market changed", market_id, **changes) as connection:
        if not market_list.update_market(connection, market_id, changes):
            raise HTTPException(404, f"There is no market {market_id[:80]!r}.")
    state = ", ".join(
        "on" if value is True else "off" if value is False else str(value) for value in changes.values()
    )
    return context.redirect("/markets", f"{market_id} is now {state}.")


@router.post("/markets/{market_id}/scrape")
def scrape(
    context: Context,
    form: PostedForm,
    market_id: str,
    spider: Literal["discovery", "sweep", "verification"] = "discovery",
) -> Response:
    with context.change("scrape now", market_id, spider=spider) as connection:
        job = market_list.scrape_now(connection, market_id, spider)
    return context.redirect("/markets", f"A {spider} run of {market_id} is queued as job {job}.")


@router.post("/markets/{market_id}/believe")
def believe(context: Context, form: PostedForm, market_id: str) -> Response:
    with context.change("smaller market believed", market_id) as connection:
        counts = sweep_checkpoints.accept_partial_cycle(connection, market_id, context.now)
    return context.redirect(
        "/markets", f"The size of {market_id} is now {counts.seen} cards instead of {counts.last_complete}."
    )


@router.post("/sources/{source_id}/approve")
def approve(context: Context, form: PostedForm, source_id: str) -> Response:
    if not form.flag("read"):
        raise UserError("Confirm that you have read the site's terms.")
    with context.change("source approved", source_id) as connection:
        source_rows.approve(
            connection, source_rows.find(connection, source_id).id, context.person, context.now
        )
    return context.redirect("/markets#sources", f"{source_id} is approved by {context.person}.")


@router.post("/sources/{source_id}/visibility")
def visibility(context: Context, form: PostedForm, source_id: str) -> Response:
    value = form.text("visibility")
    with context.change("source visibility", source_id, visibility=value) as connection:
        source_list.set_visibility(connection, source_id, value)
    return context.redirect("/markets#sources", f"{source_id} is now {value.lower()} for consumers.")


def approve_source(connection: Connection, context: RequestContext, source_id: str) -> None:
    """Approve a source along with something else, which needs a lower role."""
    context.require(AccessRole.ADMIN)
    source_rows.approve(connection, source_id, context.person, context.now)
    context.actor.record(connection, "source approved", source_id)


def _values(form: Form, parameters: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {
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
        if name in (*market_list.SEARCH_FIELDS, *PRICES.values()):
            values[name] = value
        else:
            values["parameters"][name] = value
    return values
