"""ASGI middleware that authenticates every request before the application sees it."""

from __future__ import annotations

import secrets
from dataclasses import replace

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricewatch import clock
from pricewatch.web.auth import Auth, AuthResult
from pricewatch.web.cookies import FLASH, cookie_values
from pricewatch.web.problems import (
    DATABASE_OUTAGES,
    database_problem,
    error_response,
    is_for_program,
    redirect_to_login,
)
from pricewatch.web.server.request_limits import in_megabytes

WITHOUT_LOGIN = ("/static/", "/login", "/favicon.ico")


class AuthMiddleware:
    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        auth: Auth = scope["app"].state.auth
        address = auth.client_address(address_of(scope), ",".join(request.headers.getlist("x-forwarded-for")))
        headers = {name: value for name, value in request.headers.items() if name != "cookie"}
        cookies = cookie_values(request.headers.get("cookie", ""), (auth.cookie, FLASH))
        headers["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        # The framework parses this header for every request: it sees only cookies of this site.
        MutableHeaders(scope=scope)["cookie"] = headers["cookie"]
        try:
            result = await run_in_threadpool(
                auth.check_request, scope["method"], headers, address, clock.now()
            )
        except DATABASE_OUTAGES as error:
            # Handlers of the application see only what is raised behind the middlewares.
            await database_problem(request, error)(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["auth_result"], state["address"] = result, address
        refusal = _refusal(request, result)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if auth.configuration.is_open and not result.session and not is_for_program(request):
            # The form token needs a session cookie even without a login.
            session = secrets.token_urlsafe(32)
            state["auth_result"] = replace(result, session=session)
            send = _with_cookie(send, auth, session)
        await self._app(scope, receive, send)


def _refusal(request: Request, result: AuthResult) -> Response | None:
    if "\x00" in request.url.path or "%00" in str(request.scope.get("query_string", b"")):
        return error_response(request, 400, "The address must not contain NUL characters.")
    length = request.headers.get("content-length") or "0"
    limit = request.app.state.configuration.limits.body_limit(request.url.path.encode())
    if not length.isdecimal() or int(length) > limit:
        return error_response(request, 413, f"The request is larger than {in_megabytes(limit)}.")
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
    """The address of the connection; an application that is called through WSGI has it in the environment."""
    if scope.get("client"):
        return str(scope["client"][0])
    return str(scope.get("wsgi_environ", {}).get("REMOTE_ADDR", ""))


def set_session(headers: MutableHeaders, auth: Auth, session: str) -> None:
    secured = "; Secure" if auth.configuration.secure_cookies else ""
    seconds = int(auth.configuration.sessions.lifetime.total_seconds())
    headers.append(
        "Set-Cookie", f"{auth.cookie}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secured}"
    )


def _with_cookie(send: Send, auth: Auth, session: str) -> Send:
    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            set_session(MutableHeaders(scope=message), auth, session)
        await send(message)

    return send_with_cookie
