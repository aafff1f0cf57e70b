"""Buttons that put a product into a cart, by label, name, action or class."""

from __future__ import annotations

import pytest
from lxml import html  # type: ignore[import-untyped]

from pricewatch.parsing.pages.buttons import read_button
from pricewatch.parsing.pages.class_names import element_cues


def button_in(source: str):
    root = html.fragment_fromstring(source, create_parent="div")
    element = next(one for one in root.iter("button", "input", "a") if one.get("type") != "hidden")
    return read_button(element, element_cues(element), may_be_link=True)


@pytest.mark.parametrize(
    ("source", "by"),
    [
        ("<button>Add to cart</button>", "label"),
        ("<a class='btn' href='/cart/add?id=1'>Köp</a>", "label"),
        ("<a href='#'>立即购买</a>", "label"),
        ("<button>Add to cart <span>170 USD</span></button>", "label"),
        ("<button name='add-to-cart' value='7'>Qqq</button>", "name=add-to-cart"),
        ("<button id='product-addtocart-button'><span></span></button>", "id=product-addtocart-button"),
        ("<form action='/cart/add'><button type='submit'>Qqq</button></form>", "form action=/cart/add"),
        ("<form action='https://x.example/warenkorb/add'><input type='submit' value='Los'></form>", "form"),
        ("<button class='single_add_to_cart_button'>Qqq</button>", "class"),
        ("<button onclick='addToCart(17)'>Qqq</button>", "onclick=addToCart(17)"),
    ],
)
def test_cart_buttons_are_recognised(source, by):
    button = button_in(source)
    assert button is not None
    assert button.by.startswith(by)
    assert button.is_enabled
    assert not button.is_contact


@pytest.mark.parametrize(
    "source",
    [
        "<button>Add to wishlist</button>",
        "<button>Verified Purchase</button>",
        "<a class='btn' href='/cart'>Warenkorb</a>",
        "<a class='btn' href='/checkout'>Buy now</a>",
        "<button>View cart (0)</button>",
        "<button name='add-to-wishlist'>Qqq</button>",
        "<input type='text' name='add-to-cart' value='1'>",
        "<button class='cart-icon' id='mini-cart-toggle'>×</button>",
        "<button>Your cart is empty, go and buy something nice</button>",
        "<form action='/search'><button type='submit'>Go</button></form>",
    ],
)
def test_other_buttons_are_not(source):
    assert button_in(source) is None


@pytest.mark.parametrize(
    "attributes", ["disabled", "aria-disabled='true'", "class='btn disabled'", "disabled='disabled'"]
)
def test_disabled_buttons_are_marked(attributes):
    button = button_in(f"<button {attributes}>Add to cart</button>")
    assert button is not None
    assert not button.is_enabled


def test_contact_buttons_do_not_buy():
    button = button_in("<button>Contact the seller</button>")
    assert button is not None
    assert button.is_contact
