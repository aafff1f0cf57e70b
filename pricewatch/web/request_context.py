"""One request as the pages see it: who it is, what they gave, a way to the database, an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData, UploadFile

from pricewatch import clock
from pricewatch.store.engine.database import engine
from pricewatch.store.people import audit_log
from pricewatch.store.views import dashboard
from pricewatch.web.auth import AuthResult, is_token_right
from pricewatch.web.templating import render

FLASH = "pricewatch_flash"
LARGEST_UPLOAD = 20 * 2**20


class RequestContext:
    """`read` looks, `change` changes and says in the audit who did so, both in one transaction."""

    def __init__(self, request: Request):
        self.request = request
        self.now: datetime = clock.now()
        self.passage: AuthResult = request.scope["state"]["passage"]
        self.address: str | None = request.scope["state"]["address"]
        self._answered = False

    @property
    def person(self) -> str:
        return self.passage.person

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with engine().connect() as connection:
            yield connection

    @contextmanager
    def change(self, action: str, subject: str, **details: Any) -> Iterator[Connection]:
        with engine().begin() as connection:
            yield connection
            audit_log.note(
                connection,
                person=self.person,
                address=self.address,
                action=action,
                subject=subject,
                now=self.now,
                details=details,
            )

    def render(self, connection: Connection, template: str, **values: Any) -> Response:
        flash = self.request.cookies.get(FLASH)
        response = render(
            self.request,
            template,
            now=self.now,
            nav_counts=dashboard.waiting(connection),
            flash=_read_flash(flash),
            **values,
        )
        if flash:
            response.delete_cookie(FLASH, path="/")
        return response

    def fragment(self, template: str, **values: Any) -> Response:
        """A part of a page that is asked for again and again."""
        return render(self.request, template, now=self.now, **values)

    def back(self, path: str, message: str, *, good: bool = True) -> Response:
        """After a change: to a page that can be loaded again without doing it twice."""
        response = RedirectResponse(path, 303)
        text = quote(f"{'good' if good else 'bad'}:{message[:600]}")
        response.set_cookie(FLASH, text, max_age=60, httponly=True, samesite="strict", path="/")
        return response


class Form:
    """What a person sent from one of our own pages."""

    def __init__(self, data: FormData):
        self._data = data

    def text(self, name: str, most: int = 2_000) -> str:
        value = self._data.get(name)
        return value.replace("\x00", "").strip()[:most] if isinstance(value, str) else ""

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
        content = value.file.read(LARGEST_UPLOAD + 1)
        if len(content) > LARGEST_UPLOAD:
            raise HTTPException(413, f"The file is larger than {LARGEST_UPLOAD // 2**20} MB: split it.")
        return content


def request_context(request: Request) -> RequestContext:
    return RequestContext(request)


async def checked_form(request: Request) -> Form:
    """Refuses a form that does not carry the token of this session's own pages."""
    passage: AuthResult = request.scope["state"]["passage"]
    data = await request.form(max_files=2, max_fields=5_000, max_part_size=LARGEST_UPLOAD)
    given = data.get("token")
    if not is_token_right(passage.session, given if isinstance(given, str) else ""):
        raise HTTPException(403, "This form is out of date: go back, load the page again, and send it anew.")
    return Form(data)


def _read_flash(text: str | None) -> dict[str, str] | None:
    kind, colon, message = unquote(text or "").partition(":")
    return {"tone": "good" if kind == "good" else "bad", "text": message[:600]} if colon else None


AVisit = Annotated[RequestContext, Depends(request_context)]
AForm = Annotated[Form, Depends(checked_form)]
