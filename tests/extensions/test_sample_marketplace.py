"""The sample market can be crawled with nothing set up; one that runs already is left alone."""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPException

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.ports import free_port
from tests.spiders.truth import asked, shown, stored
from tests.waiting import until


def test_starts_the_marketplace_for_as_long_as_a_crawl_needs_it(database: Database, crawl: Crawl) -> None:
    place = ("127.0.0.1", free_port())
    url = f"http://127.0.0.1:{place[1]}"
    database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=url)
    running = crawl.command("crawl", "discovery", "-a", "market=bazaar-toys", "-a", "max_details=3")
    # As another crawl does, that began later and goes on for longer.
    another = HTTPConnection(*place)
    until(lambda: answers(another))
    outcome = running.end()
    assert outcome.returncode == 0, outcome.stderr
    assert database.value("SELECT count(*) FROM listings") > 100
    assert answers(another)
    another.close()
    until(lambda: is_silent(place))


def is_silent(place: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(place) != 0


def answers(connection: HTTPConnection) -> bool:
    try:
        connection.request("GET", "/_control/clock")
        return connection.getresponse().read() != b""
    except (OSError, HTTPException):
        connection.close()
        return False


def test_leaves_one_alone_that_is_there_and_misbehaves(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    marketplace.robots(action="reset", times=1)
    outcome = crawl("discovery", market="bazaar-toys", max_details=0)
    assert outcome.returncode == 0, outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert asked(marketplace, "/robots.txt")
    assert stored(database, "bazaar-toys") == shown(marketplace, "toys")
