"""The marketplace in the shape of other sites: whole pages, and the truth under each site's addresses."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar.client import Bazaar

FIRST_PAGES = {
    "willhaben": "/iad/kaufen-und-verkaufen/marktplatz/bikes",
    "apartments": "/wien-at/",
    "sgammo": "/product-category/instruments/",
    "mercari": "/search?category_id=cameras",
}


@pytest.fixture(params=sorted(FIRST_PAGES))
def site(request: pytest.FixtureRequest) -> Iterator[tuple[str, Bazaar]]:
    with Bazaar.start(seed=5, listings=300, skin=request.param) as bazaar:
        yield request.param, bazaar


def ask(bazaar: Bazaar, path: str, method: str = "GET", body: str | None = None) -> tuple[int, str]:
    place = urlsplit(bazaar.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_pages_are_whole_and_everything_else_is_missing(site):
    name, bazaar = site
    status, page = ask(bazaar, FIRST_PAGES[name])
    assert status == 200
    assert page.rstrip().endswith("</html>")
    assert ask(bazaar, "/robots.txt") == (200, "User-agent: *\nDisallow: /private/\nAllow: /\n")
    for path in ("/", "/c/bikes", "/item/", "/nothing-at-all/here/"):
        assert ask(bazaar, path)[0] in ((200, 404) if name in ("sgammo", "mercari") else (404,)), path
    assert ask(bazaar, FIRST_PAGES[name], "DELETE")[0] == 405


def test_the_truth_has_the_sites_own_addresses(site):
    name, bazaar = site
    category = {"apartments": "rentals", "mercari": "cameras", "sgammo": "instruments"}.get(name, "bikes")
    here, gone, *_ = [true for true in bazaar.truth(category) if true.state == "on_sale"]
    assert ask(bazaar, here.url)[0] == 200
    bazaar.change(gone.id, end="410")
    # A page that a script fills is always the same; its data says that the item is gone.
    assert ask(bazaar, gone.url)[0] == (200 if name == "mercari" else 410)


def test_the_data_behind_a_search_of_mercari() -> None:
    with Bazaar.start(seed=5, listings=300, skin="mercari") as bazaar:
        bazaar.behave(max_rows=10)
        order = {"categoryId": "cameras", "status": "on_sale", "pageToken": "v1:1"}
        status, text = ask(bazaar, "/v2/entities:search", "POST", json.dumps(order))
        found = json.loads(text)
        assert (status, len(found["items"]), found["meta"]["nextPageToken"]) == (200, 10, "v1:2")
        users = next(item for item in found["items"] if item["itemType"] == "ITEM_TYPE_MERCARI")
        assert json.loads(ask(bazaar, f"/items/get?id={users['id']}")[1])["data"]["price"] == int(
            users["price"]
        )
        status, text = ask(bazaar, "/items/get?id=m1")
        assert (status, json.loads(text)["errors"][0]["code"]) == (404, "RecordNotFoundException")
        assert ask(bazaar, "/v2/entities:search", "POST", "{")[0] == 200
