"""Fixtures of the web tests: a client in this process, and a server in its own process for browsers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from a2wsgi import ASGIMiddleware

from pricewatch.web.app import create_app
from pricewatch.web.configuration import Configuration
from tests.conftest import Crawl
from tests.databases import Database

BROWSER = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}
OPEN = Configuration()
PASSWORD = Configuration("ada", "correct horse")


def client_of(configuration: Configuration = OPEN, **options: Any) -> httpx.Client:
    """A client of the application, called through WSGI as the daemon does."""
    application: Any = create_app(configuration)
    served: Any = ASGIMiddleware(application)
    return httpx.Client(transport=httpx.WSGITransport(app=served), base_url="http://127.0.0.1", **options)


@pytest.fixture
def client(database: Database) -> Iterator[httpx.Client]:
    """A program on this machine; no password is set."""
    with client_of() as client:
        yield client


class Browser:
    """Submits forms as a browser does, with the token of their page."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def token(self, page: str = "/markets") -> str:
        found = re.search(r'name="token" value="(\w+)"', self.client.get(page, headers=BROWSER).text)
        assert found
        return found[1]

    def post(self, path: str, page: str = "/markets", **fields: object) -> httpx.Response:
        data = {"token": self.token(page), **fields}
        return self.client.post(path, data=data, headers=BROWSER)


@pytest.fixture
def browser(client: httpx.Client) -> Browser:
    return Browser(client)


@pytest.fixture
def serve(crawl: Crawl) -> Callable[..., str]:
    """Start `scrapy web` in its own process and return its address."""

    def start(**environment: str) -> str:
        process = crawl.command("web", "--port", "0", **environment)
        while process.is_running():
            if address := process._written()[0].strip():
                return address.rstrip("/")
            time.sleep(0.05)
        raise AssertionError(process.end())

    return start
