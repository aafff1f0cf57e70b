"""Tokens of programs: make and revoke. A token is shown once, on the page that answers its form."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.services import token_admin
from pricewatch.store.engine.database import engine
from pricewatch.store.people import token_rows
from pricewatch.web.form_fields import Id
from pricewatch.web.request_context import Context, PostedForm, RequestContext
from pricewatch.web.routes.people import ROLES

router = APIRouter(prefix="/tokens")


@router.get("")
def list_page(context: Context) -> Response:
    return _page(context)


@router.post("")
def make(context: Context, form: PostedForm) -> Response:
    name = form.text("name")
    with engine().begin() as connection:
        _, made = token_admin.make(
            connection,
            context.actor,
            name=name,
            role=form.text("role"),
            expires_days=form.number("expires_days"),
        )
    return _page(context, made, name)


@router.post("/{token_id}/revoke")
def revoke(context: Context, form: PostedForm, token_id: Id) -> Response:
    with engine().begin() as connection:
        name = token_admin.revoke(connection, context.actor, token_id=token_id)
    return context.redirect("/tokens", f"The token {name} is revoked.")


def _page(context: RequestContext, made: str = "", made_name: str = "") -> Response:
    with context.read() as connection:
        return context.render(
            connection,
            "tokens.html",
            tokens=token_rows.find_tokens(connection),
            roles=ROLES,
            made=made,
            made_name=made_name,
        )
