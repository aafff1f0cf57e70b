"""The context of one request: the person, the submitted form, database connections and responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData, UploadFile

from pricewatch import clock
from pricewatch.services.people_admin import AdminAction
from pricewatch.store.engine.database import engine
from pricewatch.store.views import dashboard
from pricewatch.vocabulary import AccessRole
from pricewatch.web.auth import AuthResult, is_token_valid, missing_role
from pricewatch.web.cookies import FLASH
from pricewatch.web.server.request_limits import RequestLimits
from pricewatch.web.templating import render

MAX_SECRET = 1_000


class RequestContext:
    """`read` gives a connection; `change` a transaction that also writes to the audit log."""

    def __init__(self, request: Request):
        self.request = request
        self.now: datetime = clock.now()
        self.auth_result: AuthResult = request.scope["state"]["auth_result"]
        self.address: str | None = request.scope["state"]["address"]

    @property
    def person(self) -> str:
        return self.auth_result.person

    @property
    def actor(self) -> AdminAction:
        return AdminAction(self.person, self.now, self.address)

    def require(self, needed: AccessRole) -> None:
        """Refuse a part of a form that needs more than the role of its route."""
        if not self.auth_result.may(needed):
            raise HTTPException(403, missing_role(self.auth_result, needed))

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with engine().connect() as connection:
            yield connection

    @contextmanager
    def change(self, action: str, subject: str, **details: Any) -> Iterator[Connection]:
        with engine().begin() as connection:
            yield connection
            self.actor.record(connection, action, subject, **details)

    def render(self, connection: Connection, template: str, **values: Any) -> Response:
        flash = self.request.cookies.get(FLASH)
        response = render(
            self.request,
            template,
            now=self.now,
            nav_counts=dashboard.count_waiting_work(connection),
            flash=_read_flash(flash),
            **values,
        )
        if flash:
            response.delete_cookie(FLASH, path="/")
        return response

    def fragment(self, template: str, **values: Any) -> Response:
        """Render a part of a page, which the browser reloads while the page is open."""
        return render(self.request, template, now=self.now, **values)

    def redirect(self, path: str, message: str, *, good: bool = True) -> Response:
        """Redirect after a change, so that reloading the page does not repeat it; show the message there."""
        response = RedirectResponse(path, 303)
        # No slash either: values with one are sent in quotes.
        text = quote(f"{'good' if good else 'bad'}:{message.strip()[:600]}", safe="")
        response.set_cookie(FLASH, text, max_age=60, httponly=True, samesite="strict", path="/")
        return response


class Form:
    """The fields of a submitted form."""

    def __init__(self, data: FormData, limits: RequestLimits):
        self._data = data
        self.limits = limits

    def text(self, name: str, most: int = 2_000) -> str:
        value = self._data.get(name)
        return value.replace("\x00", "").strip()[:most] if isinstance(value, str) else ""

    def secret(self, name: str) -> str:
        """A password as it was typed, spaces included."""
        value = self._data.get(name)
        return value[:MAX_SECRET] if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        return [value for value in self._data.getlist(name) if isinstance(value, str)]

    def numbers(self, name: str) -> list[int]:
        return [
            int(text) for text in self.texts(name) if text.isascii() and text.isdigit() and len(text) < 18
        ]

    def number(self, name: str) -> int | None:
        text = self.text(name)
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise HTTPException(400, f"{name.replace('_', ' ')} must be a whole number.")
        return int(text)

    def flag(self, name: str) -> bool:
        return self.text(name) in ("on", "yes", "true", "1")

    def lines(self, name: str) -> list[str]:
        return [line.strip() for line in self.text(name, 20_000).splitlines() if line.strip()]

    def upload(self, name: str) -> bytes:
        value = self._data.get(name)
        if not isinstance(value, UploadFile):
            return b""
        return value.file.read(self.limits.csv + 1)


def request_context(request: Request) -> RequestContext:
    return RequestContext(request)


async def checked_form(request: Request) -> AsyncIterator[Form]:
    """Refuse a form without the token of this session; uploaded files are closed after the response."""
    result: AuthResult = request.scope["state"]["auth_result"]
    limits: RequestLimits = request.app.state.configuration.limits
    async with request.form(max_files=2, max_fields=5_000, max_part_size=limits.csv) as data:
        token = data.get("token")
        if not is_token_valid(result.session, token if isinstance(token, str) else ""):
            raise HTTPException(403, "This form has expired: go back, reload the page and submit it again.")
        yield Form(data, limits)


def _read_flash(text: str | None) -> dict[str, str] | None:
    kind, colon, message = unquote(text or "").partition(":")
    return {"tone": "good" if kind == "good" else "bad", "text": message[:600]} if colon else None


Context = Annotated[RequestContext, Depends(request_context)]
PostedForm = Annotated[Form, Depends(checked_form)]
