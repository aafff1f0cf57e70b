"""Buttons and forms that put a product into a cart, by their action and name as well as by their label."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pricewatch.parsing.pages.availability import is_buy_button, is_contact_button
from pricewatch.parsing.pages.class_names import ClassCues
from pricewatch.parsing.pages.element_tree import Element, has_many_elements
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import collapse_spaces

BUTTON_TAGS = frozenset({"button", "input", "a"})
_MAX_LABEL_LENGTH = 48
_MAX_LABEL_WORDS = 5
_OTHER_ACTION = re.compile(
    r"notify|wish|remove|view|close|out of|sold|unavailable|compare|coupon|apply|update|continue|verif|[-+×]$"
)
# Labels that contain a word of buying, but open the cart or praise a review.
_NOT_BUYING = re.compile(
    r"verif|vérif|bestätigt|\(\d+\)$|"
    r"^(?:go to|view|see|show|zum|zur|přejít|zobrazit|voir|ver |vai al|vedi|bekijk|pokaż|zobacz|prikaži|"
    r"poglej|megtekint|vezi|vaata|näytä|katso|visa |vis |görüntüle|посмотреть|перейти|переглянути|查看|見る)"
)
# A link that opens the cart.
_TO_CART = re.compile(
    r"/(?:cart|basket|bag|checkout|warenkorb|panier|carrito|carrinho|carrello|winkelwagen|koszyk|kosik|kosar|"
    r"ostukorv|ostoskori|sepet|varukorg|handlekurv|korzina)(?:\.\w+)?/?(?:$|[?#])",
    re.IGNORECASE,
)
# In the action of a form, or the name, id, class or handler of a button.
_CART = re.compile(
    r"add[-_ ]?(?:item[-_ ]?)?to[-_ ]?(?:cart|bag|basket|trolley|order)|(?:cart|basket|bag)[-_/ .]?add|"
    r"buy[-_ ]?(?:now|box|button)|"
    r"(?<![a-z])(?:addcart|addtobag|tocart|tobasket|warenkorb|einkaufswagen|panier|carrito|carrinho|"
    r"carrello|winkelwagen|winkelmand|koszyk|do_koszyka|kosik|kosar|kosarica|kosár|sepet|varukorg|"
    r"handlekurv|indkobskurv|ostoskori|ostukorv|korzina|basket|kundvagn|cos_cumparaturi)",
    re.IGNORECASE,
)
_NOT_CART = re.compile(
    r"mini|header|wish|view|go[-_ ]?to|open|show|toggle|close|icon|link|empty|remove|login|count|total",
    re.IGNORECASE,
)


@dataclass(slots=True)
class PageButton:
    """A button that buys the product, and why it is taken for one."""

    label: str
    by: str
    is_enabled: bool
    element: Element = field(repr=False)
    # A button of an advert that contacts the seller; it does not buy.
    is_contact: bool = False
    order: int = 0
    role: Role | None = None


def read_button(element: Element, own: ClassCues, *, may_be_link: bool) -> PageButton | None:
    """The button that an element is, if it puts a product into a cart, buys it, or contacts the seller."""
    kind = element.get("type")
    if element.tag == "input" and kind not in ("submit", "button", "image"):
        return None
    if element.tag == "a" and not own.is_button and element.get("role") != "button":
        # Most links are not buttons; reading the text of all of them would cost much.
        direct = element.text
        if not may_be_link or not direct or not 2 <= len(direct) <= _MAX_LABEL_LENGTH:
            return None
    if has_many_elements(element):
        return None
    label = element.get("value") if element.tag == "input" else " ".join(element.itertext())
    fallbacks = (element.get(name) for name in ("aria-label", "title", "alt"))
    text = collapse_spaces(label or "") or collapse_spaces(next(filter(None, fallbacks), ""))
    if len(text) > _MAX_LABEL_LENGTH or text.count(" ") >= _MAX_LABEL_WORDS:
        return None
    lowered = text.lower()
    is_to_cart = element.tag == "a" and _TO_CART.search(element.get("href") or "") is not None
    if len(text) >= 2 and is_buy_button(lowered) and not _NOT_BUYING.search(lowered) and not is_to_cart:
        by = "label"
    elif is_contact_button(lowered):
        return PageButton(text, "contact", is_enabled=True, element=element, is_contact=True)
    elif _OTHER_ACTION.search(lowered) or _NOT_BUYING.search(lowered):
        return None
    elif element.tag in ("button", "input") and (name := _cart_name(element)):
        by = name
    elif element.tag in ("button", "input") and own.is_cart and len(text) >= 2:
        by = "class"
    else:
        return None
    is_enabled = not (
        element.get("disabled") is not None
        or element.get("aria-disabled") == "true"
        or "disabled" in (element.get("class") or "").split()
    )
    return PageButton(text or by, by, is_enabled, element)


def _cart_name(element: Element) -> str:
    """The attribute of a button, or the action of its form, that names a cart."""
    for name in ("name", "id", "data-action", "data-button-action", "data-testid", "data-test", "onclick"):
        value = element.get(name)
        if value and _CART.search(value) and not _NOT_CART.search(value):
            return f"{name}={value[:40]}"
    if element.get("type") in (None, "submit", "image"):
        form = next(element.iterancestors("form"), None)
        action = form.get("action") if form is not None else None
        if (
            action
            and _CART.search(action.rpartition("//")[2].partition("/")[2])
            and not _NOT_CART.search(action)
        ):
            return f"form action={action[-40:]}"
    return ""
