"""People: who may log in, with which role."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pricewatch.services import people_admin
from pricewatch.store.engine.database import engine
from pricewatch.store.people import person_rows
from pricewatch.vocabulary import AccessRole
from pricewatch.web.request_context import Context, PostedForm

router = APIRouter(prefix="/people")
ROLES = {
    AccessRole.READ: "look at pages, read the API, exports and metrics",
    AccessRole.OPERATE: "also jobs, markets, targets, quarantine, watch rules and alerts",
    AccessRole.ADMIN: "everything: also deploy, sources, adapters, proxies, people, tokens and audit",
}


@router.get("")
def list_page(context: Context) -> Response:
    with context.read() as connection:
        return context.render(
            connection,
            "people.html",
            people=person_rows.find_people(connection),
            roles=ROLES,
            administrator=context.request.app.state.configuration.username,
        )


@router.post("")
def add(context: Context, form: PostedForm) -> Response:
    administrator = context.request.app.state.configuration.username
    with engine().begin() as connection:
        name = people_admin.add(
            connection,
            context.actor,
            name=form.text("name"),
            role=form.text("role"),
            password=form.secret("password"),
            reserved=administrator,
        )
    return context.redirect("/people", f"{name} is added.")


@router.post("/{name}/role")
def change_role(context: Context, form: PostedForm, name: str) -> Response:
    role = form.text("role")
    with engine().begin() as connection:
        people_admin.set_role(connection, context.actor, name, role)
        tokens = people_admin.note_on_tokens(connection, context.actor, name)
    return context.redirect("/people", f"{name} now has the role {role}, and has to log in again. {tokens}")


@router.post("/{name}/password")
def change_password(context: Context, form: PostedForm, name: str) -> Response:
    with engine().begin() as connection:
        people_admin.set_password(connection, context.actor, name, form.secret("password"))
    return context.redirect("/people", f"The password of {name} is changed. {name} has to log in again.")


@router.post("/{name}/enabled")
def change_enabled(context: Context, form: PostedForm, name: str) -> Response:
    enabled = form.flag("enabled")
    with engine().begin() as connection:
        people_admin.set_enabled(connection, context.actor, name, enabled)
        tokens = people_admin.note_on_tokens(connection, context.actor, name)
    if enabled:
        return context.redirect("/people", f"{name} may log in again.")
    return context.redirect("/people", f"{name} can no longer log in. {tokens}")


@router.post("/{name}/remove")
def remove(context: Context, form: PostedForm, name: str) -> Response:
    with engine().begin() as connection:
        people_admin.remove(connection, context.actor, name)
        tokens = people_admin.note_on_tokens(connection, context.actor, name)
    return context.redirect("/people", f"{name} is removed. {tokens}")
