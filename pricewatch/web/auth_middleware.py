"""Asks the gate about every request, before anything else looks at it."""

from __future__ import annotations

import secrets

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricewatch import clock
from pricewatch.web.auth import COOKIE, Auth, AuthResult
from pricewatch.web.problems import answer, is_for_program, to_login

WITHOUT_LOGIN = ("/static/", "/login")
LARGEST_BODY = 25 * 2**20


class AuthMiddleware:
    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        gate: Auth = scope["app"].state.gate
        address = address_of(scope)
        headers = {name: value for name, value in request.headers.items() if name != "cookie"}
        headers["cookie"] = request.headers.get("cookie", "")
        passage = await run_in_threadpool(gate.judge, scope["method"], headers, address, clock.now())
        state = scope.setdefault("state", {})
        state["passage"], state["address"] = passage, address
        refusal = _refusal(request, passage)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if gate.configuration.is_open and not passage.session and not is_for_program(request):
            # Without a login a cookie is still what the token of forms is made from.
            session = secrets.token_urlsafe(32)
            state["passage"] = AuthResult(200, passage.person, session, is_browser=passage.is_browser)
            send = _with_cookie(send, session, secure=gate.configuration.secure_cookies)
        await self._app(scope, receive, send)


def _refusal(request: Request, passage: AuthResult) -> Response | None:
    if "\x00" in request.url.path or "%00" in str(request.scope.get("query_string", b"")):
        return answer(request, 400, "A NUL character means nothing here.")
    length = request.headers.get("content-length") or "0"
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        return answer(request, 413, f"More than {LARGEST_BODY // 2**20} MB are not taken.")
    if passage.status == 200 or (
        passage.status == 401 and request.url.path.startswith(WITHOUT_LOGIN) and not passage.wait
    ):
        return None
    if passage.status == 401 and not is_for_program(request) and "authorization" not in request.headers:
        return to_login(request)
    headers = {"Retry-After": f"{passage.wait:.0f}"} if passage.wait else {}
    if passage.status == 401 and not passage.is_browser:
        headers["WWW-Authenticate"] = 'Basic realm="pricewatch"'
    return answer(request, passage.status, passage.reason, headers=headers)


def address_of(scope: Scope) -> str:
    """Whose request it is; under Twisted only WSGI knows."""
    if scope.get("client"):
        return str(scope["client"][0])
    return str(scope.get("wsgi_environ", {}).get("REMOTE_ADDR", ""))


def set_session(headers: MutableHeaders, session: str, *, secure: bool) -> None:
    secured = "; Secure" if secure else ""
    headers.append(
        "Set-Cookie", f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800{secured}"
    )


def _with_cookie(send: Send, session: str, *, secure: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            set_session(MutableHeaders(scope=message), session, secure=secure)
        await send(message)

    return sending
