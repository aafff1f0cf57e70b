"""Saved product pages of real shops with their known prices, and our own pages of shop systems."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pricewatch.money import ISO_4217
from pricewatch.parsing.pages.availability import schema_availability
from pricewatch.parsing.prices.currency import SIGNS, WORDS, currency_code
from pricewatch.parsing.url import registrable_domain
from pricewatch.vocabulary import Availability
from tests.bench.metric import Skipped
from tests.generic_reader.test_amounts_beside_the_price import (
    CASES,
    SHOPS,
    amount_first,
    name_of,
    product_page,
)

DEFAULT_FOLDER = Path(__file__).parents[3] / "shared" / "pages"
OWN_SHOPS = Path(__file__).parents[1] / "generic_reader" / "shops"
_STATES = {
    "in": {Availability.IN_STOCK},
    # A sold advert is labelled as out of stock.
    "out": {Availability.OUT_OF_STOCK, Availability.SOLD},
}
# Shops with one domain per country.
_INTERNATIONAL = ("amazon", "zalando", "nike", "etsy")


@dataclass(frozen=True, slots=True)
class Overruled:
    """A label that is wrong, with what is right and the reason."""

    prices: tuple[str, ...]
    why: str
    availability: str = ""


# Labels that are not followed, by the start of the file's name.
OVERRULED = {
    "3f5c52ae76": Overruled(("3340",), "the page says $3.340 on a site of Chile: 3340 pesos"),
    "9f0c6ced87": Overruled(("5000",), "the page says $5.000 on a site of Chile: 5000 pesos"),
    "3126dc6880": Overruled((), "an auction: a bid is not a price"),
    "9d939d48bc": Overruled((), "an auction: a bid is not a price"),
    "f17d4d9c99": Overruled((), "the page says 'new and used (7) from 99,12 €': a from-price"),
    "b12479936f": Overruled((), "the page says $210 起: a from-price of variants"),
    "d132928212": Overruled((), "the page says $960 起: a from-price of variants"),
    "6f905464d4": Overruled((), "the page says 'alkaen 74,95 €': a from-price of sizes"),
    "c3ed0221b7": Overruled((), "the page says 'From €70.50': a from-price of sizes"),
    "b475627f89": Overruled(
        ("17.49",), "labelled in stock; the page has no button, and its data says out of stock", "out"
    ),
}


@dataclass(slots=True)
class SavedPage:
    name: str
    url: str
    body: bytes
    # The accepted prices; empty if the page has none to read.
    prices: frozenset[Decimal]
    currencies: frozenset[str]
    availability: frozenset[Availability]
    shop: str
    overruled: str = ""


def real_pages(folder: Path) -> list[SavedPage]:
    """The pages of `truth.json`, and those of `more/truth.jsonl` if there are any."""
    known = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    pages = [_page(folder / name, row["url"], row.get("price", []), row) for name, row in known.items()]
    more = folder / "more" / "truth.jsonl"
    lines = more.read_text(encoding="utf-8").splitlines() if more.is_file() else []
    for row in map(json.loads, lines):
        # A range or a from-price is not the price of one unit: refusing it is right.
        prices = [row["price"]] if row["kind"] == "price" else []
        pages.append(_page(more.parent / row["file"], row["url"], prices, row))
    return pages


def own_pages() -> list[SavedPage]:
    """Our own pages of shop systems, each a shop, and those with other amounts beside the price."""
    expected = json.loads((OWN_SHOPS / "expected.json").read_text(encoding="utf-8"))
    systems = [
        SavedPage(
            name,
            row["url"],
            (OWN_SHOPS / f"{name}.html").read_bytes(),
            frozenset() if row["expected"] == "refused" else frozenset({Decimal(row["expected"].split()[0])}),
            frozenset(),
            frozenset(),
            f"own {name}",
        )
        for name, row in expected.items()
    ]
    beside = [
        SavedPage(
            name_of(case),
            f"https://{SHOPS[case.lang].domain}/p/item-1234",
            product_page(order, telling).encode(),
            frozenset({Decimal(case.right.split()[0])}),
            frozenset(),
            frozenset(),
            f"own {name_of(case)}",
        )
        for case in CASES
        for order in (case, amount_first(case))
        for telling in (True, False)
    ]
    return [*systems, *beside]


def page_folder(arguments: list[str]) -> Path:
    path = arguments[0] if arguments else os.environ.get("PRICEWATCH_PAGES", "")
    folder = Path(path) if path else DEFAULT_FOLDER
    if not (folder / "truth.json").is_file():
        raise Skipped(f"no pages in {folder}; set PRICEWATCH_PAGES to a directory with a truth.json")
    return folder


def _page(path: Path, url: str, prices: list[str], row: dict[str, Any]) -> SavedPage:
    raw = path.read_bytes()
    overruled = OVERRULED.get(path.name[:10])
    return SavedPage(
        name=path.name[:12],
        url=url,
        body=gzip.decompress(raw) if path.suffix == ".gz" else raw,
        prices=_amounts(list(overruled.prices) if overruled else prices),
        currencies=frozenset(code for mark in _list(row.get("currency")) for code in _codes(mark)),
        availability=frozenset(
            _states(
                overruled.availability if overruled and overruled.availability else row.get("availability")
            )
        ),
        shop=_shop(url),
        overruled=overruled.why if overruled else "",
    )


def _amounts(texts: list[str]) -> frozenset[Decimal]:
    found = set()
    for text in texts:
        try:
            found.add(Decimal(str(text).strip()))
        except InvalidOperation:
            continue
    return frozenset(found)


def _shop(url: str) -> str:
    domain = registrable_domain(url)
    name = domain.partition(".")[0]
    return name if name in _INTERNATIONAL else domain


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _states(value: Any) -> set[Availability]:
    states = (_STATES.get(one) or {schema_availability(one)} for one in _list(value))
    return set().union(*states) - {Availability.UNKNOWN}


def _codes(mark: str) -> set[str]:
    text = mark.strip()
    code = currency_code(text)
    codes = {code} if code else set(SIGNS.get(text, ()) or WORDS.get(text.lower().rstrip("."), ()))
    return {one for one in codes if one in ISO_4217}
