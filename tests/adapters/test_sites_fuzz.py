"""Damaged pages of all sites: no exception, no wrong price, and a reason for every failure.

Damage does not change digits, because an adapter cannot detect that a page displays a different number.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from lxml import etree, html  # type: ignore[import-untyped]

from pricewatch.adapters import get
from pricewatch.adapters.base import Overview, Presence
from pricewatch.items import Extracted, ExtractFailure, Ok, Quarantine
from pricewatch.rules.validation import validate_offer
from pricewatch.vocabulary import FailureReason
from tests.adapters.site_fixtures import cases, expected, page_body, respond

SITES = ("willhaben", "apartments", "mercari", "sgammo", "bazaar", "books_toscrape")
PAGES = [(site, case) for site in SITES for case in cases(site)]
NOISE = "?§#~xq"
ROUNDS = 40
# Sample size of moves of one element into another; all of them take minutes.
MOVES = 150
EVERY_MOVE = "EVERY_MOVE" in os.environ


def garbled(text: str, chance: random.Random) -> str:
    letters = list(text)
    for _ in range(max(1, len(letters) // 6)):
        if letters:
            place = chance.randrange(len(letters))
            letters[place] = chance.choice(NOISE if letters[place].isdigit() else NOISE + " ")
    return "".join(letters)


def damaged_tree(body: bytes, chance: random.Random) -> bytes:
    root = html.fromstring(body.decode())
    elements = [element for element in root.iter() if isinstance(element.tag, str) and element is not root]
    victim = chance.choice(elements)
    what = chance.choice(("drop", "move", "garble", "attribute", "tag", "twice"))
    if what == "drop" and victim.getparent() is not None:
        victim.drop_tree()
    elif what == "move":
        inside = set(victim.iter())
        moved = copy.deepcopy(victim)
        # The text behind an element is not the element's own.
        moved.tail = None
        victim.drop_tree()
        chance.choice([root, *(one for one in elements if one not in inside)]).append(moved)
    elif what == "twice":
        again = copy.deepcopy(victim)
        again.tail, victim.tail = victim.tail, None
        victim.addnext(again)
    elif what == "attribute" and victim.attrib:
        name = chance.choice(list(victim.attrib))
        victim.set(name, garbled(victim.get(name), chance))
    elif what == "tag":
        victim.tag = "div"
    elif victim.text:
        victim.text = garbled(victim.text, chance)
    return bytes(etree.tostring(root, encoding="utf-8", method="html"))


def containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, (dict, list)) and value else []
    return found + [one for child in inner for one in containers(child)]


def damaged_data(data: Any, chance: random.Random) -> Any:
    data = copy.deepcopy(data)
    place = chance.choice(containers(data))
    key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
    what = chance.choice(("drop", "move", "garble", "null", "kind"))
    if what == "drop":
        del place[key]
    elif what == "move":
        value = place.pop(key)
        other = chance.choice(containers(data) or [data])
        if isinstance(other, list):
            other.insert(0, value)
        elif isinstance(key, str):
            other.setdefault(key, value)
    elif what == "garble" and isinstance(place[key], str):
        place[key] = garbled(place[key], chance)
    else:
        place[key] = None if what == "null" else chance.choice(([], {}, "", [[]], {"a": 1}, True, [None]))
    return data


def damaged(body: bytes, chance: random.Random) -> bytes:
    if body.startswith(b"{"):
        return json.dumps(damaged_data(json.loads(body), chance)).encode()
    mark = b'type="application/json">'
    if mark in body and chance.random() < 0.8:
        start = body.index(mark) + len(mark)
        end = body.index(b"</script>", start)
        data = damaged_data(json.loads(body[start:end]), chance)
        return body[:start] + json.dumps(data).encode() + body[end:]
    return damaged_tree(body, chance)


def right_prices(expectation: dict[str, Any]) -> dict[str, int | None]:
    """The only valid price of each listing of a page; None if there is none.

    A contradictory page gives no price, but `right_price` is valid once damage removes the contradiction.
    """
    rows = expectation.get("cards") or [
        expectation.get("offer") or {"price_cents": expectation.get("right_price")}
    ]
    return {row.get("product_id") or row.get("url", ""): row.get("price_cents") for row in rows}


def check_result(site: str, expectation: dict[str, Any], body: bytes) -> None:
    adapter, response = get(site), respond(expectation["url"], body, expectation.get("status", 200))
    assert isinstance(adapter.presence(response).presence, Presence)
    known = right_prices(expectation)
    if expectation["kind"] == "overview":
        overview = adapter.read_overview(response)
        if isinstance(overview, ExtractFailure):
            assert isinstance(overview.reason, FailureReason)
            assert overview.details
            return
        assert isinstance(overview, Overview)
        for card in overview.cards:
            assert card.url.startswith("https://")
            assert card.title
            if card.price_cents is not None:
                assert card.currency
                # A card with a damaged id may have any price of the page, but no other.
                right = {known.get(card.product_id or card.url, card.price_cents)}
                assert card.price_cents in right & set(known.values())
        return
    result = adapter.extract(response)
    if isinstance(result, Extracted):
        if isinstance(validate_offer(result.offer), Ok):
            assert result.offer.price_cents in known.values()
    else:
        assert isinstance(result, (ExtractFailure, Quarantine))
        assert result.reason
        assert result.details or result.reason is FailureReason.TITLE_NOT_FOUND


@pytest.mark.parametrize(("site", "case"), PAGES, ids=lambda value: value)
def test_damaged_pages_give_no_wrong_price(site, case):
    body, expectation = page_body(site, case), expected(site, case)
    chance = random.Random(f"{site} {case}")
    for _ in range(ROUNDS):
        damaged_body = damaged(body, chance)
        try:
            check_result(site, expectation, damaged_body)
        except Exception as error:
            error.add_note(damaged_body.decode("utf-8", "replace"))
            raise


def moved_everywhere(body: bytes, chance: random.Random) -> Iterator[bytes]:
    """Yield the page with one element removed or moved into another one."""
    places = range(len(_elements(html.fromstring(body.decode()))))
    moves = [(place, other) for place in places for other in (None, *places)]
    for place, other in moves if EVERY_MOVE else chance.sample(moves, min(MOVES, len(moves))):
        root = html.fromstring(body.decode())
        elements = _elements(root)
        victim, target = elements[place], None if other is None else elements[other]
        moved = copy.deepcopy(victim)
        moved.tail = None
        if target is not None and target in set(victim.iter()):
            continue
        victim.drop_tree()
        if target is not None:
            target.append(moved)
        yield bytes(etree.tostring(root, encoding="utf-8", method="html"))


def _elements(root: Any) -> list[Any]:
    elements = [one for one in root.iter() if isinstance(one.tag, str) and one is not root]
    return [one for one in elements if one.tag not in ("head", "title", "meta", "body", "header", "footer")]


@pytest.mark.slow
@pytest.mark.parametrize(("site", "case"), PAGES, ids=lambda value: value)
def test_moved_elements_give_no_wrong_price(site, case):
    body, expectation = page_body(site, case), expected(site, case)
    if body.startswith(b"{"):
        return
    for damaged_body in moved_everywhere(body, random.Random(f"{site} {case}")):
        try:
            check_result(site, expectation, damaged_body)
        except Exception as error:
            error.add_note(damaged_body.decode("utf-8", "replace"))
            raise


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b"\x00\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"items": null, "data": []}',
        b"[" * 100_000,
        b"<html></html>",
        b"<div>" * 3000,
        b'<script id="__NEXT_DATA__">{"props": [1e400, NaN]}</script>',
        "<html lang='fr'><body><h1>Bienvenue</h1><p>Une page : 12,50 €.</p></body></html>".encode(),
    ],
    ids=lambda body: repr(body[:20]),
)
def test_other_content_is_reported_as_failure(site, body):
    adapter = get(site)
    response = respond(f"https://{adapter.domain}/item/m1234567", body)
    assert adapter.presence(response).presence is Presence.UNKNOWN
    for failure in (adapter.extract(response), adapter.read_overview(response)):
        assert isinstance(failure, ExtractFailure)
        assert failure.details


@pytest.mark.parametrize(("site", "case"), PAGES, ids=lambda value: value)
def test_truncated_pages_give_no_wrong_price(site, case):
    body, expectation = page_body(site, case), expected(site, case)
    for share in range(1, 12):
        check_result(site, expectation, body[: len(body) * share // 12])
