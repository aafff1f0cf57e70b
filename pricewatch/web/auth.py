"""Authentication of every request: pages, the API and scrapyd's API alike.

A browser authenticates with a session cookie, a program with a token or with basic authentication. A browser
request that changes something must come from a page of this site and carry its form token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Engine

from pricewatch.rules.access.client_address import client_address
from pricewatch.services.logins import Account, LoginResult, Logins
from pricewatch.vocabulary import AccessRole
from pricewatch.web.configuration import Configuration, is_loopback
from pricewatch.web.cookies import cookie_values
from pricewatch.web.hosts import host_name, is_same_origin

COOKIE = "pricewatch_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# The account when no login is configured.
LOCAL = Account("local", AccessRole.ADMIN)


@dataclass(frozen=True, slots=True)
class AuthResult:
    """`status` is 200 if the request is allowed, else the HTTP status of the refusal."""

    status: int
    account: Account | None = None
    # The form token is derived from it; empty for programs.
    session: str = ""
    reason: str = ""
    retry_after: float = 0.0
    is_browser: bool = False

    @property
    def person(self) -> str:
        return self.account.name if self.account else ""

    @property
    def role(self) -> AccessRole:
        return self.account.role if self.account else AccessRole.READ

    @property
    def token(self) -> str:
        return form_token(self.session) if self.session else ""

    def may(self, needed: str) -> bool:
        return self.account is not None and self.account.role.includes(AccessRole(needed))


class Auth:
    def __init__(self, configuration: Configuration, engine: Engine):
        self.configuration = configuration
        self.logins = Logins(
            engine,
            configuration.username,
            configuration.password,
            limits=configuration.sessions,
            has_client_addresses=bool(configuration.trusted_proxies),
        )

    @property
    def cookie(self) -> str:
        """The name of the session cookie; browsers accept the prefix only from this host and by HTTPS."""
        return f"__Host-{COOKIE}" if self.configuration.secure_cookies else COOKIE

    def client_address(self, peer: str, forwarded_for: str) -> str:
        return client_address(peer, forwarded_for, self.configuration.trusted_proxies)

    def check_request(
        self, method: str, headers: Mapping[str, str], address: str, now: datetime
    ) -> AuthResult:
        """Decide about a request; header names must be in lower case."""
        session = self._session_cookie(headers.get("cookie", ""))
        result = self._check(method, headers, session, address, now)
        return replace(result, is_browser=is_browser(headers))

    def _check(
        self, method: str, headers: Mapping[str, str], session: str, address: str, now: datetime
    ) -> AuthResult:
        if method not in SAFE and not is_same_origin(headers):
            return AuthResult(403, reason="Requests from pages of other sites are refused.")
        if self.configuration.is_open:
            # Against DNS rebinding: a foreign name that resolves to this machine.
            name = host_name(headers.get("host", "")) or ""
            if not is_loopback(name) and name not in self.configuration.allowed_hosts:
                return AuthResult(
                    421, reason="Without a login, use localhost or 127.0.0.1 as the host name of the address."
                )
            return AuthResult(200, LOCAL, session)
        if authorization := headers.get("authorization"):
            return replace(self._check_authorization(authorization, address, now), session=session)
        if session:
            # A page that reloads a part of itself does not keep its session alive.
            account = self.logins.find_session(session, now, is_use="x-fragment" not in headers)
            if account is not None:
                return AuthResult(200, account, session)
        return AuthResult(401, reason="Login required.")

    def _check_authorization(self, authorization: str, address: str, now: datetime) -> AuthResult:
        kind, _, text = authorization.partition(" ")
        if kind.lower() == "bearer":
            result = self.logins.check_token(text.strip(), address, now)
            return _result(result, "The token is unknown, expired or revoked.")
        try:
            name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            kind = ""
        if kind.lower() != "basic":
            return AuthResult(401, reason="Use a bearer token or basic authentication.")
        if account := self.logins.find_token(password, address, now):
            return AuthResult(200, account)
        return self.check_password(name, password, address)

    def check_password(self, name: str, password: str, address: str) -> AuthResult:
        """Check a name and password; each failure makes the next attempt wait longer."""
        return _result(self.logins.check_password(name, password, address), "Wrong name or password.")

    def _session_cookie(self, header: str) -> str:
        return cookie_values(header, (self.cookie,)).get(self.cookie, "")[:100]


def _result(login: LoginResult, reason: str) -> AuthResult:
    if login.account is not None:
        return AuthResult(200, login.account)
    if login.wait:
        reason = f"Too many logins: try again in {max(login.wait, 1):.0f} s."
        return AuthResult(429, reason=reason, retry_after=login.wait)
    return AuthResult(401, reason=reason)


def missing_role(result: AuthResult, needed: AccessRole) -> str:
    """The sentence for a person or program whose role does not suffice."""
    role = result.account.role if result.account else "none"
    return f"This needs the role {needed}: {result.person} has the role {role}. Ask an administrator."


def form_token(session: str) -> str:
    """The CSRF token of forms, derived from the session cookie, which other sites cannot read."""
    return hmac.new(session.encode(), b"form", hashlib.sha256).hexdigest()


def is_token_valid(session: str, token: str) -> bool:
    return bool(session) and hmac.compare_digest(form_token(session).encode(), token.encode())


def is_browser(headers: Mapping[str, str]) -> bool:
    """Browsers send the origin of a request; programs do not."""
    return "sec-fetch-site" in headers or "origin" in headers
