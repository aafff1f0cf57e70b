"""robots.txt: the default, and answers set by tests."""

import base64

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.visitor import Visitor


def test_only_private_is_disallowed_by_default(visitor: Visitor) -> None:
    answer = visitor.request("/robots.txt")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.body == b"User-agent: *\nDisallow: /private/\nAllow: /\n"
    assert visitor.request("/private/diary").status == 200


def test_rules_can_be_replaced_and_restored(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots("User-agent: *\nDisallow: /\n", headers={"X-From": "test"})
    answer = visitor.request("/robots.txt")
    assert (answer.body, answer.headers["X-From"]) == (b"User-agent: *\nDisallow: /\n", "test")
    assert visitor.request("/c/bikes").status == 200
    bazaar.robots()
    assert b"/private/" in visitor.request("/robots.txt").body


def test_robots_can_answer_with_a_status(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(status=503)
    assert visitor.request("/robots.txt").status == 503


def test_robots_can_answer_with_any_bytes(bazaar: Bazaar, visitor: Visitor) -> None:
    body = "User-agent: *".encode("utf-16")
    bazaar.robots(body_base64=base64.b64encode(body).decode())
    assert visitor.request("/robots.txt").body == body


def test_robots_can_have_a_fault_for_a_number_of_times(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(action="reset", times=1)
    assert visitor.is_reset("/robots.txt")
    assert visitor.request("/robots.txt").status == 200


def test_clearing_faults_does_not_reset_robots(bazaar: Bazaar, visitor: Visitor) -> None:
    bazaar.robots(action="access_denied")
    bazaar.clear_faults()
    assert visitor.request("/robots.txt").status == 403
