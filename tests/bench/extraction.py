"""Precision, recall and speed of the generic adapter on real pages.

    python -m tests.bench.extraction [DIR]

DIR (or PRICEWATCH_PAGES, or ../shared/pages) has saved pages (`*.html.gz` or `*.html`) and a `truth.json`
with the `url` and the accepted values of `price`, `currency` and `availability` of each file.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import lxml.html  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure, Quarantine
from pricewatch.money import ISO_4217, Money
from pricewatch.parsing.pages.availability import schema_availability
from pricewatch.parsing.prices.currency import SIGNS, WORDS, currency_code
from pricewatch.vocabulary import Availability
from tests.bench.metric import Metric, Skipped

ROUNDS = 9
PRECISION, RECALL, SPEED = 0.98, 0.75, 0.5


@dataclass(slots=True)
class Page:
    name: str
    url: str
    body: bytes
    truth: dict[str, Any]

    def prices(self) -> set[Decimal]:
        found = set()
        for text in self.truth.get("price", []):
            try:
                found.add(Decimal(str(text).strip()))
            except InvalidOperation:
                continue
        return found


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    priced: int = 0
    currency: list[bool] = field(default_factory=list)
    availability: list[bool] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        answers = self.right + self.wrong
        return self.right / answers if answers else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.priced if self.priced else 0.0


def pages_in(folder: Path) -> list[Page]:
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    pages = []
    for name, known in truth.items():
        raw = (folder / name).read_bytes()
        pages.append(Page(name, known["url"], gzip.decompress(raw) if name.endswith(".gz") else raw, known))
    return pages


def extract(page: Page) -> Extracted | ExtractFailure | Quarantine:
    return GenericAdapter().extract(HtmlResponse(page.url, body=page.body))


def score(pages: list[Page]) -> Score:
    result = Score()
    for page in pages:
        accepted = page.prices()
        result.priced += bool(accepted)
        found = extract(page)
        label = f"{page.name[:12]} {page.url[:70]}"
        if not isinstance(found, Extracted):
            why = found.details if isinstance(found, ExtractFailure) else found.details.get("why")
            if accepted:
                result.misses.append(f"none   {label}: {found.reason} ({why}), true {_shown(accepted)}")
            continue
        offer = found.offer
        price = Money(offer.price_cents, offer.currency).amount
        if price in accepted:
            result.right += 1
        else:
            result.wrong += 1
            result.misses.append(f"WRONG  {label}: {price} {offer.currency}, true {_shown(accepted)}")
        marks = page.truth.get("currency", [])
        if marks:
            result.currency.append(any(offer.currency in _codes(mark) for mark in marks))
        states = {schema_availability(state) for state in page.truth.get("availability", [])} - {
            Availability.UNKNOWN
        }
        if states:
            result.availability.append(offer.availability in states)
            if offer.availability not in states:
                result.misses.append(f"stock  {label}: {offer.availability}, true {sorted(states)}")
    return result


def speed(pages: list[Page], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the seconds to parse all pages with lxml, and to extract from them; the best round of each."""
    parsing = extracting = 0.0
    for page in pages:
        extract(page)
        parsing += min(_timed(lambda page=page: lxml.html.fromstring(page.body)) for _ in range(rounds))
        extracting += min(_timed(lambda page=page: extract(page)) for _ in range(rounds))
    return parsing, extracting


def _timed(work: Any) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _codes(mark: str) -> set[str]:
    text = mark.strip()
    code = currency_code(text)
    codes = {code} if code else set(SIGNS.get(text, ()) or WORDS.get(text.lower().rstrip("."), ()))
    return codes & ISO_4217


def _shown(amounts: set[Decimal]) -> str:
    return " or ".join(map(str, sorted(amounts)))


def _pages(arguments: list[str]) -> list[Page]:
    default = Path(__file__).parents[3] / "shared" / "pages"
    path = arguments[0] if arguments else os.environ.get("PRICEWATCH_PAGES", "")
    folder = Path(path) if path else default
    if not (folder / "truth.json").is_file() or not (pages := pages_in(folder)):
        raise Skipped(f"no pages in {folder}; set PRICEWATCH_PAGES to a directory with a truth.json")
    return pages


def run() -> list[Metric]:
    pages = _pages([])
    found = score(pages)
    parsing, extracting = speed(pages)
    answers = found.right + found.wrong
    return [
        Metric("extraction, precision", found.right, "prices", answers, found.precision, PRECISION),
        Metric("extraction, recall", found.right, "prices", found.priced, found.recall, RECALL),
        Metric(
            "extraction, compared with parsing alone",
            len(pages) / extracting,
            "pages/s",
            len(pages) / parsing,
            parsing / extracting,
            SPEED,
        ),
    ]


def main(arguments: list[str]) -> int:
    try:
        pages = _pages(arguments)
    except Skipped as skipped:
        print(f"skipped: {skipped}", file=sys.stderr)
        return 0
    found = score(pages)
    for line in found.misses:
        print(line)
    print(f"pages          {len(pages)}, {sum(len(page.body) for page in pages) / 1e6:.1f} MB")
    print(f"price          {found.right} right, {found.wrong} wrong, of {found.priced}")
    print(f"  precision    {found.precision:.3f} (at least {PRECISION})")
    print(f"  recall       {found.recall:.3f} (at least {RECALL})")
    print(f"currency       {sum(found.currency)} of {len(found.currency)} agree")
    print(f"availability   {sum(found.availability)} of {len(found.availability)} agree")
    parsing, extracting = speed(pages)
    ratio = parsing / extracting
    print(f"speed          {parsing * 1000:.0f} ms to parse, {extracting * 1000:.0f} ms to extract")
    print(f"  ratio        {ratio:.2f} (at least {SPEED})")
    return int(found.precision < PRECISION or found.recall < RECALL or ratio < SPEED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
