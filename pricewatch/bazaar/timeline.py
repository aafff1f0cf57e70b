"""How a listing lives: when its price changes, when it sells, vanishes, comes back. Pure and by seed only."""

from dataclasses import dataclass, field
from random import Random

from pricewatch.bazaar import money
from pricewatch.bazaar.listing import (
    GONE,
    ON_SALE,
    OUT_OF_STOCK,
    PRICE_HIDDEN,
    PRICE_VISIBLE,
    SOLD,
    Span,
)

HOUR = 3600
DAY = 24 * HOUR
# A mean life of 40 days loses 2.5 % of the stock a day, which is what arrives.
MEAN_LIFE = 40 * DAY
ARRIVALS_PER_DAY = 0.025
MEAN_DAYS_BETWEEN_PRICES = 20
PRICE_GAP = 6 * HOUR
HISTORY = 90 * DAY


@dataclass(slots=True)
class Life:
    """The dated lists of one listing. `renamed` are the instants from which it has a new platform id."""

    spans: list[Span]
    prices: list[tuple[int, int]]
    tops: list[int]
    renamed: list[int] = field(default_factory=list)

    def cut(self, horizon: int) -> "Life":
        """Drop what lies beyond the horizon: there the world stands still."""
        self.spans = [span for span in self.spans if span.begins <= horizon]
        self.prices = [entry for entry in self.prices if entry[0] <= horizon]
        self.tops = [top for top in self.tops if top <= horizon]
        self.renamed = [instant for instant in self.renamed if instant <= horizon]
        return self


def live(rng: Random, born: int, price: int, currency: str, *, shop: bool) -> Life:
    """Return the life of a listing that is on sale at the start instant, or born after it."""
    life = Life([Span(born, ON_SALE)], [(born, price)], [born])
    begins = born
    for _ in range(3):
        ends = max(begins, 0) + 2 * HOUR + int(rng.expovariate(1 / MEAN_LIFE))
        _reprice(rng, life, begins, ends, currency)
        if shop and rng.random() < 0.6:
            _run_out(rng, life, max(begins, 0), ends)
        if rng.random() < 0.55:
            life.spans.append(Span(ends, SOLD))
            break
        life.spans.append(Span(ends, GONE, rng.choice(("404", "404", "410", "soft"))))
        if rng.random() >= 0.25:
            break
        begins = ends + 8 * HOUR + int(rng.random() * 8 * DAY)
        _relist(rng, life, begins, currency)
    return life


def sold_before(rng: Random, born: int, price: int, currency: str) -> Life:
    """Return the life of a listing that was sold before the start instant."""
    ends = born + int(-born * rng.uniform(0.05, 0.95))
    life = Life([Span(born, ON_SALE)], [(born, price)], [born])
    _reprice(rng, life, born, ends, currency)
    life.spans.append(Span(ends, SOLD))
    return life


def arrivals(rng: Random, stock: int, horizon: int) -> list[int]:
    """Return when new listings of a category appear, for a stock of that size."""
    instants: list[int] = []
    if stock:
        at = 0.0
        while (at := at + rng.expovariate(stock * ARRIVALS_PER_DAY / DAY)) < horizon:
            instants.append(int(at) + 1)
    return instants


def _reprice(rng: Random, life: Life, begins: int, ends: int, currency: str) -> None:
    """Add the price changes of one stretch on sale: mostly 3 to 15 % down, sometimes up."""
    at = begins
    while True:
        at += PRICE_GAP + int(rng.expovariate(1 / (MEAN_DAYS_BETWEEN_PRICES * DAY)))
        factor = rng.uniform(0.85, 0.97) if rng.random() < 0.85 else rng.uniform(1.02, 1.1)
        if at >= ends:
            return
        life.prices.append((at, money.changed(life.prices[-1][1], factor, currency, rng)))


def _run_out(rng: Random, life: Life, begins: int, ends: int) -> None:
    """Let a shop run out of stock for a while; its price does not change meanwhile."""
    empty = begins + int(rng.random() * (ends - begins))
    again = empty + 6 * HOUR + int(rng.random() * 4 * DAY)
    mode = PRICE_VISIBLE if rng.random() < 0.6 else PRICE_HIDDEN
    if begins < empty and again < ends:
        life.prices = [entry for entry in life.prices if not empty <= entry[0] <= again]
        life.spans += [Span(empty, OUT_OF_STOCK, mode), Span(again, ON_SALE)]


def _relist(rng: Random, life: Life, begins: int, currency: str) -> None:
    """Bring a vanished listing back at the top: often cheaper, sometimes under a new id."""
    life.spans.append(Span(begins, ON_SALE))
    life.tops.append(begins)
    if rng.random() < 0.5:
        life.prices.append((begins, money.changed(life.prices[-1][1], 0.92, currency, rng)))
    if rng.random() < 0.35:
        life.renamed.append(begins)
