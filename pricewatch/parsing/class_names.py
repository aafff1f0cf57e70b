"""What the class and id of an element tell about the text in it; a cue from the people who built the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .roles import Role

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

_PRICE = (
    "price",
    "preis",
    "prix",
    "precio",
    "preco",
    "prezzo",
    "prijs",
    "pricing",
    "cena",
    "hinta",
    "cijena",
    "kaina",
)
_PRICE_TOKENS = frozenset("cena ceny cene pris priser pret pretul ar ara amounts".split())

# Two words that mean something else together than apart.
_PAIRS = {
    ("list", "price"): Role.LIST, ("recommended", "price"): Role.LIST, ("recommended", "retail"): Role.LIST,
    ("line", "through"): Role.LIST, ("crossed", "out"): Role.LIST, ("full", "price"): Role.LIST,
    ("price", "tax"): Role.NET, ("ex", "tax"): Role.NET, ("excl", "tax"): Role.NET, ("excluding", "tax"): Role.NET,
    ("ex", "vat"): Role.NET, ("excl", "vat"): Role.NET, ("exc", "vat"): Role.NET, ("without", "tax"): Role.NET,
    ("unit", "price"): Role.PER_UNIT, ("price", "unit"): Role.PER_UNIT, ("base", "price"): Role.PER_UNIT,
    ("price", "per"): Role.PER_UNIT, ("per", "unit"): Role.PER_UNIT, ("starting", "price"): Role.FROM,
    ("price", "from"): Role.FROM, ("from", "price"): Role.FROM, ("min", "price"): Role.FROM,
    ("minimal", "price"): Role.FROM, ("price", "range"): Role.RANGE, ("open", "box"): Role.OTHER_CONDITION,
    ("other", "offers"): Role.OTHER_CONDITION, ("other", "sellers"): Role.OTHER_CONDITION,
    ("cross", "sell"): Role.RELATED, ("up", "sell"): Role.RELATED, ("also", "bought"): Role.RELATED,
    ("also", "like"): Role.RELATED, ("recently", "viewed"): Role.RELATED, ("mini", "cart"): Role.RELATED,
    ("mini", "basket"): Role.RELATED, ("product", "card"): Role.RELATED, ("product", "tile"): Role.RELATED,
    ("product", "thumb"): Role.RELATED, ("product", "list"): Role.RELATED, ("product", "slider"): Role.RELATED,
    ("product", "carousel"): Role.RELATED, ("products", "list"): Role.RELATED, ("products", "grid"): Role.RELATED,
    ("product", "grid"): Role.RELATED, ("subscribe", "save"): Role.EXTRA, ("add", "on"): Role.EXTRA,
}  # fmt: skip

_ROLES: dict[str, Role] = {}
for _role, _names in {
    Role.LIST: "old was strike striked strikethrough struck strikeout crossed before compare compareat rrp msrp uvp srp "
    "pvpr prev previous statt original orig oldprice wasprice listprice retail suggested barre streichpreis initial "
    "linethrough pricelist origin crossedprice ancien vorher discontinuedprice",
    Role.REGULAR: "regular normal standard",
    Role.INSTALMENT: "installment installments instalment instalments monthly month finance financing financed klarna "
    "afterpay clearpay emi leasing affirm laybuy ecredit raten ratenzahlung splitit sezzle paylater parcelas cuotas "
    "splatky raty credit alma oney scalapay",
    Role.PER_UNIT: "unitprice grundpreis baseprice ppu perunit priceperunit measure",
    Role.NET: "net netto extax exvat exclvat excltax taxless ht",
    Role.SHIPPING: "shipping delivery versand versandkosten postage freight livraison envio spedizione dostawa fulfillment "
    "fulfilment shippingcost",
    Role.SAVING: "save saving savings youpay yousave rabatt badge percent percentage coupon coupons voucher vouchers points "
    "cashback loyalty bonus reward rewards benefit benefits promotion promotions promo promos offerbanner banner "
    "deposit trade tradein usp",
    Role.EXTRA: "warranty warranties insurance addon addons giftwrap protection subscription subscribe membership member "
    "members service services guarantee care accessory accessories extras bundle bundles bought",
    Role.OTHER_CONDITION: "used refurbished openbox preowned secondhand marketplace sellers resale",
    Role.VARIANT: "option options swatch swatches tier tiers tierprice bulk volume staffel staffelpreis quantitybreak "
    "variations sizes",
    Role.RELATED: "related similar recommend recommended recommendation recommendations recommender upsell crosssell crosssells "
    "upsells recently viewed sponsored suggestion suggestions alsobought minicart cartmenu minibasket footer breadcrumb "
    "breadcrumbs reviews review comments newsletter cookie cookies reco recos lastviewed wishlist menu navigation nav "
    "navbar megamenu alternatives alternative similarproducts relatedproducts bestseller bestsellers "
    "testimonials flyout ads advert advertisement",
}.items():
    _ROLES |= dict.fromkeys(_names.split(), _role)

# `with-list-price` names a price that has a list price beside it.
_BESIDE = frozenset("with has have without no non not is".split())
_SALE = frozenset("sale special final current now new actual our today selling discounted reduced aktuell nowprice saleprice "
                  "finalprice sell sales buy".split())  # fmt: skip
_CENTS = frozenset("cent cents decimal decimals fraction dec minor kop kopecks superscript sup decimales centimes pence "
                   "digits fractional".split())  # fmt: skip
_BUTTON = frozenset("btn button buy addtocart tocart cart basket add addtobasket buynow order purchase".split())
_CART = frozenset("cart basket addtocart tocart addtobasket buy buynow purchase warenkorb panier carrito koszyk".split())
_NAME = frozenset("name title heading headline productname productlink".split())
_HIDDEN = frozenset("hidden d-none hide is-hidden ng-hide u-hidden display-none invisible".split())


@dataclass(frozen=True, slots=True)
class ClassCues:
    is_price: bool = False
    role: Role | None = None
    is_sale: bool = False
    is_cents: bool = False
    is_hidden: bool = False
    is_button: bool = False
    is_name: bool = False
    is_cart: bool = False


NO_CUES = ClassCues()


@lru_cache(maxsize=16384)
def cues(names: str) -> ClassCues:
    """The cues in an element's class and id, given as one text."""
    lowered = names.lower()
    tokens = [token.lower() for token in _TOKEN.findall(names)]
    bag = set(tokens)
    is_price = any(word in lowered for word in _PRICE) or bool(bag & _PRICE_TOKENS)
    return ClassCues(
        is_price=is_price,
        role=_role_of(tokens),
        is_sale=bool(bag & _SALE),
        is_cents=bool(bag & _CENTS),
        is_button=bool(bag & _BUTTON),
        is_cart=bool(bag & _CART),
        is_name=bool(bag & _NAME),
        is_hidden=bool(_HIDDEN & set(lowered.split())),
    )


def _role_of(tokens: list[str]) -> Role | None:
    before = ["", *tokens]
    for prefix, *pair in zip(before, tokens, tokens[1:], strict=False):
        if tuple(pair) in _PAIRS and prefix not in _BESIDE:
            return _PAIRS[pair[0], pair[1]]
    for prefix, token in zip(before, tokens, strict=False):
        if token in _ROLES and prefix not in _BESIDE:
            return _ROLES[token]
    return None
