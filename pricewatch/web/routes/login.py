"""Logging in and out, and the static files, which need no login."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from pricewatch import clock
from pricewatch.store.engine.database import engine
from pricewatch.store.people import web_sessions
from pricewatch.web.auth import COOKIE, Auth
from pricewatch.web.auth_middleware import address_of, set_session
from pricewatch.web.problems import answer
from pricewatch.web.request_context import AForm, AVisit
from pricewatch.web.templating import MEDIA_TYPES, render, static_file

router = APIRouter()
FOR_EVER = "public, max-age=31536000, immutable"


@router.get("/static/{fingerprint}/{name}")
def static(request: Request, fingerprint: str, name: str) -> Response:
    content = static_file(name)
    if content is None:
        return answer(request, 404)
    kind = MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(content, media_type=kind, headers={"Cache-Control": FOR_EVER})


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - the name of the parameter
    if request.app.state.configuration.is_open:
        return RedirectResponse("/", 303)
    return render(request, "login.html", next=_own_path(next), problem=None)


@router.post("/login")
async def log_in(request: Request) -> Response:
    from starlette.concurrency import run_in_threadpool

    form = await request.form(max_files=0, max_fields=10)
    name, password, then = (str(form.get(field) or "") for field in ("username", "password", "next"))
    return await run_in_threadpool(_log_in, request, name, password, _own_path(then))


def _log_in(request: Request, name: str, password: str, then: str) -> Response:
    gate: Auth = request.app.state.gate
    if gate.configuration.is_open:
        return RedirectResponse("/", 303)
    now = clock.now()
    passage = gate.check(name, password, address_of(request.scope), now)
    if passage.status != 200:
        headers = {"Retry-After": f"{passage.wait:.0f}"} if passage.wait else {}
        return render(
            request, "login.html", code=passage.status, headers=headers, next=then, problem=passage.reason
        )
    with engine().begin() as connection:
        session = web_sessions.open_session(connection, passage.person, now)
    response = RedirectResponse(then, 303)
    set_session(response.headers, session, secure=gate.configuration.secure_cookies)
    return response


@router.post("/logout")
def log_out(visit: AVisit, form: AForm) -> Response:
    with engine().begin() as connection:
        web_sessions.close_session(connection, visit.passage.session)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


def _own_path(text: str) -> str:
    """Only ever to a page of ours."""
    return text if text.startswith("/") and not text.startswith(("//", "/\\")) else "/"
