"""The skins of other sites: complete pages, and ground truth with the URLs of each site."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor

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


def fetch(bazaar: Bazaar, path: str, method: str = "GET", body: str | None = None) -> tuple[int, str]:
    response = Visitor(bazaar.url).request(path, method, body)
    return response.status, response.body.decode()


def test_pages_are_complete_and_unknown_paths_are_404(site):
    name, bazaar = site
    status, page = fetch(bazaar, FIRST_PAGES[name])
    assert status == 200
    assert page.rstrip().endswith("</html>")
    assert fetch(bazaar, "/robots.txt") == (200, "User-agent: *\nDisallow: /private/\nAllow: /\n")
    for path in ("/", "/c/bikes", "/item/", "/nothing-at-all/here/"):
        assert fetch(bazaar, path)[0] in ((200, 404) if name in ("sgammo", "mercari") else (404,)), path
    assert fetch(bazaar, FIRST_PAGES[name], "DELETE")[0] == 405


def test_ground_truth_has_the_urls_of_the_site(site):
    name, bazaar = site
    category = {"apartments": "rentals", "mercari": "cameras", "sgammo": "instruments"}.get(name, "bikes")
    here, gone, *_ = [true for true in bazaar.truth(category) if true.state == "on_sale"]
    assert fetch(bazaar, here.url)[0] == 200
    bazaar.change(gone.id, end="410")
    # The page is the same for every item; only the JSON says that it is gone.
    assert fetch(bazaar, gone.url)[0] == (200 if name == "mercari" else 410)


def test_the_json_api_of_mercari() -> None:
    with Bazaar.start(seed=5, listings=300, skin="mercari") as bazaar:
        bazaar.behave(max_rows=10)
        order = {"categoryId": "cameras", "status": "on_sale", "pageToken": "v1:1"}
        status, text = fetch(bazaar, "/v2/entities:search", "POST", json.dumps(order))
        found = json.loads(text)
        assert (status, len(found["items"]), found["meta"]["nextPageToken"]) == (200, 10, "v1:2")
        users = next(item for item in found["items"] if item["itemType"] == "ITEM_TYPE_MERCARI")
        assert json.loads(fetch(bazaar, f"/items/get?id={users['id']}")[1])["data"]["price"] == int(
            users["price"]
        )
        status, text = fetch(bazaar, "/items/get?id=m1")
        assert (status, json.loads(text)["errors"][0]["code"]) == (404, "RecordNotFoundException")
        assert fetch(bazaar, "/v2/entities:search", "POST", "{")[0] == 200
