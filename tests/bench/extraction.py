"""Precision, recall and speed of the generic adapter on real pages.

    python -m tests.bench.extraction [DIR]

DIR (or PRICEWATCH_PAGES, or ../shared/pages) has saved pages (`*.html.gz` or `*.html`) and a `truth.json`
with the `url` and the accepted values of `price`, `currency` and `availability` of each file; more pages with
one answer per line are in `more/truth.jsonl`.

A price counts as read only if it would be stored: one without a known availability is dropped. The figures
that count are those of *leave one shop out*: each shop is read with weights that were fitted without it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import lxml.html  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse

from pricewatch.adapters.offer_check import check_offer
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.generic_reader.price_weights import WEIGHTS
from pricewatch.items import Extracted, ExtractFailure, Ok, Quarantine
from pricewatch.money import Money
from pricewatch.vocabulary import Availability
from tests.bench.fit_weights import Weights, examples_of, fit
from tests.bench.metric import Metric, Skipped
from tests.bench.saved_pages import SavedPage, own_pages, page_folder, real_pages

ROUNDS = 9
PRECISION, RECALL, SPEED = 0.99, 0.90, 0.4
PRECISION_LEFT_OUT, RECALL_LEFT_OUT = 0.99, 0.82
UNKNOWN_AVAILABILITY = 0.05


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    priced: int = 0
    currency: list[bool] = field(default_factory=list)
    # Of the pages whose price was read: whether the availability is right, and how many are not known.
    availability: list[bool] = field(default_factory=list)
    unknown: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        answers = self.right + self.wrong
        return self.right / answers if answers else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.priced if self.priced else 0.0

    @property
    def unknown_share(self) -> float:
        return self.unknown / self.priced if self.priced else 0.0

    def add(self, page: SavedPage) -> None:
        """Read a page and count the outcome."""
        self.priced += bool(page.prices)
        found = extract(page)
        label = f"{page.name:12} {page.url[:70]}"
        true = " or ".join(map(str, sorted(page.prices))) or "no price"
        if not isinstance(found, Extracted):
            why = found.details if isinstance(found, ExtractFailure) else found.details.get("why")
            if page.prices:
                self.misses.append(f"none   {label}: {found.reason} ({why}), true {true}")
            return
        offer = found.offer
        price = Money(offer.price_cents, offer.currency).amount
        is_right = price in page.prices
        if is_right and offer.availability is Availability.UNKNOWN:
            self.unknown += 1
        stored = check_offer(offer, GenericAdapter())
        if not isinstance(stored, Ok):
            if page.prices:
                self.misses.append(f"drop   {label}: {price} {stored.reason}, true {true}")
            return
        self.right += is_right
        self.wrong += not is_right
        if not is_right:
            self.misses.append(f"WRONG  {label}: {price} {offer.currency}, true {true}")
        if page.currencies:
            self.currency.append(offer.currency in page.currencies)
        if page.availability:
            self.availability.append(offer.availability in page.availability)
            if offer.availability not in page.availability:
                self.misses.append(f"stock  {label}: {offer.availability}, true {sorted(page.availability)}")


def extract(page: SavedPage) -> Extracted | ExtractFailure | Quarantine:
    return GenericAdapter().extract(HtmlResponse(page.url, body=page.body))


def score(pages: list[SavedPage]) -> Score:
    result = Score()
    for page in pages:
        result.add(page)
    return result


def score_left_out(pages: list[SavedPage]) -> Score:
    """Read the pages of each shop with weights that were fitted on all other shops."""
    examples = examples_of([*pages, *own_pages()])
    result = Score()
    for shop in sorted({page.shop for page in pages}):
        with _weights(fit([one for one in examples if one.shop != shop])):
            for page in pages:
                if page.shop == shop:
                    result.add(page)
    return result


@contextmanager
def _weights(weights: Weights) -> Iterator[None]:
    saved = dict(WEIGHTS)
    WEIGHTS.clear()
    WEIGHTS.update(weights)
    try:
        yield
    finally:
        WEIGHTS.clear()
        WEIGHTS.update(saved)


def speed(pages: list[SavedPage], rounds: int = ROUNDS) -> tuple[float, float]:
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


def run() -> list[Metric]:
    pages = real_pages(page_folder([]))
    found, left_out = score(pages), score_left_out(pages)
    parsing, extracting = speed(pages)
    rates = (len(pages) / extracting, len(pages) / parsing)
    metrics = [
        _metric("extraction, precision", found.precision, found, PRECISION),
        _metric("extraction, recall", found.recall, found, RECALL),
        _metric("extraction, precision on shops left out", left_out.precision, left_out, PRECISION_LEFT_OUT),
        _metric("extraction, recall on shops left out", left_out.recall, left_out, RECALL_LEFT_OUT),
    ]
    ratio = parsing / extracting
    name = "extraction, compared with parsing alone"
    return [*metrics, Metric(name, rates[0], "pages/s", rates[1], ratio, SPEED)]


def _metric(name: str, value: float, found: Score, threshold: float) -> Metric:
    return Metric(name, found.right, "prices", found.priced, value, threshold)


def main(arguments: list[str]) -> int:
    try:
        pages = real_pages(page_folder(arguments))
    except Skipped as skipped:
        print(f"skipped: {skipped}", file=sys.stderr)
        return 0
    found, left_out = score(pages), score_left_out(pages)
    for line in found.misses:
        print(line)
    for line in sorted(set(left_out.misses) - set(found.misses)):
        print(f"left out: {line}")
    for page in pages:
        if page.overruled:
            print(f"label  {page.name:12} {page.url[:70]}: not followed: {page.overruled}")
    size = sum(len(page.body) for page in pages) / 1e6
    print(f"pages          {len(pages)} of {len({page.shop for page in pages})} shops, {size:.1f} MB")
    print(f"price          {found.right} stored right, {found.wrong} wrong, of {found.priced}")
    print(f"  precision    {found.precision:.3f} (at least {PRECISION})")
    print(f"  recall       {found.recall:.3f} (at least {RECALL})")
    print(f"leave one shop out: {left_out.right} stored right, {left_out.wrong} wrong, of {left_out.priced}")
    print(f"  precision    {left_out.precision:.3f} (at least {PRECISION_LEFT_OUT})")
    print(f"  recall       {left_out.recall:.3f} (at least {RECALL_LEFT_OUT})")
    print(f"currency       {sum(found.currency)} of {len(found.currency)} agree")
    print(f"availability   {sum(found.availability)} of {len(found.availability)} agree")
    print(
        f"  unknown      {found.unknown_share:.3f} of the pages with a price (at most {UNKNOWN_AVAILABILITY})"
    )
    parsing, extracting = speed(pages)
    ratio = parsing / extracting
    print(f"speed          {parsing * 1000:.0f} ms to parse, {extracting * 1000:.0f} ms to extract")
    print(f"  ratio        {ratio:.2f} (at least {SPEED})")
    is_good = (
        found.wrong == 0
        and found.recall >= RECALL
        and left_out.precision >= PRECISION_LEFT_OUT
        and left_out.recall >= RECALL_LEFT_OUT
        and all(found.availability)
        and found.unknown_share <= UNKNOWN_AVAILABILITY
        and ratio >= SPEED
    )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
