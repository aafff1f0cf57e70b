"""A hostile page with the prices that it shows, and the registry of all kinds of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

URL = "https://shop.example/p/blue-kettle-1234"
HTML = {"Content-Type": "text/html; charset=utf-8"}
# What the product of a page costs; the only price that a page with this product shows by itself.
PRICE = "19.99 EUR"
PRODUCT = (
    '<main><h1>Blue Kettle</h1><div class="product-price">€19.99</div><button>Add to cart</button></main>'
)
# Where a fragment stands: alone on a page without a product, or before, after or around the product.
PLACES = ("alone", "before", "after")


@dataclass(frozen=True, slots=True)
class HostilePage:
    """`make(*args)` returns the body, so that only the pages that are read are ever built."""

    name: str
    make: Callable[..., str | bytes]
    args: tuple[Any, ...] = ()
    kind: str = ""
    # The prices that may be accepted; none if it is empty.
    shows: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=lambda: HTML)
    url: str = URL
    status: int = 200
    # The adapters of sites that read the page, besides those that read any page.
    adapters: tuple[str, ...] = ()
    # One element has so many attributes that only a process that can be ended may parse the page.
    is_flood: bool = False

    @property
    def label(self) -> str:
        return f"{self.kind}: {self.name}"

    def body(self) -> bytes:
        made = self.make(*self.args)
        return made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")


Pages = Iterator[HostilePage]
KINDS: dict[str, Callable[[], Pages]] = {}


def kind(name: str) -> Callable[[Callable[[], Pages]], Callable[[], Pages]]:
    """Register a function that yields the pages of a kind."""

    def register(pages: Callable[[], Pages]) -> Callable[[], Pages]:
        KINDS[name] = pages
        return pages

    return register


def pages_of(name: str) -> Pages:
    for page in KINDS[name]():
        yield replace(page, kind=name)


def page(
    name: str, make: Callable[..., str | bytes], *args: Any, shows: str | None = PRICE, **more: Any
) -> HostilePage:
    """A page; `shows` has its prices, separated by commas, or is empty."""
    prices = frozenset(price.strip() for price in (shows or "").split(",") if price.strip())
    return HostilePage(name, make, args, shows=prices, **more)


def placed(
    name: str, make: Callable[..., str], *args: Any, places: tuple[str, ...] = PLACES, **more: Any
) -> Pages:
    """Pages with a fragment at each of the places; the fragment itself shows no price."""
    for place in places:
        shows = "" if place == "alone" else PRICE
        yield page(f"{name}, {place}", _placed, place, make, args, shows=shows, **more)


def _placed(place: str, make: Callable[..., str], args: tuple[Any, ...]) -> str:
    fragment = make(*args)
    if place == "alone":
        return document(fragment, title="A page")
    if place == "head":
        return document(PRODUCT, head=fragment)
    return document(f"{fragment}{PRODUCT}" if place == "before" else f"{PRODUCT}{fragment}")


def document(body: str, head: str = "", title: str = "Blue Kettle | Shop") -> str:
    start = f'<!doctype html><html lang="en"><head><title>{title}</title>{head}</head>'
    return f"{start}<body>{body}</body></html>"


def repeated(text: str, size: int) -> str:
    """A text repeated up to about `size` characters."""
    return text * max(1, size // len(text))
