"""How pages are fetched and read: chosen in forms and through the API, with an audit row for each change."""

from __future__ import annotations

import httpx

from pricewatch.store.source_registry import price_places
from tests.databases import Database
from tests.store.observations import START
from tests.web.conftest import Browser
from tests.web.test_every_page import visible_text

SOURCE = "SELECT render, needs_browser, price_place FROM sources WHERE id = 'bazaar'"
AUDIT = "SELECT action, subject, details FROM audit ORDER BY id DESC LIMIT 1"
PAGE = "/adapters/bazaar?source=bazaar"


def learn(database: Database) -> None:
    database.do("UPDATE sources SET needs_browser = true WHERE id = 'bazaar'")
    database.call(price_places.remember, "bazaar", "p > b.price", by="pages", now=START)


def test_source_is_changed_on_the_page_of_its_adapter(
    browser: Browser, client: httpx.Client, database: Database
) -> None:
    learn(database)
    shown = visible_text(client, PAGE)
    assert "Learned: product pages show their price only in the browser." in shown
    assert "Its price stands at p > b.price" in shown
    assert "Learned from pages, confirmed on 1 pages" in shown
    done = browser.post("/sources/bazaar/render", page=PAGE, render="always")
    assert (done.status_code, done.headers["location"]) == (303, PAGE)
    assert tuple(database.row(SOURCE)) == ("always", False, "p > b.price")
    assert tuple(database.row(AUDIT)) == ("source: render", "bazaar", {"render": "always"})
    assert '<option value="always" selected>' in client.get(PAGE).text
    assert browser.post("/sources/bazaar/forget-price-place", page=PAGE).status_code == 303
    assert tuple(database.row(SOURCE)) == ("always", False, None)
    assert database.row(AUDIT).action == "price place forgotten"
    assert browser.post("/sources/bazaar/render", page=PAGE, render="maybe").status_code == 400
    assert browser.post("/sources/nobody/render", page=PAGE, render="auto").status_code == 404
    assert database.value("SELECT count(*) FROM audit") == 2


def test_source_is_changed_through_the_api(client: httpx.Client, database: Database) -> None:
    learn(database)
    (bazaar,) = [row for row in client.get("/api/sources").json() if row["id"] == "bazaar"]
    learned = (bazaar["render"], bazaar["needs_browser"], bazaar["price_place"], bazaar["price_place_by"])
    assert learned == ("auto", True, "p > b.price", "pages")
    changed = client.post("/api/sources/bazaar/render", json={"render": "auto"}).json()
    assert (changed["render"], changed["needs_browser"]) == ("auto", False)
    assert client.delete("/api/sources/bazaar/price-place").json()["price_place"] is None
    assert client.post("/api/sources/bazaar/render", json={"render": "inherit"}).status_code == 422
    assert client.post("/api/sources/nobody/render", json={"render": "auto"}).status_code == 404
    assert client.delete("/api/sources/nobody/price-place").status_code == 404
    assert database.value("SELECT count(*) FROM audit") == 2


def test_target_is_changed_through_the_api(client: httpx.Client, database: Database) -> None:
    url = "https://shop.example/1"
    target = client.post("/api/targets", json={"url": url, "render": "always"}).json()
    assert target["render"] == "always"
    assert client.post("/api/targets", json={"url": url, "render": "inherit"}).json()["render"] is None
    path = f"/api/targets/{target['id']}/render"
    assert client.post(path, json={"render": "never"}).json() == {"changed": 1}
    assert client.post(path, json={"render": "never"}).json() == {"changed": 0}
    assert client.get(f"/api/targets/{target['id']}").json()["render"] == "never"
    assert database.row(AUDIT).details == {"render": "never"}
    assert client.post(path, json={"render": "maybe"}).status_code == 422
    assert client.post("/api/targets/999/render", json={"render": "never"}).status_code == 404


def test_targets_are_changed_in_forms(browser: Browser, client: httpx.Client, database: Database) -> None:
    added = browser.post("/targets/add", page="/targets/add", url="https://shop.example/1", render="always")
    assert added.status_code == 303
    target_id = database.value("SELECT id FROM targets")
    assert "browser: always" in visible_text(client, "/targets")
    # The form without a choice keeps the choice of a target that exists.
    browser.post("/targets/add", page="/targets/add", url="https://shop.example/1", render="")
    assert database.value("SELECT render FROM targets") == "always"
    done = browser.post("/targets", page="/targets", id=target_id, action="render", render="inherit")
    assert done.status_code == 303
    assert database.value("SELECT render FROM targets") is None
    assert database.row(AUDIT).details == {"ids": [target_id], "render": "inherit"}
    bad = browser.post("/targets", page="/targets", id=target_id, action="render", render="maybe")
    assert bad.status_code == 400
