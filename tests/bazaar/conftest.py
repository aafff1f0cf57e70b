"""One marketplace for all tests, reset before each."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor

START = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def running() -> Iterator[Bazaar]:
    with Bazaar.start(seed=7, listings=600, start=START, proxies=2) as bazaar:
        yield bazaar


@pytest.fixture
def bazaar(running: Bazaar) -> Bazaar:
    running.reset(START)
    return running


@pytest.fixture
def visitor(bazaar: Bazaar) -> Visitor:
    return Visitor(bazaar.url)
