"""The server of `scrapy web`, and what the application knows of its limits."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest

from pricewatch.web.configuration import Configuration
from pricewatch.web.server.request_limits import MEGABYTE, RequestLimits
from tests.databases import Database
from tests.hostile.calls import check, send
from tests.hostile.connections import open_connection
from tests.web.conftest import BROWSER, Browser, client_of


@pytest.mark.slow
def test_scrapy_web_has_the_limits_and_headers_of_the_daemon(
    database: Database, serve: Callable[..., str]
) -> None:
    port = urlsplit(serve()).port
    assert port is not None
    with open_connection(port) as connection:
        connection.begin("POST", "/login", Content_Length=str(2 * MEGABYTE))
        assert connection.answer().status == 413
    assert send(port, "GET", "/", Host="[").status == 400
    answer = send(port, "GET", "/listings")
    assert answer.status == 200
    check(answer, "/listings")


def test_a_csv_file_has_a_limit(database: Database) -> None:
    with client_of(Configuration(limits=RequestLimits(csv=10_000, body=10_000))) as client:
        browser = Browser(client)
        token = browser.token()

        def upload(size: int) -> httpx.Response:
            content = {"file": ("targets.csv", b"url\n" + b"#" * (size - 4))}
            return client.post("/targets/import", data={"token": token}, files=content, headers=BROWSER)

        assert upload(7_000).status_code == 200
        refused = upload(7_001)
        assert refused.status_code == 413
        assert "use `scrapy targets import`" in refused.text.replace("&#39;", "'")
        assert upload(10_000).status_code == 413


def test_browsers_are_told_to_use_https_if_the_public_address_does(database: Database) -> None:
    for is_secure in (True, False):
        with client_of(Configuration(secure_cookies=is_secure)) as client:
            headers = client.get("/listings").headers
            assert ("strict-transport-security" in headers) == is_secure


def test_additional_host_names_are_answered_without_a_login(database: Database) -> None:
    configuration = Configuration(allowed_hosts=frozenset({"prices.lan"}))
    for host, status in (("Prices.LAN:6800", 200), ("evil.example", 421)):
        with client_of(configuration, headers={"Host": host}) as client:
            assert client.get("/listings").status_code == status
