"""The log of requests."""

import os
import signal
import socket
import sys
import time
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor


def test_it_tells_everything_about_a_request(bazaar: Bazaar, visitor: Visitor) -> None:
    began = time.time()
    visitor.ask("/c/bikes?page=2", User_Agent="watcher/1", Host="shop.example", X_Odd="a b")
    (entry,) = bazaar.log()
    assert (entry.method, entry.host, entry.path) == ("GET", "shop.example", "/c/bikes?page=2")
    assert (entry.status, entry.action, entry.proxy) == (200, None, None)
    assert entry.user_agent == "watcher/1"
    assert entry.headers["X-Odd"] == entry.header("x-odd") == "a b"
    assert entry.client.startswith("127.0.0.1:")
    assert began <= entry.time <= time.time()


def test_it_names_the_fault(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("captcha", "/c/bikes")
    bazaar.fault("status", "/c/toys", status=500)
    for path in ("/c/bikes", "/c/toys", "/c/phones"):
        visitor.ask(path)
    assert [(entry.status, entry.action) for entry in bazaar.log()] == [
        (200, "captcha"),
        (500, "status"),
        (200, None),
    ]


def test_numbers_go_on_and_since_leaves_out_the_old(bazaar: Bazaar, visitor: Visitor) -> None:
    visitor.ask("/c/bikes")
    visitor.ask("/nothing")
    first, second = bazaar.log()
    assert second.n == first.n + 1
    assert [entry.n for entry in bazaar.log(since=first.n)] == [second.n]
    bazaar.clear_log()
    assert bazaar.log() == []
    visitor.ask("/")
    assert [entry.n for entry in bazaar.log()] == [second.n + 1]


def test_control_is_neither_logged_nor_faulted(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.fault("reset")
    assert visitor.ask("/_control/clock").status == 200
    assert bazaar.log() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells when bytes came")
def test_it_has_when_a_request_came_however_busy_the_marketplace_is(bazaar: Bazaar) -> None:
    """The budget is read from this log: a marketplace that is late must not blame the visitor."""
    place = urlsplit(bazaar.url)
    with socket.create_connection((place.hostname or "", place.port or 0)) as early:
        assert bazaar.pid is not None
        os.kill(bazaar.pid, signal.SIGSTOP)
        sent = time.time()
        early.sendall(b"GET /c/bikes HTTP/1.1\r\nHost: shop.example\r\n\r\n")
        time.sleep(0.5)
        os.kill(bazaar.pid, signal.SIGCONT)
        early.recv(1)
    (entry,) = bazaar.log()
    assert abs(entry.time - sent) < 0.3
