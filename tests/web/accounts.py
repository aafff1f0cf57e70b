"""People, tokens and their clients for tests."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx

from pricewatch.services.password_hash import hash_password
from pricewatch.services.people_admin import AdminAction
from pricewatch.services.token_admin import make
from pricewatch.store.people import person_rows
from pricewatch.vocabulary import AccessRole
from tests.databases import Database
from tests.web.conftest import BROWSER

PASSPHRASE = "a violet bicycle"
# The parameters are stored with the hash, so that tests need not wait for the usual ones.
QUICK_HASH = hash_password(PASSPHRASE, cost=16, parallel=1)


def add_person(database: Database, name: str, role: AccessRole) -> None:
    values = {"name": name, "role": role, "password_hash": QUICK_HASH, "by": "test"}
    database.call(person_rows.add, **values, now=datetime.now(UTC))


def make_token(database: Database, role: AccessRole, name: str = "") -> str:
    actor = AdminAction("test", datetime.now(UTC))
    _, token = database.call(make, actor, name=name or f"a {role} program", role=role)
    return str(token)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def log_in(client: httpx.Client, name: str, password: str = PASSPHRASE) -> httpx.Response:
    return client.post("/login", data={"username": name, "password": password}, headers=BROWSER)
