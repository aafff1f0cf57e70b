"""Watch rules, and the messages sent for them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from sqlalchemy import Connection

from pricewatch.rules.watch_conditions import PERCENT_KINDS
from pricewatch.services.notifications import channels
from pricewatch.store.people import outbox, watch_rules
from pricewatch.web.form_fields import Id, percent, price
from pricewatch.web.request_context import Context, Form, PostedForm

router = APIRouter()
MOST = 100


@router.get("/watch")
def list_page(context: Context) -> Response:
    with context.read() as connection:
        return context.render(
            connection,
            "watch.html",
            rules=watch_rules.find_rules(connection, most=MOST),
            messages=outbox.find_messages(connection, most=50),
            channels=sorted(channels()),
        )


@router.post("/watch")
def add(context: Context, form: PostedForm) -> Response:
    listing, product = form.number("listing_id"), form.number("product_id")
    subject = f"listing {listing}" if listing else f"product {product}"
    with context.change("watch rule added", subject, kind=form.text("kind")) as connection:
        watch_rules.add(connection, listing_id=listing, product_id=product, now=context.now, **rule_of(form))
    path = f"/listings/{listing}" if listing else f"/products/{product}"
    return context.redirect(
        path,
        "The watch rule is set. You get one message for each change, and one at once if it is true already.",
    )


@router.get("/watch/{rule_id}")
def edit_page(context: Context, rule_id: Id) -> Response:
    with context.read() as connection:
        rule = _rule(connection, rule_id)
        watched = {name: rule[name] for name in ("listing_id", "product_id", "target_id")}
        currency = rule["currency"] or watch_rules.currency_of(connection, **watched)
        return context.render(
            connection,
            "watch_rule.html",
            rule=rule,
            channels=sorted(channels()),
            currencies=[currency] if currency else [],
        )


@router.post("/watch/{rule_id}")
def edit(context: Context, form: PostedForm, rule_id: Id) -> Response:
    with context.change("watch rule changed", f"rule {rule_id}", kind=form.text("kind")) as connection:
        rule = _rule(connection, rule_id)
        new = rule_of(form)
        # With one channel or none, the form has no choice.
        notify = new.pop("notify") if form.text("channel") else rule["notify"]
        watch_rules.change(
            connection, rule_id, now=context.now, enabled=rule["enabled"], **{**new, "notify": notify}
        )
    return context.redirect("/watch", "The watch rule is changed.")


@router.post("/watch/{rule_id}/pause")
def pause(context: Context, form: PostedForm, rule_id: Id) -> Response:
    return _set_enabled(context, rule_id, enabled=False)


@router.post("/watch/{rule_id}/resume")
def resume(context: Context, form: PostedForm, rule_id: Id) -> Response:
    return _set_enabled(context, rule_id, enabled=True)


def _set_enabled(context: Context, rule_id: int, *, enabled: bool) -> Response:
    done = "resumed" if enabled else "paused"
    with context.change(f"watch rule {done}", f"rule {rule_id}") as connection:
        if not watch_rules.set_enabled(connection, rule_id, context.now, enabled=enabled):
            raise HTTPException(404, f"There is no rule {rule_id}.")
    return context.redirect("/watch", f"The watch rule is {done}.")


def _rule(connection: Connection, rule_id: int) -> dict[str, Any]:
    rule = watch_rules.find_rule(connection, rule_id)
    if rule is None:
        raise HTTPException(404, f"There is no rule {rule_id}.")
    return rule


@router.post("/watch/{rule_id}/remove")
def remove(context: Context, form: PostedForm, rule_id: Id) -> Response:
    with context.change("watch rule removed", f"rule {rule_id}") as connection:
        if not watch_rules.remove(connection, rule_id):
            raise HTTPException(404, f"There is no rule {rule_id}.")
    return context.redirect("/watch", "The watch rule is removed.")


def rule_of(form: Form) -> dict[str, Any]:
    chosen = form.text("channel")
    return {
        "kind": form.text("kind"),
        "threshold": price(form.text("threshold"), form.text("currency"))
        if form.text("kind") == "price_at_or_below"
        else None,
        "threshold_percent": percent(form.text("threshold")) if form.text("kind") in PERCENT_KINDS else None,
        "notify": [chosen] if chosen and chosen in channels() else [],
    }
