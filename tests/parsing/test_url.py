"""Canonical URLs, registrable domains and links."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.parsing.url import (
    InvalidUrl,
    absolute_url,
    canonical_url,
    is_other_page,
    is_same_product_url,
    registrable_domain,
    site_of,
)

PAGE = "https://shop.example.com/p/kettle-1234"


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://shop.com/a", "https://shop.com/a"),
        ("HTTPS://Shop.COM/A/B", "https://shop.com/A/B"),
        ("https://shop.com", "https://shop.com/"),
        ("https://shop.com/", "https://shop.com/"),
        ("https://shop.com/a/", "https://shop.com/a"),
        ("https://shop.com/a//", "https://shop.com/a"),
        ("https://shop.com/a#reviews", "https://shop.com/a"),
        ("https://shop.com/a?b=2&a=1", "https://shop.com/a?a=1&b=2"),
        ("https://shop.com/a?utm_source=x&UTM_Campaign=y&a=1", "https://shop.com/a?a=1"),
        ("https://shop.com/a?fbclid=1&gclid=2&ref=3&source=4&campaign=5", "https://shop.com/a"),
        ("https://shop.com/a?reference=3&sourced=4", "https://shop.com/a?reference=3&sourced=4"),
        ("https://shop.com/a?empty=&b=1&c", "https://shop.com/a?b=1"),
        ("https://shop.com/a?x=2&x=1", "https://shop.com/a?x=1&x=2"),
        ("https://shop.com:443/a", "https://shop.com/a"),
        ("http://shop.com:80/a", "https://shop.com/a"),
        ("http://shop.com:8080/a", "https://shop.com:8080/a"),
        ("https://user:secret@shop.com/a", "https://shop.com/a"),
        ("https://shop.com./a", "https://shop.com/a"),
        ("https://münchen.de/käse?q=grün", "https://xn--mnchen-3ya.de/k%C3%A4se?q=gr%C3%BCn"),
        ("  https://shop.com/a b ", "https://shop.com/a%20b"),
        ("https://shop.com/a?q=a%20b+c", "https://shop.com/a?q=a+b+c"),
        ("http://127.0.0.1:6800/a", "https://127.0.0.1:6800/a"),
        ("http://[::1]:80/a", "https://[::1]/a"),
    ],
)
def test_url_is_made_canonical(url, canonical):
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "mailto:a@b.com",
        "tel:+43",
        "data:text/html,x",
        "ftp://shop.com/a",
        "file:///etc/passwd",
        "/a",
        "a",
        "",
        "https://",
        "https:///a",
        "//shop.com/a",
        "http://[::1",
        "http://a b.com/",
        "https://shop.com:99999/",
        "https://.com/",
        "http://%20/",
    ],
)
def test_invalid_urls_are_refused(url):
    with pytest.raises(InvalidUrl):
        canonical_url(url)


@settings(deadline=None)
@given(
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-z][a-z0-9-]{0,10}[a-z0-9]\.(com|de|co\.uk)", fullmatch=True),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_canonical_url_is_idempotent(scheme, host, path, query):
    try:
        once = canonical_url(f"{scheme}://{host}/{path}?{query}")
    except InvalidUrl:
        return
    assert canonical_url(once) == once
    assert once.startswith(f"https://{host}/")
    assert "#" not in once


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_canonical_or_invalid(text):
    with suppress(InvalidUrl):
        canonical = canonical_url(text)
        assert canonical.startswith("https://")
        assert "#" not in canonical


@pytest.mark.parametrize(
    ("given_", "domain"),
    [
        ("www.otto.de", "otto.de"),
        ("https://a.b.shop.co.uk:8080/x", "shop.co.uk"),
        ("WWW.Example.COM.", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("http://127.0.0.1:6800/x", "127.0.0.1"),
        ("::1", "::1"),
        ("http://[::1]:80/", "::1"),
        ("localhost", "localhost"),
        ("http://localhost:6800/", "localhost"),
        ("a.b.shop.example", "shop.example"),
        ("co.uk", "co.uk"),
    ],
)
def test_registrable_domain_is_found(given_, domain):
    assert registrable_domain(given_) == domain


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://a.b.shop.co.uk:8080/x", "shop.co.uk"),
        ("http://127.0.0.1:6800/x", "127.0.0.1:6800"),
        ("//127.0.0.1:6801", "127.0.0.1:6801"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("https://127.0.0.1:443/", "127.0.0.1"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://localhost:8080/", "localhost:8080"),
        ("http://shop.localhost:8080/", "shop.localhost:8080"),
        ("http://web:8000/", "web:8000"),
    ],
)
def test_site_of_a_url_is_its_domain_or_host_and_port(url, site):
    assert site_of(url) == site


@pytest.mark.parametrize("text", ["", "http://", "/path", "https:///x"])
def test_text_without_a_domain_is_invalid(text):
    with pytest.raises(InvalidUrl):
        registrable_domain(text)


@pytest.mark.parametrize(
    ("link", "absolute"),
    [
        ("/a", "https://shop.example.com/a"),
        ("b", "https://shop.example.com/p/b"),
        ("//cdn.com/x", "https://cdn.com/x"),
        (" ?v=1 ", f"{PAGE}?v=1"),
    ],
)
def test_links_are_made_absolute(link, absolute):
    assert absolute_url(PAGE, link) == absolute


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (PAGE, True),
        (f"{PAGE}/?utm_source=x#y", True),
        ("https://www.example.com/kitchen/tea-kettle-1234.html", True),
        ("https://shop.example.com/p/pot-9999", False),
        ("https://shop.example.com/", False),
        ("https://shop.example.com/p", False),
        ("https://shop.other.com/p/kettle-1234", False),
        ("javascript:void(0)", False),
    ],
)
def test_renamed_page_is_the_same_product(other, is_same):
    assert is_same_product_url(PAGE, other) is is_same


@pytest.mark.parametrize(
    ("requested", "final", "is_same"),
    [
        ("/p/lamp", "/en/p/lamp", True),
        ("/p/lamp-1234", "/p/1234", True),
        ("/item?id=1234", "/item/1234/red-lamp", True),
        ("/iad/object?adId=512345678", "/iad/kaufen/d/lampe-512345678", True),
        ("/p/lamp?variant=39812345", "/p/lamp", True),
        ("/product.php?id=55", "/product.php?id=55&lang=en", True),
        ("/product.php?id=55&lang=de", "/product.php?id=55&lang=en", True),
        ("/listing/1234567890/old-name", "/listing/1234567890/new-name", True),
        ("/dp/B0ABC12345/ref=sr_1", "/dp/B0ABC12345", True),
        ("/p/lamp-1234", "/p/lamp-51234", False),
        ("/p/lamp?variant=39812345", "/p/lamp?variant=39812346", False),
        ("/item?id=55", "/item?id=56", False),
        ("/item?id=55", "/item", False),
        ("/product.php?slug=red-lamp", "/product.php?slug=blue-lamp", False),
        ("/index.php?route=product&product_id=42", "/index.php?route=product&product_id=43", False),
        ("/index.php?route=product&product_id=42", "/index.php?route=home", False),
        ("/cat-1200/red-lamp-7788", "/cat-1200/blue-lamp-9911", False),
        ("/cat-1200/red-lamp", "/cat-1200", False),
        ("/c/1200/red-lamp", "/c/1200/blue-lamp", False),
        ("/products/red?store=1001", "/products/blue?store=1001", False),
        ("/shop/2023/red-lamp", "/shop/2023/blue-lamp", False),
        ("/p/tv-2023-model-55", "/p/tv-2023-other-65", False),
    ],
)
def test_shared_category_is_not_the_same_product(requested, final, is_same):
    assert is_same_product_url(f"https://shop.example{requested}", f"https://shop.example{final}") is is_same


@pytest.mark.parametrize(
    ("page", "link", "is_other"),
    [
        (PAGE, "#reviews", False),
        (PAGE, "javascript:void(0)", False),
        (PAGE, "", False),
        (PAGE, None, False),
        (PAGE, "/p/kettle-1234", False),
        (PAGE, f"{PAGE}?color=red", False),
        (PAGE, "/p/pot-9", True),
        (PAGE, "https://shop.example.com/p/pot-9", True),
        (PAGE, "pot-9", True),
        ("https://shop.com/index.php?product_id=1", "index.php?product_id=2", True),
        ("https://shop.com/index.php?product_id=1", "index.php?product_id=1&tab=2", False),
    ],
)
def test_anchors_and_scripts_are_not_other_pages(page, link, is_other):
    assert is_other_page(page, link) is is_other


@given(st.from_regex(r"\Ahttps?://[a-z0-9.-]{1,12}(:[0-9]{1,5})?(/[A-Za-z0-9_.-]{0,6}){0,4}\Z"))
def test_shortcut_gives_the_same_canonical_url(url):
    """URLs that only need https take a shortcut."""
    from pricewatch.parsing.url import _canonical

    def spelling(way: Callable[[str], str]) -> str | None:
        try:
            return way(url)
        except InvalidUrl:
            return None

    assert spelling(canonical_url) == spelling(_canonical)


@given(
    st.from_regex(r"\A(https?://[a-z0-9.-]{1,12}(:[0-9]{1,5})?)?(/[A-Za-z0-9_.-]{0,6}){0,3}(\?a=1)?\Z"),
    st.from_regex(r"\A(/[A-Za-z0-9_.;-]{0,6}){1,4}(\?a=1)?(#b)?\Z"),
)
def test_root_relative_shortcut_gives_the_same_link(base, link):
    assert absolute_url(base, link) == urljoin(base, link)
