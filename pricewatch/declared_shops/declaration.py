"""What a shop's file says: selectors and patterns, checked when read; a mistake is told in one sentence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from string import Formatter
from typing import Annotated, Any

from cssselect import SelectorError
from parsel.csstranslator import HTMLTranslator
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217
from pricewatch.vocabulary import Availability

# What a search address may ask of its market.
SEARCHED = ("keyword", "category", "city", "state")
_LARGEST_FILE = 100_000


def _selector(css: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(css)
    except SelectorError as error:
        raise ValueError(f"{css!r} is no CSS selector ({error})") from None
    return css


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression ({error})") from None
    if groups > 1:
        raise ValueError(f"{text!r} has {groups} groups; one, around what is meant, is enough")
    return text


def _names_only(*names: str, more: tuple[str, ...] = ()) -> AfterValidator:
    def check(text: str) -> str:
        try:
            asked = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        except ValueError as error:
            raise ValueError(f"{text!r} cannot be read ({error})") from None
        if not asked & set(names) or not asked <= {*names, *more}:
            raise ValueError(f"{text!r} may ask for {', '.join(names)} in braces, and has to")
        return text

    return AfterValidator(check)


def _currency(code: str) -> str:
    if code not in ISO_4217:
        raise ValueError(f"{code!r} is no currency code such as EUR")
    return code


Css = Annotated[str, AfterValidator(_selector)]
Domain = Annotated[str, AfterValidator(str.lower)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_min_length=1, str_strip_whitespace=True)


class FieldPlace(Part):
    """Where a text stands, and which part of it is meant."""

    css: Css
    pattern: Annotated[str, AfterValidator(_pattern)] | None = None


def _places(given: Any) -> Any:
    several = given if isinstance(given, list) else [given]
    return tuple({"css": one} if isinstance(one, str) else one for one in several)


# The first of several places that shows something is meant.
Spot = Annotated[tuple[FieldPlace, ...], Field(min_length=1), BeforeValidator(_places)]


class DeclaredFields(Part):
    """What a card and a product page have in common."""

    title: Spot
    price: Spot | None = None
    availability: Spot | None = None
    # An element that is there only where the thing is sold.
    sold: Spot | None = None
    id: Spot | None = None
    sku: Spot | None = None
    image: Spot | None = None
    location: Spot | None = None
    attributes: dict[str, Spot] = {}


class OverviewPart(DeclaredFields):
    card: Css
    url: Spot = (FieldPlace(css="a::attr(href)"),)
    # Either tells where the pages end: a link to the next, or a box that is there even when it is empty.
    next: Css | None = None
    container: Css | None = None

    @model_validator(mode="after")
    def _has_an_end(self) -> OverviewPart:
        if not self.next and not self.container:
            raise ValueError("give `next` (the link to the next page) or `container` (the box of the cards)")
        return self


class ProductPart(DeclaredFields):
    price: Spot
    # Another place with the same price: where it shows another one, there is none.
    price_again: Spot | None = None
    # Where prices by quantity stand: what counts is the price of one.
    tiers: Spot | None = None
    brand: Spot | None = None
    gtin: Spot | None = None
    mpn: Spot | None = None
    # A button that is there only where the thing can be bought.
    buy: Css | None = None
    # An element that says that the thing is no longer there.
    gone: Spot | None = None

    @model_validator(mode="after")
    def _tells_stock(self) -> ProductPart:
        if not self.availability and not self.buy:
            raise ValueError("give `availability` (the stock line) or `buy` (the button)")
        return self


class Declaration(Part):
    domain: Domain
    currency: Annotated[str, AfterValidator(_currency)]
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    javascript: bool = False
    # How page N differs from the first: `?page={page}`, or an address relative to the first.
    pages: Annotated[str, _names_only("page", "index", "offset", more=("rows",))]
    # How many rows a page has, where its address asks for that or counts rows.
    rows: Annotated[int, Field(ge=1, le=1000)] = 30
    search: Annotated[str, _names_only(*SEARCHED)] | None = None
    overview: OverviewPart
    # Without it, product pages are read as the generic adapter reads any shop's.
    product: ProductPart | None = None
    # The shop's own words for its stock, where they are not understood anyway.
    words: dict[str, Availability] = {}


def read_declaration(path: Path) -> Declaration:
    """A shop's file, or one sentence on what is wrong with it."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_FILE + 1)
        if len(text) > _LARGEST_FILE:
            raise UserError(f"{path}: larger than {_LARGEST_FILE} bytes.")
        return Declaration.model_validate(tomllib.loads(text.decode()))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        raise UserError(f"{path}: {_sentence(error.errors()[0])}.") from None


def _sentence(problem: Any) -> str:
    *above, name = [str(step) for step in problem["loc"] if step != "function-before[<lambda>()]"] or ["it"]
    where = f"[{'.'.join(above)}] " if above else ""
    if problem["type"] == "missing":
        return f"{where}{name} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{where}{name} is not known here; see docs/adding-a-site.md for what is"
    return f"{where}{name}: {problem['msg'].removeprefix('Value error, ').rstrip('.')}"
