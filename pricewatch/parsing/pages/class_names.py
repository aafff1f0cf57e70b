"""Cues about an element from its class and id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.text import word_set

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

_PRICE = tuple(sorted(word_set("price preis prix precio preco prezzo prijs pricing hinta cijena kaina")))
# Words that are also parts of other words, such as `arcena` or `precise`.
_PRICE_TOKENS = word_set(
    "cena ceny cene cenu pris priser pret pretul amounts tsena tsina tseni fiyat fiyati fiyatlar harga hind "
    "precos valor kwota cijene kakaku bedrag mrp montant importe betrag cmimi timi prezzi"
)

# Pairs of words with a role of their own.
_PAIRS: dict[tuple[str, str], Role] = {
    (first, second): role
    for role, pairs in {
        Role.LIST: "list-price recommended-price recommended-retail line-through crossed-out full-price "
        "regular-retail price-before before-price puvodni-cena stara-cena stara-cijena precio-anterior "
        "precio-antes prix-barre prix-conseille price-strike market-price pret-vechi eski-fiyat "
        "prezzo-listino "
        "without-discount bez-slevy",
        Role.NET: "ex-tax excl-tax excluding-tax ex-vat excl-vat exc-vat without-tax "
        "without-vat no-vat no-tax bez-dph bez-vat bez-pdv brez-ddv price-net net-price "
        "sans-taxe prix-ht excl-btw",
        Role.PER_UNIT: "unit-price price-unit base-price price-per per-unit measure-price comparison-price",
        # Alone, these words name a style of text.
        Role.REGULAR: "regular-price price-regular normal-price price-normal standard-price price-standard",
        Role.FROM: "starting-price price-from from-price min-price minimal-price minimum-price",
        Role.RANGE: "price-range",
        Role.OTHER_CONDITION: "open-box other-offers other-sellers second-hand pre-owned",
        Role.EXTRA: "subscribe-save add-on member-price club-price loyalty-price "
        "prime-price recycling-fee eco-tax eco-part eco-participation copyright-levy gift-wrap trade-in",
        Role.RELATED: "cross-sell up-sell also-bought also-like recently-viewed mini-cart mini-basket "
        "product-card product-tile product-thumb product-list product-slider product-carousel "
        "products-list products-grid product-grid "
        "also-viewed last-viewed frequently-bought bought-together best-sellers best-seller",
    }.items()
    for first, second in (pair.split("-") for pair in word_set(pairs))
}

_ROLES: dict[str, Role] = {
    name: role
    for role, names in {
        Role.LIST: "old was strike striked strikethrough struck strikeout crossed before compare compareat "
        "rrp msrp uvp srp pvpr prev previous statt original orig oldprice wasprice listprice retail "
        "suggested barre streichpreis initial linethrough pricelist origin crossedprice ancien vorher "
        "barred uvppreis rrpprice msrpprice mrp pricebefore beforeprice previousprice originalprice "
        "strikeprice crossedout stara puvodni prezzolistino tachado anterior ancienprix prixbarre "
        "adviesprijs overstreept forpris vejl eskifiyat",
        Role.INSTALMENT: "installment installments instalment instalments monthly month finance financing "
        "financed klarna afterpay clearpay emi leasing affirm laybuy ecredit raten ratenzahlung splitit "
        "sezzle paylater parcelas cuotas splatky raty credit alma oney scalapay taksit taksitli mensualite "
        "mensualidad rassrochka delbetalning avbetalning osamaksu zippay tabby tamara paypo parcelamento "
        "ratenkauf termijnen",
        Role.PER_UNIT: "unitprice grundpreis baseprice ppu perunit priceperunit measure "
        "jmfpris jamforpris vertailuhinta egysegar pricepermeasure",
        Role.NET: "net netto extax exvat exclvat excltax taxless ht netprice nettoprice "
        "withoutvat withouttax vatex bezdph bezvat bezpdv brezddv exclbtw exkl exmoms exmva sansiva siniva "
        "senzaiva htva nettopreis pricenet",
        Role.SHIPPING: "shipping delivery versand versandkosten postage freight livraison envio spedizione "
        "dostawa fulfillment fulfilment shippingcost doprava dostavka dostava frakt fragt kargo verzending "
        "verzendkosten poshtina livrare frete szallitas",
        Role.SAVING: "save saving savings youpay yousave rabatt badge sticker ribbon percent "
        "percentage coupon coupons voucher vouchers points cashback loyalty bonus reward rewards "
        "benefit benefits promotion "
        "promotions promo promos offerbanner banner trade tradein usp ahorro risparmio "
        "ersparnis uspora youwillsave",
        Role.EXTRA: "warranty warranties insurance addon addons giftwrap protection subscription subscribe "
        "membership member members service services guarantee care accessory accessories extras bundle "
        "bundles bought ecotax ecotaxe ecopart ecofee levy deposit pfand statiegeld kaucja recyclingfee "
        "memberprice clubprice clubpreis clubcard loyaltyprice kartenpreis installation "
        "zaruka gwarancja garantie garanzia garantia garancia insuranceprice",
        Role.OTHER_CONDITION: "used refurbished openbox preowned secondhand marketplace sellers resale "
        "refurb renewed reconditioned reconditionne gebraucht tweedehands uzywane otheroffers "
        "otherseller othersellers",
        Role.VARIANT: "option options swatch swatches tier tiers tierprice bulk volume staffel "
        "staffelpreis quantitybreak variations sizes",
        Role.RELATED: "related similar recommend recommended recommendation recommendations recommender "
        "upsell crosssell crosssells upsells recently viewed sponsored suggestion suggestions alsobought "
        "minicart cartmenu minibasket footer breadcrumb breadcrumbs reviews review comments newsletter "
        "cookie cookies cookiebot cookieconsent consent gdpr onetrust usercentrics didomi reco recos "
        "lastviewed wishlist menu navigation nav navbar megamenu alternatives alternative "
        "similarproducts relatedproducts bestseller bestsellers testimonials flyout ads advert "
        "advertisement",
    }.items()
    for name in word_set(names)
}

# Complete class names: the two names `price tax` mean a price with tax.
_NAMES: dict[str, Role] = {"price-tax": Role.NET}

# Prefixes that cancel a role: `with-list-price` is a price next to a list price.
_CANCELLING_PREFIXES = word_set("with has have without no non not is show shows")
# Crossed out visually, not only named an old price.
_STRUCK = word_set("strike striked strikethrough struck strikeout crossed linethrough")
_SALE = word_set("sale special discounted reduced nowprice saleprice finalprice")
# These mean a sale price only in a name with a word for price: `new-price`, but not `buy`.
_SALE_WITH_PRICE = word_set("final current now new actual our today selling aktuell sell sales buy")
_CENTS = word_set(
    "cent cents decimal decimals fraction dec minor kop kopecks superscript sup decimales centimes pence "
    "digits "
    "fractional"
)
_BUTTON = word_set(
    "btn button buy addtocart tocart cart basket add addtobasket buynow order purchase "
    "addcart addbasket buybtn "
    "buybutton kaufen acheter comprar acquista kup koupit kupit koop"
)
_CART = word_set(
    "cart basket addtocart tocart addtobasket buy buynow purchase warenkorb panier carrito koszyk addcart "
    "addbasket winkelwagen winkelmand kosik kosarica korpa carrinho carrello varukorg kundvagn kurv "
    "handlekurv ostoskori sepet sepete korzina korzinu kosar ostukorv"
)
_NAME = word_set("name title heading headline productname productlink")
_HIDDEN = word_set("hidden d-none hide is-hidden ng-hide u-hidden display-none invisible")
# Shown only after a click or over something else.
_OVERLAY = word_set("modal popover tooltip offcanvas lightbox")


@dataclass(frozen=True, slots=True)
class ClassCues:
    is_price: bool = False
    role: Role | None = None
    is_sale: bool = False
    is_struck: bool = False
    is_cents: bool = False
    is_hidden: bool = False
    is_button: bool = False
    is_cart: bool = False
    is_name: bool = False


NO_CUES = ClassCues()


# Every name that gives a cue has one of these tokens, or a word for price inside.
_CUE_TOKENS = frozenset().union(
    *(_PRICE_TOKENS, _ROLES, _STRUCK, _SALE, _SALE_WITH_PRICE, _CENTS, _BUTTON, _CART, _NAME, _OVERLAY),
    *_PAIRS,
    *(name.split("-") for name in (*_HIDDEN, *_NAMES)),
)
# Longer names are cut off. Only short ones are cached, because a page chooses them.
_MAX_LENGTH = 4_000
_MAX_CACHED_LENGTH = 500
_DIGITS = str.maketrans(dict.fromkeys("0123456789", "-"))


def cues(names: str) -> ClassCues:
    """The cues of a class attribute and id, joined to one text."""
    return _cached_cues(names) if len(names) <= _MAX_CACHED_LENGTH else _find_cues(names)


def _find_cues(names: str) -> ClassCues:
    lowered = names.lower()
    tokens = [token.lower() for token in _TOKEN.findall(names)]
    has_price_word = any(word in lowered for word in _PRICE)
    # Most names say nothing; one object for all of them can be recognised quickly.
    if not has_price_word and _CUE_TOKENS.isdisjoint(tokens):
        return NO_CUES
    token_set, class_names = set(tokens), lowered.split()
    is_price = has_price_word or bool(token_set & _PRICE_TOKENS)
    found = ClassCues(
        is_price=is_price,
        role=next((_NAMES[name] for name in class_names if name in _NAMES), None) or _role_of(tokens),
        is_sale=bool(token_set & _SALE) or (is_price and bool(token_set & _SALE_WITH_PRICE)),
        is_struck=("line-through" in lowered and "no-line-through" not in lowered)
        or any(
            token in _STRUCK and before not in _CANCELLING_PREFIXES
            for before, token in zip(["", *tokens], tokens, strict=False)
        ),
        is_cents=bool(token_set & _CENTS),
        is_button=bool(token_set & _BUTTON),
        is_cart=bool(token_set & _CART),
        is_name=bool(token_set & _NAME),
        is_hidden=not _HIDDEN.isdisjoint(class_names)
        or "popover" in token_set
        or (not has_price_word and not _OVERLAY.isdisjoint(tokens)),
    )
    return NO_CUES if found == NO_CUES else found


_cached_cues = lru_cache(maxsize=8192)(_find_cues)


def element_cues(element: Element) -> ClassCues:
    """The cues of an element's class and id."""
    names, name = element.get("class"), element.get("id")
    if name:
        # Numbers differ from page to page and say nothing.
        names = f"{names or ''} {name[:_MAX_LENGTH].translate(_DIGITS)}"
    return cues(names if len(names) <= _MAX_LENGTH else names[:_MAX_LENGTH]) if names else NO_CUES


def _role_of(tokens: list[str]) -> Role | None:
    before = ["", *tokens]
    for prefix, first, second in zip(before, tokens, tokens[1:], strict=False):
        if (first, second) in _PAIRS and prefix not in _CANCELLING_PREFIXES:
            return _PAIRS[first, second]
    for prefix, token in zip(before, tokens, strict=False):
        if token in _ROLES and prefix not in _CANCELLING_PREFIXES:
            # `promo-price` is the price of a promotion, not its saving.
            if token.startswith("promo") and any(word in tokens for word in _PRICE):
                continue
            return _ROLES[token]
    return None
