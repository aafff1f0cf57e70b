"""One's own account: the password and the sessions."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.errors import UserError
from pricewatch.services import people_admin
from pricewatch.services.logins import Account
from pricewatch.store.engine.database import engine
from pricewatch.store.people import web_sessions
from pricewatch.web.auth import Auth
from pricewatch.web.auth_middleware import set_session
from pricewatch.web.form_fields import Id
from pricewatch.web.request_context import Context, PostedForm, RequestContext

router = APIRouter(prefix="/account")


@router.get("")
def own_page(context: Context) -> Response:
    account, auth = _account(context), _auth(context)
    idle = auth.configuration.sessions.idle
    with context.read() as connection:
        sessions = web_sessions.find_own(connection, account.name, account.person_id, context.now, idle)
        return context.render(
            connection,
            "account.html",
            account=account,
            sessions=[] if account.is_token else sessions,
            this_session=web_sessions.id_of(connection, context.auth_result.session),
            limits=auth.configuration.sessions,
        )


@router.post("/password")
def change_password(context: Context, form: PostedForm) -> Response:
    """Change one's own password, with the current one; other sessions end, and this one gets a new token."""
    account, auth = _account(context), _auth(context)
    if account.person_id is None:
        raise UserError(
            "This password is set in the environment (PRICEWATCH_PASSWORD), and changed there."
            if not account.is_token
            else "A token has no password."
        )
    address, new = context.address or "", form.secret("password")
    if new != form.secret("repeated"):
        return context.redirect("/account", "The two new passwords differ.", good=False)
    checked = auth.check_password(account.name, form.secret("current"), address)
    if checked.status != 200:
        reason = checked.reason if checked.retry_after else "The current password is wrong."
        return context.redirect("/account", reason, good=False)
    with engine().begin() as connection:
        try:
            people_admin.set_password(connection, context.actor, account.name, new)
        except UserError as error:
            return context.redirect("/account", str(error), good=False)
    response = context.redirect("/account", "Your password is changed. All other sessions have ended.")
    changed = auth.check_password(account.name, new, address).account
    if changed is not None and context.auth_result.session:
        agent = context.request.headers.get("user-agent", "")
        set_session(response.headers, auth, auth.logins.open_session(changed, address, agent, context.now))
    return response


@router.post("/sessions/end-others")
def end_others(context: Context, form: PostedForm) -> Response:
    account = _account(context)
    with context.change("sessions ended", account.name) as connection:
        count = web_sessions.close_others(
            connection, account.name, account.person_id, context.auth_result.session
        )
    return context.redirect("/account", f"{count} other sessions ended.")


@router.post("/sessions/{session_id}/end")
def end_one(context: Context, form: PostedForm, session_id: Id) -> Response:
    account = _account(context)
    with context.change("sessions ended", account.name) as connection:
        if not web_sessions.close_own(connection, account.name, account.person_id, session_id):
            raise HTTPException(404, "You have no such session.")
    return context.redirect("/account", "The session has ended.")


def _account(context: RequestContext) -> Account:
    account = context.auth_result.account
    if account is None:
        raise HTTPException(401)
    return account


def _auth(context: RequestContext) -> Auth:
    auth: Auth = context.request.app.state.auth
    return auth
