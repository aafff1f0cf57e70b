"""The control interface: validation, manual changes, reset."""

import json
from datetime import UTC, datetime

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.bazaar.conftest import START
from tests.bazaar.visitor import Visitor


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("clock", "{", "The body is not JSON"),
        ("clock", "[]", "The body must be a JSON object."),
        ("clock", "{}", "advance is missing."),
        ("clock", '{"advance": "a day"}', "advance must be a number."),
        ("clock", '{"advance": NaN}', "advance must be a number."),
        ("clock", '{"advance": 1e12}', "twenty years"),
        ("clock", '{"now": "soon"}', "now must be a date in ISO 8601."),
        ("faults", '{"action": "explode"}', "action must be one of access_denied,"),
        ("faults", '{"action": "reset", "path": "("}', "path is not a regular expression"),
        ("faults", '{"action": "reset", "tmies": 1}', "Unknown fields: tmies."),
        ("faults", '{"action": "reset", "times": -1}', "times must be a whole number"),
        ("faults", '{"action": "status", "status": 99}', "status must be a whole number from 200 to 599."),
        ("faults", '{"action": "status", "headers": {"A": "b\\r\\nC: d"}}', "cannot be sent."),
        ("faults", '{"action": "redirect"}', "to is missing."),
        ("faults", '{"action": "respond", "body_base64": "?"}', "body_base64 is not base64"),
        ("robots", '{"action": "explode"}', "action must be one of"),
        (
            "behaviour",
            '{"beyond_last": "last"}',
            "beyond_last must be one of empty, first,",
        ),
        ("behaviour", '{"max_rows": 0}', "max_rows must be a whole number from 1 to 1000."),
        ("listing", '{"id": "1", "price": 5}', "Unknown listing: 1."),
        (
            "listing",
            '{"new": {"category": "boats", "title": "x", "price": 1}}',
            "Unknown category: boats.",
        ),
        ("listing", '{"new": {"category": "toys", "title": " ", "price": 1}}', "title must not be empty."),
        (
            "listing",
            '{"new": {"category": "toys", "title": "x", "price": 0}}',
            "price must be a whole number",
        ),
    ],
)
def test_invalid_input_is_answered_with_400_and_a_message(
    visitor: Visitor, name: str, body: str, message: str
) -> None:
    answer = visitor.request(f"/_control/{name}", "POST", body)
    assert answer.status == 400
    error = json.loads(answer.body)["error"]
    assert message in error
    assert error.endswith(".")


def test_a_change_without_changed_fields_is_rejected(bazaar: Bazaar, visitor: Visitor) -> None:
    listing = bazaar.truth("toys")[0]
    answer = visitor.request("/_control/listing", "POST", json.dumps({"id": listing.id}))
    assert (answer.status, b"Say what to change" in answer.body) == (400, True)


@pytest.mark.parametrize("target", ["/_control/truth?category=boats", "/_control/log?since=x"])
def test_invalid_query_parameters_are_rejected(visitor: Visitor, target: str) -> None:
    assert visitor.request(target).status == 400


def test_unknown_paths_are_404_and_unsupported_methods_405(visitor: Visitor) -> None:
    assert visitor.request("/_control/nothing").status == 404
    assert visitor.request("/_control/truth", "POST", "{}").status == 405


def test_a_rejected_fault_is_not_added(bazaar: Bazaar, visitor: Visitor) -> None:
    visitor.request("/_control/faults", "POST", '{"action": "reset", "nonsense": true}')
    assert bazaar.faults() == []


def test_a_manual_change_cancels_planned_changes(bazaar: Bazaar) -> None:
    chosen = {one.url: one.id for one in bazaar.truth("phones") if one.state == "on_sale"}
    for listing_id in chosen.values():
        bazaar.change(listing_id, price=77700)
    bazaar.advance(days=60)
    later = [one for one in bazaar.truth("phones") if one.url in chosen]
    assert {(one.price, one.state) for one in later} == {(77700, "on_sale")}
    assert all(one.prices == sorted(one.prices) for one in later)


def test_reset_restores_the_initial_state(bazaar: Bazaar, visitor: Visitor) -> None:
    before, page = bazaar.truth(), visitor.request("/c/bikes").body
    on_sale = next(each for each in before if each.state == "on_sale")
    bazaar.change(on_sale.id, price=1)
    bazaar.add("bikes", "New", 100)
    bazaar.fault("status", status=500)
    bazaar.robots("User-agent: *\nDisallow: /\n")
    bazaar.behave(head="405")
    bazaar.advance(days=3)
    bazaar.reset(START)
    assert bazaar.now() == START
    assert (bazaar.truth(), bazaar.faults(), bazaar.log()) == (before, [], [])
    assert visitor.request("/c/bikes").body == page
    assert b"Disallow: /private/" in visitor.request("/robots.txt").body
    assert visitor.request("/c/bikes", "HEAD").status == 200


def test_reset_without_a_start_time_starts_now(bazaar: Bazaar) -> None:
    bazaar.reset()
    assert abs((bazaar.now() - datetime.now(UTC)).total_seconds()) < 60
    bazaar.reset(START)
