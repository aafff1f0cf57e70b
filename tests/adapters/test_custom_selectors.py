"""Custom selectors of a target on top of an adapter."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import MAY_NEED_BROWSER, CustomSelectorAdapter, check_selectors
from pricewatch.items import Extracted, ExtractFailure, Offer, Quarantine
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

TWO_PRICES = """<h1>Fine shoes</h1><p class="a">€ 12,50</p><p class="b">€ 20,00</p><p class="c">20.00</p>
<p class="zero">€ 0,00</p><meta itemprop="price" content="21.00"><p class="stock">{stock}</p>{button}"""


def page(stock: str = "", button: str = "<button>Add to cart</button>") -> HtmlResponse:
    html = f"<html><body>{TWO_PRICES.format(stock=stock, button=button)}</body></html>"
    return HtmlResponse("https://shop.example/p/1", body=html.encode(), encoding="utf-8")


def read(response: HtmlResponse, **selectors: str) -> Extracted | ExtractFailure | Quarantine:
    return CustomSelectorAdapter(adapters.get("generic"), selectors).extract(response)


def offer(response: HtmlResponse, **selectors: str) -> Offer:
    result = read(response, **selectors)
    assert isinstance(result, Extracted), result
    return result.offer


def failure(response: HtmlResponse, **selectors: str) -> FailureReason:
    result = read(response, **selectors)
    assert isinstance(result, ExtractFailure), result
    return result.reason


def test_selector_resolves_an_ambiguous_price() -> None:
    ambiguous = adapters.get("generic").extract(page())
    assert isinstance(ambiguous, Quarantine)
    found = offer(page(), price=".b")
    assert (found.price_cents, found.currency, found.title) == (2000, "EUR", "Fine shoes")
    # The availability comes from the adapter.
    assert found.availability is Availability.IN_STOCK


@pytest.mark.parametrize("price", [".b", "css:.b", "//p[@class='b']", "xpath://p[2]/text()", "p.b::text"])
def test_selectors_may_be_css_or_xpath(price: str) -> None:
    assert offer(page(), price=price).price_cents == 2000


def test_selectors_for_title_and_availability() -> None:
    found = offer(page(stock="Out of stock"), price=".b", title=".a", availability=".stock")
    assert (found.title, found.availability) == ("€ 12,50", Availability.OUT_OF_STOCK)


def test_bare_number_needs_a_currency() -> None:
    assert failure(page(), price=".c") is FailureReason.PRICE_NOT_FOUND
    assert offer(page(), price=".c", currency="USD").currency == "USD"
    assert offer(page(), price="//meta", currency="EUR").price_cents == 2100


@pytest.mark.parametrize(
    ("tag", "cents"),
    [
        ("€68<sup>50</sup>", 6850),
        ("68<sup>50</sup> €", 6850),
        ("€1.299<sup>00</sup>", 129900),
        ('€<b>68</b><i class="cents">50</i>', 6850),
        ("<b>€19</b><i>.99</i>", 1999),
        ("<del>€30.00</del> €20.00", 2000),
        ('<b class="hidden">€9.00</b>€19.99', 1999),
        ("<b>€68</b><b>50</b>", None),
        ("<b>68</b><b>50</b> €", None),
        ("€12<sup>1</sup>", None),
    ],
)
def test_digits_of_two_elements_never_form_one_number(tag: str, cents: int | None) -> None:
    html = f"<html><body><h1>Fine shoes</h1><p class=x>{tag}</p><button>Add to cart</button></body></html>"
    response = HtmlResponse("https://shop.example/p/1", body=html.encode(), encoding="utf-8")
    if cents:
        assert offer(response, price=".x", currency="EUR").price_cents == cents
    else:
        assert failure(response, price=".x", currency="EUR") is FailureReason.PRICE_NOT_FOUND


def test_unmatched_selector_is_reported() -> None:
    result = read(page(), price=".gone")
    assert isinstance(result, Quarantine)
    assert result.reason is QuarantineReason.SELECTOR_FAILURE
    assert result.details["why"] == "price: nothing at .gone"
    # Without a product on the page, the page failed, not the selector.
    html = (
        b"<html><body><h1>Closed for an hour</h1><p>We are counting our tea and our cups.</p></body></html>"
    )
    other = read(HtmlResponse("https://shop.example/p/1", body=html, encoding="utf-8"), price=".gone")
    assert isinstance(other, ExtractFailure)
    assert (other.reason, other.details) == (FailureReason.SELECTOR_NOT_FOUND, "price: nothing at .gone")
    # A page of a product that is out of stock may have no price.
    sold_out = page(stock="Out of stock", button="")
    assert failure(sold_out, price=".gone", availability=".stock") is FailureReason.OOS_NO_PRICE


def test_unclear_and_zero_prices_are_not_stored() -> None:
    assert failure(page(), price="body") is FailureReason.PRICE_NOT_FOUND
    zero = read(page(), price=".zero")
    assert isinstance(zero, Quarantine)
    assert zero.reason is QuarantineReason.ZERO_PRICE_EXTRACTED


def test_attributes_come_from_the_inner_adapter() -> None:
    inner = adapters.get("bazaar")
    selected = CustomSelectorAdapter(inner, {"price": ".x"})
    assert (selected.id, selected.version, selected.requires_js) == (inner.id, inner.version, False)


@pytest.mark.parametrize(
    ("selectors", "why"),
    [
        ({"price": "a..b"}, "is not valid"),
        ({"price": "//["}, "is not valid"),
        ({"price": "p:nonsense(1)"}, "is not valid"),
        ({"price": " "}, "empty"),
        ({"price": "a\x00"}, "control characters"),
        ({"price": "a" * 600}, "500"),
        ({"colour": "a"}, "no selector"),
        ({"currency": "euro"}, "not a currency code"),
    ],
)
def test_invalid_selectors_are_rejected(selectors: dict[str, str], why: str) -> None:
    assert why in (check_selectors(selectors) or "")


def test_selectors_are_checked_without_evaluating_them() -> None:
    forever = f"//p[re:test('{'a' * 60}b', '(a+)+$')]"
    assert check_selectors({"price": forever}) is None
    assert "not valid" in (check_selectors({"price": forever[:-1]}) or "")
    # Each level evaluates the next one for every element.
    nested = "//*[" * 60 + "1" + "]" * 60
    assert check_selectors({"price": nested}) is None
    assert "not valid" in (check_selectors({"price": nested[:-1]}) or "")


@pytest.mark.parametrize(
    "selector",
    [
        *("p.a", "p::text", "meta[itemprop=price]::attr(content)", "p:nth-child(2)", ":not(.x)", "*|p"),
        *("css:p > b, :is(p, b)", "p[title='x:y($z)']", "p:contains('foo(')", ":has(> b)", "a:lang(en)"),
    ],
)
def test_css_selectors_that_can_be_read_are_accepted(selector: str) -> None:
    assert check_selectors({"price": selector}) is None
    read(page(), price=selector)


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("p:foo", "pseudo-class :foo is unknown"),
        ("p[", "Expected"),
        ("p::foo", "pseudo-element ::foo is unknown"),
        ("x|p", "there is no namespace prefix x"),
        ("p[x|y=z]", "there is no namespace prefix x"),
        ("xpath:foo()", "there is no function foo()"),
        ("//p[$x]", "there is no variable $x"),
    ],
)
def test_selectors_that_cannot_be_read_are_refused_with_a_sentence(selector: str, why: str) -> None:
    problem = check_selectors({"price": selector}) or ""
    assert problem.startswith("the selector for price is not valid (")
    assert why in problem


def test_price_place_is_passed_to_the_inner_adapter_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = CustomSelectorAdapter(adapters.get("generic"), {"title": ".b", "currency": "EUR"})
    hinted = adapter.with_price_place("p.a")
    assert isinstance(hinted, CustomSelectorAdapter)
    assert (hinted.price_place, hinted.inner.price_place, adapter.price_place) == ("p.a", "p.a", "")
    assert hinted.selectors == adapter.selectors
    found = Extracted(offer(page(), price=".a"), ["price: 12.50"], "p.a")
    monkeypatch.setattr(type(hinted.inner), "extract", lambda *_: found)
    result = hinted.extract(page())
    assert isinstance(result, Extracted)
    assert (result.offer.title, result.price_place) == ("€ 20,00", "p.a")
    # With a selector for the price, the price of the inner adapter is not used, nor is its place.
    priced = CustomSelectorAdapter(hinted.inner, {"price": ".b"}).extract(page())
    assert isinstance(priced, Extracted)
    assert priced.price_place == ""


def test_adapter_of_one_site_has_no_use_for_a_price_place() -> None:
    adapter = CustomSelectorAdapter(adapters.get("bazaar"), {"price": ".a"})
    assert adapter.with_price_place("p.a") is adapter
    assert adapter.price_place == ""


@pytest.mark.parametrize("may_need_browser", [True, False])
def test_unmatched_selector_may_need_the_browser(
    monkeypatch: pytest.MonkeyPatch, may_need_browser: bool
) -> None:
    found = ExtractFailure(FailureReason.PRICE_NOT_FOUND, may_need_browser=may_need_browser)
    monkeypatch.setattr(type(adapters.get("generic")), "extract", lambda *_: found)
    result = read(page(), price=".nothing")
    assert isinstance(result, Quarantine)
    assert (MAY_NEED_BROWSER in result.details) is may_need_browser
    nothing = HtmlResponse("https://shop.example/p/1", body=b"<html><body>Hello</body></html>")
    result = read(nothing, price=".nothing")
    assert isinstance(result, ExtractFailure)
    assert result.may_need_browser is may_need_browser
