"""Login, logout, and the static files, which need no login."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from pricewatch import clock
from pricewatch.store.people import web_sessions
from pricewatch.web.auth import Auth
from pricewatch.web.auth_middleware import set_session
from pricewatch.web.problems import error_response
from pricewatch.web.request_context import Context, PostedForm
from pricewatch.web.templating import MEDIA_TYPES, render, static_file

router = APIRouter()
CACHE_FOREVER = "public, max-age=31536000, immutable"


@router.get("/favicon.ico")
def icon() -> Response:
    """Browsers ask for it on pages without a link to an icon, such as JSON and logs."""
    return Response(
        static_file("mark.svg"),
        media_type=MEDIA_TYPES["svg"],
        headers={"Cache-Control": "public, max-age=86400"},
    )


@router.get("/static/{fingerprint}/{name}")
def static(request: Request, fingerprint: str, name: str) -> Response:
    content = static_file(name)
    if content is None:
        return error_response(request, 404)
    kind = MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(content, media_type=kind, headers={"Cache-Control": CACHE_FOREVER})


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - the name of the query parameter
    if request.app.state.configuration.is_open:
        return RedirectResponse("/", 303)
    return render(request, "login.html", next=_local_path(next), problem=None)


@router.post("/login")
async def log_in(request: Request) -> Response:
    from starlette.concurrency import run_in_threadpool

    form = await request.form(max_files=0, max_fields=10)
    name, password, path = (str(form.get(field) or "") for field in ("username", "password", "next"))
    return await run_in_threadpool(_log_in, request, name, password, _local_path(path))


def _log_in(request: Request, name: str, password: str, path: str) -> Response:
    auth: Auth = request.app.state.auth
    if auth.configuration.is_open:
        return RedirectResponse("/", 303)
    now, address = clock.now(), request.scope["state"]["address"]
    result = auth.check_password(name, password, address)
    if result.account is None:
        headers = {"Retry-After": f"{result.retry_after:.0f}"} if result.retry_after else {}
        return render(
            request, "login.html", code=result.status, headers=headers, next=path, problem=result.reason
        )
    agent, replaced = request.headers.get("user-agent", ""), request.cookies.get(auth.cookie, "")
    session = auth.logins.open_session(result.account, address, agent, now, replaces=replaced)
    response = RedirectResponse(path, 303)
    set_session(response.headers, auth, session)
    return response


@router.post("/logout")
def log_out(context: Context, form: PostedForm) -> Response:
    with context.change("logout", context.person) as connection:
        web_sessions.close_session(connection, context.auth_result.session)
    response = RedirectResponse("/login", 303)
    auth: Auth = context.request.app.state.auth
    response.delete_cookie(auth.cookie, path="/", secure=auth.configuration.secure_cookies)
    return response


def _local_path(text: str) -> str:
    """The path if it is on this site, else the overview: no open redirect."""
    return text if text.startswith("/") and not text.startswith(("//", "/\\")) else "/"
