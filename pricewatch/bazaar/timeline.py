"""Lifecycles of listings: price changes, sale, removal, relisting. Pure functions of a random stream."""

from dataclasses import dataclass, field
from random import Random

from pricewatch.bazaar import amounts
from pricewatch.bazaar.sample_listing import (
    GONE,
    ON_SALE,
    OUT_OF_STOCK,
    PRICE_HIDDEN,
    PRICE_VISIBLE,
    SOLD,
    StateSpan,
)

HOUR = 3600
DAY = 24 * HOUR
# With a mean lifetime of 40 days, 2.5 % of the stock leaves per day, as much as arrives.
MEAN_LIFETIME = 40 * DAY
ARRIVALS_PER_DAY = 0.025
MEAN_DAYS_BETWEEN_PRICES = 20
MIN_PRICE_INTERVAL = 6 * HOUR
HISTORY = 90 * DAY


@dataclass(slots=True)
class Lifecycle:
    """The dated lists of one listing. `id_changes` are the times at which it gets a new platform id."""

    spans: list[StateSpan]
    prices: list[tuple[int, int]]
    bumps: list[int]
    id_changes: list[int] = field(default_factory=list)

    def cut(self, horizon: int) -> "Lifecycle":
        """Drop everything after the horizon, where the timeline ends."""
        self.spans = [span for span in self.spans if span.begins <= horizon]
        self.prices = [entry for entry in self.prices if entry[0] <= horizon]
        self.bumps = [at for at in self.bumps if at <= horizon]
        self.id_changes = [at for at in self.id_changes if at <= horizon]
        return self


def plan_lifecycle(rng: Random, listed_at: int, price: int, currency: str, *, shop: bool) -> Lifecycle:
    """Return the lifecycle of a listing that is on sale at the start time or listed later."""
    lifecycle = Lifecycle([StateSpan(listed_at, ON_SALE)], [(listed_at, price)], [listed_at])
    begins = listed_at
    for _ in range(3):
        ends = max(begins, 0) + 2 * HOUR + int(rng.expovariate(1 / MEAN_LIFETIME))
        _add_price_changes(rng, lifecycle, begins, ends, currency)
        if shop and rng.random() < 0.6:
            _add_out_of_stock(rng, lifecycle, max(begins, 0), ends)
        if rng.random() < 0.55:
            lifecycle.spans.append(StateSpan(ends, SOLD))
            break
        lifecycle.spans.append(StateSpan(ends, GONE, rng.choice(("404", "404", "410", "soft"))))
        if rng.random() >= 0.25:
            break
        begins = ends + 8 * HOUR + int(rng.random() * 8 * DAY)
        _relist(rng, lifecycle, begins, currency)
    return lifecycle


def plan_sold_lifecycle(rng: Random, listed_at: int, price: int, currency: str) -> Lifecycle:
    """Return the lifecycle of a listing that was sold before the start time."""
    ends = listed_at + int(-listed_at * rng.uniform(0.05, 0.95))
    lifecycle = Lifecycle([StateSpan(listed_at, ON_SALE)], [(listed_at, price)], [listed_at])
    _add_price_changes(rng, lifecycle, listed_at, ends, currency)
    lifecycle.spans.append(StateSpan(ends, SOLD))
    return lifecycle


def arrivals(rng: Random, stock: int, horizon: int) -> list[int]:
    """Return when new listings of a category with this stock appear."""
    times: list[int] = []
    if stock:
        at = 0.0
        while (at := at + rng.expovariate(stock * ARRIVALS_PER_DAY / DAY)) < horizon:
            times.append(int(at) + 1)
    return times


def _add_price_changes(rng: Random, lifecycle: Lifecycle, begins: int, ends: int, currency: str) -> None:
    """Add price changes to a period on sale: mostly 3 to 15 % down, sometimes up."""
    at = begins
    while True:
        at += MIN_PRICE_INTERVAL + int(rng.expovariate(1 / (MEAN_DAYS_BETWEEN_PRICES * DAY)))
        factor = rng.uniform(0.85, 0.97) if rng.random() < 0.85 else rng.uniform(1.02, 1.1)
        if at >= ends:
            return
        lifecycle.prices.append((at, amounts.changed_price(lifecycle.prices[-1][1], factor, currency, rng)))


def _add_out_of_stock(rng: Random, lifecycle: Lifecycle, begins: int, ends: int) -> None:
    """Add an out-of-stock period to a shop's listing; its price does not change meanwhile."""
    empty = begins + int(rng.random() * (ends - begins))
    again = empty + 6 * HOUR + int(rng.random() * 4 * DAY)
    mode = PRICE_VISIBLE if rng.random() < 0.6 else PRICE_HIDDEN
    if begins < empty and again < ends:
        lifecycle.prices = [entry for entry in lifecycle.prices if not empty <= entry[0] <= again]
        lifecycle.spans += [StateSpan(empty, OUT_OF_STOCK, mode), StateSpan(again, ON_SALE)]


def _relist(rng: Random, lifecycle: Lifecycle, begins: int, currency: str) -> None:
    """Relist a removed listing at the top: often cheaper, sometimes under a new id."""
    lifecycle.spans.append(StateSpan(begins, ON_SALE))
    lifecycle.bumps.append(begins)
    if rng.random() < 0.5:
        lifecycle.prices.append((begins, amounts.changed_price(lifecycle.prices[-1][1], 0.92, currency, rng)))
    if rng.random() < 0.35:
        lifecycle.id_changes.append(begins)
