"""Products and their offers in structured data: JSON-LD, microdata and RDFa."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pricewatch.parsing.structured_data.block_limits import MAX_PRODUCTS, BlockTooLarge
from pricewatch.parsing.structured_data.microdata import ELEMENT
from pricewatch.parsing.structured_data.offers import OfferData, read_offers
from pricewatch.parsing.text import clean, word_set

_PRODUCT_TYPES = word_set(
    "product productgroup individualproduct productmodel someproducts vehicle car motorcycle "
    "motorizedbicycle busorcoach book audiobook movie musicalbum musicrelease game videogame "
    "softwareapplication mobileapplication webapplication drug dietarysupplement apartment house "
    "singlefamilyresidence residence accommodation realestatelisting visualartwork painting photograph "
    "sheetmusic course"
)
# Properties whose products or offers are not the page's own.
_OTHER_PRODUCTS = word_set(
    "isrelatedto issimilarto isaccessoryorsparepartfor isconsumablefor isvariantof itemlistelement "
    "itemoffered hasoffercatalog recommendedproduct relatedproduct about mentions review reviews offers "
    "offer makesoffer"
)
_MAIN = frozenset({"mainentity", "mainentityofpage"})
_MAX_DEPTH = 12
_MAX_PREFIX_LENGTH = 6
_MAX_KEY_LENGTH = 60


@dataclass(slots=True)
class ProductData:
    """One product in the structured data of a page; not necessarily the product of the page."""

    source: str
    path: str
    name: str = ""
    url: str = ""
    sku: str = ""
    product_id: str = ""
    gtin: str = ""
    mpn: str = ""
    brand: str = ""
    image: str = ""
    offers: list[OfferData] = field(default_factory=list)
    is_main: bool = False
    is_orphan: bool = False


def products_in(data: Any, source: str) -> list[ProductData]:
    """All products in decoded structured data, except those that are only related to another one.

    Raises BlockTooLarge.
    """
    found = list(islice(_walk(data, source, source, depth=0, is_main=False), MAX_PRODUCTS + 1))
    if len(found) > MAX_PRODUCTS:
        raise BlockTooLarge(f"{source} has more than {MAX_PRODUCTS} products")
    return found


def product_of(node: dict[str, Any], source: str, path: str) -> ProductData:
    offers = read_offers(node, path)
    return ProductData(
        source=source,
        path=path,
        name=first_text(node.get("name")) or first_text(node.get("title")),
        url=first_text(node.get("url")) or _address(node.get("@id")),
        sku=first_text(node.get("sku")) or _from_offers(node, "sku"),
        product_id=_without_prefix(first_text(node.get("productID")) or first_text(node.get("productId"))),
        gtin=_gtin(node) or _from_offers(node, "gtin13") or _from_offers(node, "gtin"),
        mpn=first_text(node.get("mpn")) or _from_offers(node, "mpn"),
        brand=first_text(node.get("brand")) or first_text(node.get("manufacturer")),
        image=first_text(node.get("image")),
        offers=offers,
    )


def first_text(value: Any) -> str:
    """The text of a value that may be a string, a number, an object with a name, or a list of those."""
    if isinstance(value, list):
        return next((text for one in value if (text := first_text(one))), "")
    if isinstance(value, dict):
        for key in ("name", "@value", "url", "contentUrl", "@id", "value"):
            if text := first_text(value.get(key)):
                return text
        return ""
    if isinstance(value, bool) or value is None:
        return ""
    return clean(str(value)) if isinstance(value, (str, int, float)) else ""


def node_types(node: dict[str, Any]) -> frozenset[str]:
    raw = node.get("@type") or ""
    names = raw if isinstance(raw, list) else str(raw).split()
    return frozenset(str(name).rstrip("/").rpartition("/")[2].rpartition(":")[2].lower() for name in names)


def _walk(data: Any, source: str, path: str, *, depth: int, is_main: bool) -> Iterator[ProductData]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(data, list):
        for index, one in enumerate(data):
            yield from _walk(one, source, f"{path}[{index}]", depth=depth + 1, is_main=is_main)
        return
    if not isinstance(data, dict):
        return
    types = node_types(data)
    if types & _PRODUCT_TYPES:
        product = product_of(data, source, path)
        product.is_main = is_main
        yield product
        return
    is_untyped = not any(types) and ELEMENT not in data and "offers" in data
    if is_untyped or (source != "json-ld" and types <= {""} and ("offers" in data or "price" in data)):
        product = product_of(data, source, path)
        product.is_orphan = True
        yield product
        return
    if types & {"offer", "aggregateoffer"}:
        offered = data.get("itemOffered")
        thing = offered if isinstance(offered, dict) else {}
        product = product_of({**thing, "offers": data}, source, path)
        product.is_orphan = not thing
        product.is_main = is_main
        yield product
        return
    for key, value in data.items():
        name = key.lower()
        if name not in _OTHER_PRODUCTS and isinstance(value, (dict, list)):
            yield from _walk(
                value,
                source,
                f"{path}.{key[:_MAX_KEY_LENGTH]}",
                depth=depth + 1,
                is_main=is_main or name in _MAIN,
            )


def _from_offers(node: dict[str, Any], key: str) -> str:
    """The code that all offers of a product share."""
    offers = node.get("offers")
    rows = offers if isinstance(offers, list) else [offers]
    codes = {first_text(row.get(key)) for row in rows if isinstance(row, dict)}
    return codes.pop() if len(codes) == 1 else ""


def _gtin(node: dict[str, Any]) -> str:
    for key in ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "isbn"):
        digits = first_text(node.get(key)).replace("-", "").replace(" ", "")
        if digits.isdigit() and 8 <= len(digits) <= 14:
            return digits
    return ""


def _without_prefix(code: str) -> str:
    """A product id without a prefix as in the examples of schema.org: `sku:123`, `isbn:978…`."""
    kind, _, value = code.partition(":")
    return value.strip() if value and kind.isalnum() and len(kind) <= _MAX_PREFIX_LENGTH else code


def _address(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return text if text.startswith(("http://", "https://", "/")) else ""
