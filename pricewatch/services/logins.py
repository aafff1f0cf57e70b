"""Who is logging in: the administrator of the environment, a person, or a program with a token.

Wrong passwords and tokens are counted, see `rules.access.login_delay`; while an attempt has to wait, its
password is not checked at all.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import BoundedSemaphore
from typing import Any

from sqlalchemy import Connection, Engine

from pricewatch import clock
from pricewatch.rules.access.client_address import counted_address
from pricewatch.rules.access.login_delay import is_worth_recording, unknown_name
from pricewatch.rules.access.passwords import TOKEN_PREFIX, name_problem
from pricewatch.services.password_hash import is_password
from pricewatch.store.people import audit_log, login_failures, person_rows, token_rows, web_sessions
from pricewatch.store.people.login_failures import FailureKeys
from pricewatch.vocabulary import AccessRole

# Each check of a password takes a database connection, 64 MB and a fifth of a second of a processor.
CONCURRENT_CHECKS = 2
# Others wait for those, each on a thread that other requests need, too.
WAITING_CHECKS = 6
BUSY_SECONDS = 2.0
UNKNOWN_TOKEN = "?token"  # noqa: S105 - the counter of wrong tokens
LOGIN = "login"
# The latest logins that make an address known, and for how long.
MOST_LOGINS = 100
KNOWN_ADDRESS_FOR = timedelta(days=30)
_checks = BoundedSemaphore(CONCURRENT_CHECKS)
_admitted = BoundedSemaphore(CONCURRENT_CHECKS + WAITING_CHECKS)


@dataclass(frozen=True, slots=True)
class Account:
    """Who made a request, and what they may do."""

    # A person's name, or `token NAME`.
    name: str
    role: AccessRole
    # None for the administrator of the environment and for tokens.
    person_id: int | None = None
    # A session ends when this changes.
    credential: str = field(default="", repr=False)
    is_token: bool = False


@dataclass(frozen=True, slots=True)
class LoginResult:
    """`account` is None if the login is refused; then `wait` is the number of seconds to wait, if any."""

    account: Account | None
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionLimits:
    lifetime: timedelta = timedelta(hours=12)
    idle: timedelta = timedelta(minutes=30)


DEFAULT_LIMITS = SessionLimits()


class Logins:
    def __init__(
        self,
        engine: Engine,
        username: str,
        password: str,
        *,
        limits: SessionLimits = DEFAULT_LIMITS,
        has_client_addresses: bool = False,
    ):
        """`has_client_addresses`: addresses are those of clients, not of a reverse proxy."""
        self._engine = engine
        self._username = username
        self._password = password
        self.limits = limits
        self._has_client_addresses = has_client_addresses

    def check_password(self, name: str, password: str, address: str) -> LoginResult:
        """Check a name and password; attempts that are made at the same time follow one another.

        Of too many at once, some are refused unchecked, so that sessions and tokens need not wait for them.
        """
        if not _admitted.acquire(blocking=False):
            return LoginResult(None, BUSY_SECONDS)
        try:
            with _checks:
                return self._check_password(name, password, address)
        finally:
            _admitted.release()

    def _check_password(self, name: str, password: str, address: str) -> LoginResult:
        with self._engine.begin() as connection:
            account, stored = self._find(connection, name)
            counted = account.name if account else unknown_name(name)
            keys = self._keys(address, counted, is_known=account is not None)
            login_failures.lock(connection, keys)
            now = clock.now()
            wait = login_failures.seconds_to_wait(connection, keys, now)
            if wait and account is not None and _has_logged_in(connection, account.name, address, now):
                # Failures from elsewhere do not lock out a person who is where they usually are.
                wait = login_failures.seconds_to_wait(connection, FailureKeys(keys.pair), now)
            if wait:
                return LoginResult(None, wait)
            if self._is_right(account, password, stored) and account is not None:
                login_failures.clear(connection, keys)
                return LoginResult(account)
            self._count(connection, keys, account.name if account else "unknown", "password", address)
        return LoginResult(None)

    def check_token(self, token: str, address: str, now: datetime) -> LoginResult:
        """Check a token. A valid one never waits: nobody can guess one, so nobody may block it either."""
        account = self.find_token(token, address, now)
        if account is not None:
            return LoginResult(account)
        with self._engine.begin() as connection:
            keys = self._keys(address, UNKNOWN_TOKEN, is_known=False)
            login_failures.lock(connection, keys)
            if wait := login_failures.seconds_to_wait(connection, keys, clock.now()):
                return LoginResult(None, wait)
            self._count(connection, keys, "unknown", "token", address)
        return LoginResult(None)

    def find_token(self, token: str, address: str, now: datetime) -> Account | None:
        """Return the account of a valid token and record its use."""
        if not token.startswith(TOKEN_PREFIX):
            return None
        with self._engine.begin() as connection:
            row = token_rows.find_valid(connection, token, now)
            if row is None:
                return None
            last_used_at = row["last_used_at"]
            if last_used_at is None or now - last_used_at >= token_rows.USE_RECORDED_EVERY:
                token_rows.record_use(connection, row["id"], address, now)
        return Account(f"token {row['name']}", AccessRole(row["role"]), is_token=True)

    def open_session(
        self, account: Account, address: str, user_agent: str, now: datetime, *, replaces: str = ""
    ) -> str:
        """Open a session with a new token, never with one that the browser already had."""
        with self._engine.begin() as connection:
            if replaces:
                web_sessions.close_session(connection, replaces)
            token = web_sessions.open_session(
                connection,
                account.name,
                now,
                lifetime=self.limits.lifetime,
                credential=account.credential,
                person_id=account.person_id,
                address=address,
                user_agent=user_agent,
            )
            if account.person_id is not None:
                person_rows.record_login(connection, account.person_id, now)
            audit_log.record_action(
                connection,
                person=account.name,
                address=address,
                action=LOGIN,
                subject=account.name,
                now=now,
            )
        return token

    def find_session(self, token: str, now: datetime, *, is_use: bool = True) -> Account | None:
        """Return the account of a session, unless its password or role has changed since the login."""
        with self._engine.begin() as connection:
            row = web_sessions.find_session(connection, token, now, self.limits.idle)
            if row is None:
                return None
            account = self._account_of(row)
            if account is None or not hmac.compare_digest(
                web_sessions.credential_digest(token, account.credential), row["credential"]
            ):
                web_sessions.close_session(connection, token)
                return None
            if is_use and now - row["last_seen_at"] >= web_sessions.USE_RECORDED_EVERY:
                web_sessions.record_use(connection, row["id"], now)
        return account

    def _account_of(self, session: dict[str, Any]) -> Account | None:
        if session["person_id"] is None:
            return self._administrator() if session["person"] == self._username else None
        return _person_account({**session, "id": session["person_id"]}) if session["enabled"] else None

    def _administrator(self) -> Account:
        credential = f"{self._username}\x00{self._password}"
        return Account(self._username, AccessRole.ADMIN, credential=credential)

    def _find(self, connection: Connection, name: str) -> tuple[Account | None, str | None]:
        """Return the account of a name and its password hash; the administrator's password has no hash."""
        if self._username and name == self._username:
            return self._administrator(), None
        name = name.strip().lower()
        person = None if name_problem(name) else person_rows.find(connection, name)
        if person is None or not person["enabled"]:
            return None, None
        return _person_account(person), person["password_hash"]

    def _is_right(self, account: Account | None, password: str, stored: str | None) -> bool:
        if account is not None and account.person_id is None:
            is_administrator = hmac.compare_digest(
                password.encode(errors="replace"), self._password.encode(errors="replace")
            )
            # Takes as long as a wrong password of anybody else.
            return is_administrator or is_password(password, None)
        return is_password(password, stored)

    def _keys(self, address: str, name: str, *, is_known: bool) -> FailureKeys:
        return FailureKeys.of(
            counted_address(address), name, is_known=is_known, count_address=self._has_client_addresses
        )

    def _count(self, connection: Connection, keys: FailureKeys, name: str, kind: str, address: str) -> None:
        # Not the time of the request: other attempts and the check itself took their time.
        now = clock.now()
        failures = login_failures.add(connection, keys, now)
        if is_worth_recording(failures):
            audit_log.record_failed_login(
                connection, person=name, address=address, subject=kind, now=now, failures=failures
            )


def _has_logged_in(connection: Connection, name: str, address: str, now: datetime) -> bool:
    """Whether this person has recently logged in from this address."""
    logins = audit_log.find_entries(connection, most=MOST_LOGINS, person=name, action=LOGIN)
    return any(
        counted_address(entry["address"] or "") == counted_address(address)
        and entry["at"] > now - KNOWN_ADDRESS_FOR
        for entry in logins
    )


def _person_account(person: dict[str, Any]) -> Account:
    credential = f"{person['id']}\x00{person['role']}\x00{person['password_hash']}"
    return Account(person["name"], AccessRole(person["role"]), person["id"], credential)
