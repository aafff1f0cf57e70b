"""The sample marketplace is started for a crawl, unless it is running already."""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPException

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.ports import free_port
from tests.spiders.truth import listed, requests_for, stored
from tests.waiting import until


def test_starts_the_marketplace_for_as_long_as_a_crawl_needs_it(database: Database, crawl: Crawl) -> None:
    address = ("127.0.0.1", free_port())
    url = f"http://127.0.0.1:{address[1]}"
    database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=url)
    running = crawl.command("crawl", "discovery", "-a", "market=bazaar-toys", "-a", "max_details=3")
    # Like another crawl that starts later and ends later.
    another = HTTPConnection(*address)
    until(lambda: answers(another))
    outcome = running.end()
    assert outcome.returncode == 0, outcome.stderr
    assert database.value("SELECT count(*) FROM listings") > 100
    assert answers(another)
    another.close()
    until(lambda: is_closed(address))


def is_closed(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(address) != 0


def answers(connection: HTTPConnection) -> bool:
    try:
        connection.request("GET", "/_control/clock")
        return connection.getresponse().read() != b""
    except (OSError, HTTPException):
        connection.close()
        return False


def test_running_marketplace_that_misbehaves_is_not_restarted(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    marketplace.robots(action="reset", times=1)
    outcome = crawl("discovery", market="bazaar-toys", max_details=0)
    assert outcome.returncode == 0, outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert requests_for(marketplace, "/robots.txt")
    assert stored(database, "bazaar-toys") == listed(marketplace, "toys")
