"""One marketplace for all tests, put back in order after each."""

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
def bazaar(running: Bazaar) -> Iterator[Bazaar]:
    running.clear_log()
    yield running
    running.clear_faults()
    running.robots()
    running.behave(beyond_last="empty", max_rows=90, head="ok")
    running.set_clock(START)


@pytest.fixture
def visitor(bazaar: Bazaar) -> Visitor:
    return Visitor(bazaar.url)
