"""The request log."""

import time

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor


def test_an_entry_describes_the_request(bazaar: Bazaar, visitor: Visitor) -> None:
    began = time.time()
    visitor.request("/c/bikes?page=2", User_Agent="watcher/1", Host="shop.example", X_Odd="a b")
    (entry,) = bazaar.log()
    assert (entry.method, entry.host, entry.path) == ("GET", "shop.example", "/c/bikes?page=2")
    assert (entry.status, entry.action, entry.proxy) == (200, None, None)
    assert entry.user_agent == "watcher/1"
    assert entry.headers["X-Odd"] == entry.header("x-odd") == "a b"
    assert entry.client.startswith("127.0.0.1:")
    assert began <= entry.time <= time.time()


def test_an_entry_names_the_fault(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("captcha", "/c/bikes")
    bazaar.fault("status", "/c/toys", status=500)
    for path in ("/c/bikes", "/c/toys", "/c/phones"):
        visitor.request(path)
    assert [(entry.status, entry.action) for entry in bazaar.log()] == [
        (200, "captcha"),
        (500, "status"),
        (200, None),
    ]


def test_numbers_continue_and_since_skips_older_entries(bazaar: Bazaar, visitor: Visitor) -> None:
    visitor.request("/c/bikes")
    visitor.request("/nothing")
    first, second = bazaar.log()
    assert second.n == first.n + 1
    assert [entry.n for entry in bazaar.log(since=first.n)] == [second.n]
    bazaar.clear_log()
    assert bazaar.log() == []
    visitor.request("/")
    assert [entry.n for entry in bazaar.log()] == [second.n + 1]


def test_control_requests_are_not_logged_and_get_no_faults(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("reset")
    assert visitor.request("/_control/clock").status == 200
    assert bazaar.log() == []
