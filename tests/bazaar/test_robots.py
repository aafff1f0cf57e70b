"""robots.txt and what a test can make of it."""

import base64

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor


def test_by_default_only_private_is_closed(visitor: Visitor) -> None:
    answer = visitor.ask("/robots.txt")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.body == b"User-agent: *\nDisallow: /private/\nAllow: /\n"
    assert visitor.ask("/private/diary").status == 200


def test_other_rules_and_back(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots("User-agent: *\nDisallow: /\n", headers={"X-From": "test"})
    answer = visitor.ask("/robots.txt")
    assert (answer.body, answer.headers["X-From"]) == (b"User-agent: *\nDisallow: /\n", "test")
    assert visitor.ask("/c/bikes").status == 200
    bazaar.robots()
    assert b"/private/" in visitor.ask("/robots.txt").body


def test_a_status_without_rules(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(status=503)
    assert visitor.ask("/robots.txt").status == 503


def test_bytes_that_cannot_be_rules(bazaar: Bazaar, visitor: Visitor) -> None:
    body = "User-agent: *".encode("utf-16")
    bazaar.robots(body_base64=base64.b64encode(body).decode())
    assert visitor.ask("/robots.txt").body == body


def test_any_fault_for_a_while(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(action="reset", times=1)
    assert visitor.is_reset("/robots.txt")
    assert visitor.ask("/robots.txt").status == 200


def test_clearing_faults_leaves_robots_alone(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(action="access_denied")
    bazaar.clear_faults()
    assert visitor.ask("/robots.txt").status == 403
