"""Block pages, and shop pages that look similar."""

from __future__ import annotations

import pytest

from pricewatch.parsing.pages.block_notices import blocked_reason

LONG = "A fine kettle for the kitchen. " * 200


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", ""),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked"),
        ("Access Denied", "You don't have permission to access"),
        ("Robot Check", "Enter the characters you see below"),
        ("Pardon Our Interruption", ""),
        ("shop.com", "Please verify you are a human"),
        ("shop.com", "Please enable JS and disable any ad blocker"),
        ("shop.com", "Please enable JavaScript to use this app"),
        ("Shop", "You are now in line. Your estimated wait time is 5 minutes"),
        ("Shop", "Zugriff verweigert"),
        ("Shop", "Bitte aktivieren Sie JavaScript"),
        ("Boutique", "Accès refusé"),
        ("Tienda", "Acceso denegado"),
        ("Магазин", "Доступ ограничен"),
        ("Access Denied", LONG),
    ],
)
def test_block_pages_are_detected(title, text):
    assert blocked_reason(title, text, text)


@pytest.mark.parametrize(
    ("title", "text", "html", "has_product"),
    [
        (
            "Blue Kettle",
            "Blue Kettle €19.99 Add to cart",
            '<script src="https://js.datadome.co/tags.js">',
            True,
        ),
        ("Blue Kettle", "Blue Kettle I am not a robot", '<div class="g-recaptcha">', True),
        ("Kettles", LONG + "captcha", '<div class="g-recaptcha">', False),
        ("Kettles", "Ten kettles for your kitchen", "<p>Ten kettles for your kitchen</p>", False),
        ("Kettles", "", "<div id=app></div>" + " " * 50_000 + "datadome", False),
    ],
)
def test_shop_pages_are_not_blocked(title, text, html, has_product):
    assert blocked_reason(title, text, html, has_product_evidence=has_product) is None


@pytest.mark.parametrize("status", [401, 403, 407, 429, 503])
def test_blocking_status_overrides_the_content(status):
    assert (
        blocked_reason("Blue Kettle", "In stock", "", status, has_product_evidence=True) == f"status {status}"
    )


@pytest.mark.parametrize("status", [200, 301, 404, 410, 500])
def test_other_statuses_do_not_block(status):
    assert blocked_reason("Blue Kettle", "In stock", "", status) is None


def test_challenge_without_text_is_detected_by_its_source():
    reason = blocked_reason("", "", '<script src="https://geo.captcha-delivery.com/c.js"></script>')
    assert reason is not None
    assert "captcha-delivery" in reason
