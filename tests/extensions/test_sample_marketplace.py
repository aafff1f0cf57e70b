"""The sample market can be crawled with nothing set up; one that runs already is left alone."""

from __future__ import annotations

import socket

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl, Database
from tests.spiders.truth import asked, shown, stored


def test_starts_the_marketplace_for_as_long_as_the_crawl(database: Database, crawl: Crawl) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=f"http://127.0.0.1:{port}")
    outcome = crawl("discovery", market="bazaar-toys", max_details=3)
    assert outcome.returncode == 0, outcome.stderr
    assert database.value("SELECT count(*) FROM listings") > 100
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0


def test_leaves_one_alone_that_is_there_and_misbehaves(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    marketplace.robots(action="reset", times=1)
    outcome = crawl("discovery", market="bazaar-toys", max_details=0)
    assert outcome.returncode == 0, outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert asked(marketplace, "/robots.txt")
    assert stored(database, "bazaar-toys") == shown(marketplace, "toys")
