"""Who may come in: one decision for every request, for pages, the API and scrapyd's own alike.

A browser is let in by its session's cookie, a program by its name and password. In a browser, whatever
changes something must come from our own pages and carry their token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from sqlalchemy import Engine

from pricewatch.store.people import web_sessions
from pricewatch.web.configuration import Configuration, is_loopback

COOKIE = "pricewatch_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ANYBODY = "local"
_FOREIGN = frozenset({"cross-site", "same-site"})


@dataclass(frozen=True, slots=True)
class AuthResult:
    """How a request came through, or why not: `status` is 200 for those who may come in."""

    status: int
    person: str = ""
    # What the token of forms is made from; empty for programs.
    session: str = ""
    reason: str = ""
    wait: float = 0.0
    is_browser: bool = False

    @property
    def token(self) -> str:
        return form_token(self.session) if self.session else ""


class Auth:
    def __init__(self, configuration: Configuration, engine: Engine):
        self.configuration = configuration
        self.engine = engine

    def judge(self, method: str, headers: Mapping[str, str], address: str, now: datetime) -> AuthResult:
        """Header names are in small letters."""
        browser = is_browser(headers)
        if method not in SAFE and not _is_own_page(headers):
            return AuthResult(403, reason="This request was made by another site's page.", is_browser=browser)
        session = _cookie(headers.get("cookie", ""))
        if self.configuration.is_open:
            # A name that leads here from a page elsewhere is not one of this machine.
            if not is_loopback(_host(headers.get("host", ""))):
                return AuthResult(
                    421, reason="Without a password only this machine's own names are answered."
                )
            return AuthResult(200, ANYBODY, session, is_browser=browser)
        if authorization := headers.get("authorization"):
            return self._with_password(authorization, session, address, now, browser)
        if session:
            with self.engine.begin() as connection:
                person = web_sessions.person_of(connection, session, now)
            if person is not None:
                return AuthResult(200, person, session, is_browser=browser)
        return AuthResult(401, reason="Log in first.", is_browser=browser)

    def _with_password(
        self, authorization: str, session: str, address: str, now: datetime, browser: bool
    ) -> AuthResult:
        kind, _, text = authorization.partition(" ")
        try:
            name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            kind = ""
        if kind.lower() != "basic":
            return AuthResult(401, reason="Only basic authentication is understood.", is_browser=browser)
        passage = self.check(name, password, address, now)
        return AuthResult(passage.status, passage.person, session, passage.reason, passage.wait, browser)

    def check(self, name: str, password: str, address: str, now: datetime) -> AuthResult:
        """A name and password, from a form or a program; who guesses waits longer each time."""
        with self.engine.begin() as connection:
            wait = web_sessions.seconds_to_wait(connection, address, now)
            if wait > 0:
                return AuthResult(429, reason=f"Too many wrong passwords: wait {wait:.0f} s.", wait=wait)
            wanted = self.configuration
            right = hmac.compare_digest(name.encode(), wanted.username.encode())
            right &= hmac.compare_digest(password.encode(), wanted.password.encode())
            if not right:
                web_sessions.note_failure(connection, address, now)
                return AuthResult(401, reason="That name and password are not right.")
            web_sessions.forget_failures(connection, address)
        return AuthResult(200, name)


def form_token(session: str) -> str:
    """What our own forms carry; made from the cookie, which no other site can read."""
    return hmac.new(session.encode(), b"form", hashlib.sha256).hexdigest()


def is_token_right(session: str, given: str) -> bool:
    return bool(session) and hmac.compare_digest(form_token(session).encode(), given.encode())


def is_browser(headers: Mapping[str, str]) -> bool:
    """Browsers say where a request comes from; programs do not."""
    return "sec-fetch-site" in headers or "origin" in headers


def _is_own_page(headers: Mapping[str, str]) -> bool:
    if headers.get("sec-fetch-site", "") in _FOREIGN:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value[:100] if found else ""


def _host(header: str) -> str:
    return (urlsplit(f"//{header}").hostname or "") if header.isascii() else ""
