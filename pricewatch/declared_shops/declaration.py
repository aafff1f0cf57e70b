"""The format of a shop's TOML file: selectors and patterns, validated when the file is read."""

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

# Market parameters that a search URL may use.
SEARCH_FIELDS = ("keyword", "category", "city", "state")
_MAX_FILE_SIZE = 100_000


def _selector(css: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(css)
    except SelectorError as error:
        raise ValueError(f"{css!r} is not a CSS selector ({error})") from None
    return css


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression ({error})") from None
    if groups > 1:
        raise ValueError(f"{text!r} has {groups} groups, but at most one is allowed")
    return text


def _template(*names: str, optional: tuple[str, ...] = ()) -> AfterValidator:
    """Check that a template has at least one of these fields, and no others but optional ones."""

    def check(text: str) -> str:
        try:
            fields = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        except ValueError as error:
            raise ValueError(f"{text!r} is not a valid template ({error})") from None
        if not fields & set(names) or not fields <= {*names, *optional}:
            raise ValueError(
                f"{text!r} must contain at least one of {', '.join(names)} in braces, and no other name"
            )
        return text

    return AfterValidator(check)


def _currency(code: str) -> str:
    if code not in ISO_4217:
        raise ValueError(f"{code!r} is not a currency code. Example: EUR")
    return code


Css = Annotated[str, AfterValidator(_selector)]
Domain = Annotated[str, AfterValidator(str.lower)]


class DeclarationModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_min_length=1, str_strip_whitespace=True)


class FieldPlace(DeclarationModel):
    """A selector, and a pattern for the part of its text that counts."""

    css: Css
    pattern: Annotated[str, AfterValidator(_pattern)] | None = None


def _as_places(value: Any) -> Any:
    places = value if isinstance(value, list) else [value]
    return tuple({"css": place} if isinstance(place, str) else place for place in places)


# Several places in order of preference: the first one with a text counts.
Places = Annotated[tuple[FieldPlace, ...], Field(min_length=1), BeforeValidator(_as_places)]


class DeclaredFields(DeclarationModel):
    """The fields that cards and product pages have in common."""

    title: Places
    price: Places | None = None
    availability: Places | None = None
    # An element that is present only if the item is sold.
    sold: Places | None = None
    id: Places | None = None
    sku: Places | None = None
    image: Places | None = None
    location: Places | None = None
    attributes: dict[str, Places] = {}


class OverviewPart(DeclaredFields):
    card: Css
    url: Places = (FieldPlace(css="a::attr(href)"),)
    # Either one shows where the list ends: the link to the next page, or a container that may be empty.
    next: Css | None = None
    container: Css | None = None

    @model_validator(mode="after")
    def _has_list_end(self) -> OverviewPart:
        if not self.next and not self.container:
            raise ValueError(
                "give `next` (the link to the next page) or `container` (the element around the cards)"
            )
        return self


class ProductPart(DeclaredFields):
    price: Places
    # A second place with the same price; if the two differ, the price is ambiguous.
    price_again: Places | None = None
    # The place of prices by quantity; the price of one unit counts.
    tiers: Places | None = None
    brand: Places | None = None
    gtin: Places | None = None
    mpn: Places | None = None
    # A button that is present only if the product can be bought.
    buy: Css | None = None
    # An element that says that the product is gone.
    gone: Places | None = None

    @model_validator(mode="after")
    def _has_availability(self) -> ProductPart:
        if not self.availability and not self.buy:
            raise ValueError("give `availability` (the stock line) or `buy` (the button)")
        return self


class Declaration(DeclarationModel):
    domain: Domain
    currency: Annotated[str, AfterValidator(_currency)]
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    javascript: bool = False
    # Page N relative to the first page: `?page={page}`, or a relative URL.
    pages: Annotated[str, _template("page", "index", "offset", optional=("rows",))]
    # Rows per page, for templates with `rows` or `offset`.
    rows: Annotated[int, Field(ge=1, le=1000)] = 30
    search: Annotated[str, _template(*SEARCH_FIELDS)] | None = None
    overview: OverviewPart
    # Without this part, the generic reader reads product pages.
    product: ProductPart | None = None
    # Phrases of the shop for its availability, in addition to the built-in ones.
    words: dict[str, Availability] = {}


def read_declaration(path: Path) -> Declaration:
    """Read a shop's file; raise UserError with one sentence if it is not valid."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_FILE_SIZE + 1)
        if len(text) > _MAX_FILE_SIZE:
            raise UserError(f"{path}: larger than {_MAX_FILE_SIZE} bytes.")
        return Declaration.model_validate(tomllib.loads(text.decode()))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        raise UserError(f"{path}: {_sentence(error.errors()[0])}.") from None


def _sentence(problem: Any) -> str:
    *section, name = [str(step) for step in problem["loc"] if step != "function-before[<lambda>()]"] or ["it"]
    where = f"[{'.'.join(section)}] " if section else ""
    if problem["type"] == "missing":
        return f"{where}{name} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{where}{name} is not a known setting; docs/adding-a-site.md lists all of them"
    return f"{where}{name}: {problem['msg'].removeprefix('Value error, ').rstrip('.')}"
