"""ASGI middleware that authenticates every request before the application sees it."""

from __future__ import annotations

import secrets

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricewatch import clock
from pricewatch.web.auth import COOKIE, Auth, AuthResult
from pricewatch.web.problems import error_response, is_for_program, redirect_to_login

WITHOUT_LOGIN = ("/static/", "/login")
MAX_BODY = 25 * 2**20


class AuthMiddleware:
    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        auth: Auth = scope["app"].state.auth
        address = address_of(scope)
        headers = {name: value for name, value in request.headers.items() if name != "cookie"}
        headers["cookie"] = request.headers.get("cookie", "")
        result = await run_in_threadpool(auth.check_request, scope["method"], headers, address, clock.now())
        state = scope.setdefault("state", {})
        state["auth_result"], state["address"] = result, address
        refusal = _refusal(request, result)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if auth.configuration.is_open and not result.session and not is_for_program(request):
            # The form token needs a session cookie even without a login.
            session = secrets.token_urlsafe(32)
            state["auth_result"] = AuthResult(200, result.person, session, is_browser=result.is_browser)
            send = _with_cookie(send, session, secure=auth.configuration.secure_cookies)
        await self._app(scope, receive, send)


def _refusal(request: Request, result: AuthResult) -> Response | None:
    if "\x00" in request.url.path or "%00" in str(request.scope.get("query_string", b"")):
        return error_response(request, 400, "The address must not contain NUL characters.")
    length = request.headers.get("content-length") or "0"
    if not length.isdecimal() or int(length) > MAX_BODY:
        return error_response(request, 413, f"The request is larger than {MAX_BODY // 2**20} MB.")
    if result.status == 200 or (
        result.status == 401 and request.url.path.startswith(WITHOUT_LOGIN) and not result.retry_after
    ):
        return None
    if result.status == 401 and not is_for_program(request) and "authorization" not in request.headers:
        return redirect_to_login(request)
    headers = {"Retry-After": f"{result.retry_after:.0f}"} if result.retry_after else {}
    if result.status == 401 and not result.is_browser:
        headers["WWW-Authenticate"] = 'Basic realm="pricewatch"'
    return error_response(request, result.status, result.reason, headers=headers)


def address_of(scope: Scope) -> str:
    """The client's address; under Twisted only the WSGI environment has it."""
    if scope.get("client"):
        return str(scope["client"][0])
    return str(scope.get("wsgi_environ", {}).get("REMOTE_ADDR", ""))


def set_session(headers: MutableHeaders, session: str, *, secure: bool) -> None:
    secured = "; Secure" if secure else ""
    headers.append(
        "Set-Cookie", f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800{secured}"
    )


def _with_cookie(send: Send, session: str, *, secure: bool) -> Send:
    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            set_session(MutableHeaders(scope=message), session, secure=secure)
        await send(message)

    return send_with_cookie
