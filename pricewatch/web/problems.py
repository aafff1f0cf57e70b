"""Error responses: a page for people, problem details (RFC 9457) for programs; never a traceback."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel
from sqlalchemy import exc
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from starlette.exceptions import HTTPException

from pricewatch.errors import DatabaseUnavailable, RunRefused, UserError
from pricewatch.web.templating import render

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"
# The last one: all connections of this process are in use.
DATABASE_OUTAGES = (OperationalError, InterfaceError, exc.TimeoutError)


class Problem(BaseModel):
    """Problem details of RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    errors: list[dict[str, Any]] | None = None


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of an endpoint, for the OpenAPI schema."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in (400, 401, 403, 405, 421, 422, 429, 503, *statuses)
    }


def is_for_program(request: Request) -> bool:
    return request.url.path.startswith("/api/") or request.url.path == "/metrics"


def error_response(
    request: Request,
    status: int,
    detail: str | None = None,
    *,
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    title = HTTPStatus(status).phrase
    if is_for_program(request):
        problem = Problem(title=title, status=status, detail=detail, errors=errors)
        return JSONResponse(
            problem.model_dump(exclude_none=True), status, headers=headers, media_type=MEDIA_TYPE
        )
    return render(request, "problem.html", code=status, headers=headers, title=title, detail=detail)


def install(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> Response:
        detail = error.detail if error.detail != HTTPStatus(error.status_code).phrase else None
        if error.status_code == 405 and not is_for_program(request):
            detail = (
                "This address only accepts submitted forms: open the page with the form and send it there."
            )
        return error_response(request, error.status_code, detail, headers=dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        errors = [{"where": ".".join(map(str, each["loc"])), "what": each["msg"]} for each in error.errors()]
        detail = "; ".join(f"{each['where']}: {each['what']}" for each in errors)
        return error_response(request, 422, detail, errors=errors)

    @app.exception_handler(UserError)
    def refused(request: Request, error: UserError) -> Response:
        if isinstance(error, DatabaseUnavailable):
            return error_response(request, 503, str(error))
        return error_response(request, 409 if isinstance(error, RunRefused) else 400, str(error))

    app.add_exception_handler(DBAPIError, database_problem)
    app.add_exception_handler(exc.TimeoutError, database_problem)
    app.add_exception_handler(Exception, unexpected)


def database_problem(request: Request, error: Exception) -> Response:
    """The response to an error of the database, or to its pool having no free connection."""
    if isinstance(error, DataError):
        return error_response(request, 400, "A value is out of range.")
    if not isinstance(error, DATABASE_OUTAGES):
        return unexpected(request, error)
    logger.error("The database did not answer %s: %s", request.url.path, error)
    return error_response(request, 503, "The database did not answer; try again.")


def unexpected(request: Request, error: Exception) -> Response:
    logger.error("%s failed", request.url.path, exc_info=error)
    return error_response(request, 500, "Internal error; see the daemon's log.")


def redirect_to_login(request: Request) -> Response:
    """Redirect to the login page, which leads back to the same page; a submitted form is lost."""
    page = "/"
    if request.method in ("GET", "HEAD"):
        page = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?next={quote(page)}" if page != "/" else "/login", 303)
