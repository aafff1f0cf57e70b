"""What the generic reader reports besides the offer: places, candidates, explanations, the need for a browser."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from pricewatch.generic_reader import price_features
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.generic_reader.price_weights import MARGIN, WEIGHTS, score_of
from pricewatch.items import Extracted, ExtractFailure, Quarantine
from pricewatch.parsing.prices.price_roles import Role
from tests.generic_reader.pages import buy, extract, ld, outcome, page, product, response

# Two amounts that nothing tells apart: the names say nothing, and each has words of an unknown language.
BARE = (
    "<main><h1>Blue Kettle</h1><div class='x1'>Zaplatite <span>€19.99</span></div>"
    "<div class='x2'>Kaupunki <span>€4.00</span></div><button>Add to cart</button></main>"
)


def test_every_weight_belongs_to_a_feature():
    source = Path(price_features.__file__).read_text()
    names = set(re.findall(r'"([a-z][^"]+)"', source)) | {f"role {role}" for role in Role}
    names |= {f"{kind} says so" for kind in ("json-ld", "microdata", "rdfa", "meta", "state")}
    assert set(WEIGHTS) <= names


def test_unknown_features_do_not_change_the_score():
    assert score_of(["json-ld says so"]) == score_of(["json-ld says so", "role variant"]) != 0


def test_place_of_a_confirmed_price_is_reported():
    result = extract(page(ld(product()) + buy("€19.99")))
    assert isinstance(result, Extracted)
    assert result.price_place == "main > div.product-price"


@pytest.mark.parametrize(
    "body", [buy("€19.99"), ld(product()) + "<h1>Blue Kettle</h1>"], ids=["only displayed", "only stated"]
)
def test_place_needs_two_witnesses(body):
    result = extract(page(body))
    assert isinstance(result, Extracted)
    assert result.price_place == ""


def read_at(place: str, html: str) -> Extracted | ExtractFailure | Quarantine:
    return GenericAdapter().with_price_place(place).extract(response(html))


def test_usual_place_makes_a_bare_page_readable():
    assert outcome(page(BARE)) == "PRICE_NOT_FOUND"
    result = read_at("div.x1 > span", page(BARE))
    assert isinstance(result, Extracted)
    assert result.offer.price_cents == 1999
    assert "price place: 19.99 at div.x1 > span" in result.evidence
    again = read_at("div.x1 > span", page(BARE))
    assert isinstance(again, Extracted)
    assert again.evidence == result.evidence


def test_usual_place_does_not_override_a_contradiction():
    result = read_at("div.product-price", page(ld(product("29.99")) + buy("€19.99")))
    assert isinstance(result, Quarantine)
    two = page(
        "<main><h1>Blue Kettle</h1><p class='a'><b>€10.00</b> <b>€20.00</b></p><button>Add to cart</button></main>"
    )
    assert isinstance(read_at("p.a", two), Quarantine)


@pytest.mark.parametrize("place", ["div.gone", "p::text", "][", "div.product-price"])
def test_missing_usual_place_is_reported_and_harmless(place):
    result = read_at(place, page(ld(product()) + buy("€19.99")))
    assert isinstance(result, Extracted)
    assert result.offer.price_cents == 1999
    is_missing = f"price place: not found: {place}" in result.evidence
    assert is_missing is (place != "div.product-price")


def test_candidates_of_a_quarantined_page_are_numbered_and_have_paths():
    result = extract(page(ld(product("29.99")) + buy("€19.99")))
    assert isinstance(result, Quarantine)
    rows = result.details["candidates"]
    assert [row["number"] for row in rows] == [1, 2]
    by_source = {row["source"]: row for row in rows}
    assert by_source["page"]["path"] == "main > div.product-price"
    assert by_source["json-ld"]["path"] == ""
    assert all(isinstance(row["score"], float) for row in rows)


def test_explanation_has_all_amounts_with_reasons():
    html = page(
        ld(product("29.99"))
        + "<main><h1>Blue Kettle</h1><p class='price'><del>€29.99</del> €19.99</p><p>Pay €4.50 a month</p><button>Add to cart</button></main>"
    )
    reason, reports = GenericAdapter().explain(response(html))
    assert reason.startswith("accepted")
    assert (reports[0].amount, reports[0].is_chosen) == (Decimal("19.99"), True)
    assert len(reports) == 3
    assert {one.amount: one.excluded for one in reports if one.excluded} == {
        Decimal("29.99"): "it is the list price of a lower price",
        Decimal("4.50"): "the page displays it as instalment",
    }
    assert all(one.features for one in reports)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            page(
                ld(product("", offer={"availability": ""}))
                + "<h1>Blue Kettle</h1><p>A kettle of blue enamel for four</p>"
            ),
            True,
        ),
        (
            page(
                "<h1>Blue Kettle</h1><div id='app'></div><p>Loading the offer of the day, please stand by</p>"
            ),
            True,
        ),
        (page("<div id=root></div>", title="Shop"), True),
        (
            page(
                "<h1>Kettles</h1><ul><li><a href='/p/1'><img alt='Red Kettle X'>Red Kettle X</a> €9.00</li><li><a href='/p/2'><img alt='Tea Kettle Y'>Tea Kettle Y</a> €8.00</li></ul>"
            ),
            False,
        ),
        (page("<p>Checking your browser</p>", title="Just a moment..."), False),
    ],
    ids=["a product without a price", "a title only", "a shell", "a list", "a bot wall"],
)
def test_pages_that_a_browser_may_complete_are_marked(html, expected):
    result = extract(html)
    assert isinstance(result, ExtractFailure)
    assert result.may_need_browser is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (
            'var meta = {"product":{"name":"Blue Kettle","price":1999,"currency":"EUR"}};',
            "19.99 EUR IN_STOCK",
        ),
        ('window.__PRODUCT_STATE__ = {"name":"Blue Kettle","price":19.99};', "19.99 EUR IN_STOCK"),
    ],
)
def test_state_of_the_page_confirms_one_of_two_displayed_prices(state, expected):
    body = "<main><h1>Blue Kettle</h1><div class='a'>€19.99</div><div class='b'>€24.99</div><button>Add to cart</button></main>"
    assert outcome(page(body)) == "AMBIGUOUS_PRICE"
    assert outcome(page(body + f"<script>{state}</script>")) == expected


def test_hidden_field_is_one_more_feature():
    body = "<main><h1>Blue Kettle</h1><div class='price'>€19.99</div><form action='/cart/add'><input type='hidden' name='product_price' value='19.99'><button>Add to cart</button></form></main>"
    _, reports = GenericAdapter().explain(response(page(body)))
    assert "form field or attribute says so" in reports[0].features


def test_margin_is_needed_between_two_amounts():
    body = "<main><h1>Blue Kettle</h1><div class='price'>€20.00</div><p>Text</p><ul><li>One</li><li>Two</li></ul><div class='price'>€24.00</div><button>Add to cart</button></main>"
    _, reports = GenericAdapter().explain(response(page(body)))
    possible = [one for one in reports if not one.excluded]
    assert len(possible) == 2
    is_clear = possible[0].score - possible[1].score >= MARGIN
    assert (outcome(page(body)) != "AMBIGUOUS_PRICE") is is_clear
