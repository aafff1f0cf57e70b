"""Authentication of every request: pages, the API and scrapyd's API alike.

A browser authenticates with a session cookie, a program with basic authentication. A browser request that
changes something must come from a page of this site and carry its form token.
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
# The name in the audit log when no login is configured.
LOCAL_PERSON = "local"
_OTHER_SITES = frozenset({"cross-site", "same-site"})


@dataclass(frozen=True, slots=True)
class AuthResult:
    """`status` is 200 if the request is allowed, else the HTTP status of the refusal."""

    status: int
    person: str = ""
    # The form token is derived from it; empty for programs.
    session: str = ""
    reason: str = ""
    retry_after: float = 0.0
    is_browser: bool = False

    @property
    def token(self) -> str:
        return form_token(self.session) if self.session else ""


class Auth:
    def __init__(self, configuration: Configuration, engine: Engine):
        self.configuration = configuration
        self.engine = engine

    def check_request(
        self, method: str, headers: Mapping[str, str], address: str, now: datetime
    ) -> AuthResult:
        """Decide about a request; header names must be in lower case."""
        browser = is_browser(headers)
        if method not in SAFE and not _is_same_origin(headers):
            return AuthResult(
                403, reason="Requests from pages of other sites are refused.", is_browser=browser
            )
        session = _session_cookie(headers.get("cookie", ""))
        if self.configuration.is_open:
            # Against DNS rebinding: a foreign name that resolves to this machine.
            if not is_loopback(_host(headers.get("host", ""))):
                return AuthResult(
                    421, reason="Without a login, use localhost or 127.0.0.1 as the host name of the address."
                )
            return AuthResult(200, LOCAL_PERSON, session, is_browser=browser)
        if authorization := headers.get("authorization"):
            return self._check_authorization(authorization, session, address, now, browser)
        if session:
            with self.engine.begin() as connection:
                person = web_sessions.find_person(connection, session, now)
            if person is not None:
                return AuthResult(200, person, session, is_browser=browser)
        return AuthResult(401, reason="Login required.", is_browser=browser)

    def _check_authorization(
        self, authorization: str, session: str, address: str, now: datetime, browser: bool
    ) -> AuthResult:
        kind, _, text = authorization.partition(" ")
        try:
            name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            kind = ""
        if kind.lower() != "basic":
            return AuthResult(401, reason="Use basic authentication.", is_browser=browser)
        result = self.check_password(name, password, address, now)
        return AuthResult(result.status, result.person, session, result.reason, result.retry_after, browser)

    def check_password(self, name: str, password: str, address: str, now: datetime) -> AuthResult:
        """Check a name and password; each failure makes this address wait longer."""
        with self.engine.begin() as connection:
            wait = web_sessions.seconds_to_wait(connection, address, now)
            if wait > 0:
                reason = f"Too many failed logins: try again in {wait:.0f} seconds."
                return AuthResult(429, reason=reason, retry_after=wait)
            is_valid = hmac.compare_digest(name.encode(), self.configuration.username.encode())
            is_valid &= hmac.compare_digest(password.encode(), self.configuration.password.encode())
            if not is_valid:
                web_sessions.record_failure(connection, address, now)
                return AuthResult(401, reason="Wrong name or password.")
            web_sessions.clear_failures(connection, address)
        return AuthResult(200, name)


def form_token(session: str) -> str:
    """The CSRF token of forms, derived from the session cookie, which other sites cannot read."""
    return hmac.new(session.encode(), b"form", hashlib.sha256).hexdigest()


def is_token_valid(session: str, token: str) -> bool:
    return bool(session) and hmac.compare_digest(form_token(session).encode(), token.encode())


def is_browser(headers: Mapping[str, str]) -> bool:
    """Browsers send the origin of a request; programs do not."""
    return "sec-fetch-site" in headers or "origin" in headers


def _is_same_origin(headers: Mapping[str, str]) -> bool:
    if headers.get("sec-fetch-site", "") in _OTHER_SITES:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _session_cookie(header: str) -> str:
    try:
        cookie = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value[:100] if cookie else ""


def _host(header: str) -> str:
    return (urlsplit(f"//{header}").hostname or "") if header.isascii() else ""
