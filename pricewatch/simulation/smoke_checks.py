"""What must be true after each round of the smoke test, figured out from what the marketplace knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pricewatch.bazaar.client import TruthListing
from pricewatch.simulation.smoke import CHEAPER, TARGETS, Round
from pricewatch.store.reports import StoredListing

AVAILABILITY = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK"}


@dataclass(frozen=True, slots=True)
class Check:
    """One figure: what it should be, and what it is."""

    what: str
    wanted: Any
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.wanted == self.found)


def check_first(done: Round, before: Iterable[TruthListing], after: Iterable[TruthListing]) -> list[Check]:
    """`before` is what the market showed to discovery, `after` what it showed to the others."""
    first, then = {each.url: each for each in before}, {each.url: each for each in after}
    stored = {urlsplit(url).path: listing for url, listing in done.stored.items()}
    gone = sorted(set(first) - set(then))
    priced = sum(each.mode != "hidden" for each in first.values())
    return [
        Check("runs that finished", len(done.runs), done.finished()),
        Check("new listings", len(first), done.total("new_listings")),
        Check("listings stored", sorted(first), sorted(stored)),
        Check("listings with another price or stock", [], _differences(then, stored)),
        Check("listings off sale", gone, sorted(path for path, each in stored.items() if not each.active)),
        Check("listings found gone", len(gone), done.total("gone")),
        Check("price rows", priced + CHEAPER, done.total("price_rows")),
        Check("history rows", priced + CHEAPER, sum(each.history_rows for each in stored.values())),
        Check("watched pages read", TARGETS, done.of("targets", "details")),
        Check("held in quarantine", 0, done.quarantined),
    ]


def check_second(first: Round, second: Round) -> list[Check]:
    """Nothing happened in between, so nothing but sightings is added."""
    seen = sum(each.times_seen for each in first.stored.values())
    seen_then = sum(each.times_seen for each in second.stored.values())
    return [
        Check("second round: runs that finished", len(second.runs), second.finished()),
        Check("second round: new listings", 0, second.total("new_listings")),
        Check("second round: price rows", 0, second.total("price_rows")),
        Check("second round: listings found gone", 0, second.total("gone")),
        Check("second round: listings that changed", [], _changed(first.stored, second.stored)),
        Check("second round: watched pages read", TARGETS, second.of("targets", "details")),
        Check("second round: held in quarantine", 0, second.quarantined),
        Check("second round: seen again", True, seen_then > seen),
    ]


def _differences(shown: dict[str, TruthListing], stored: dict[str, StoredListing]) -> list[str]:
    differing = []
    for path, listing in shown.items():
        # A page that hides its price while it is out of stock leaves the last one known.
        price = None if listing.mode == "hidden" else listing.price
        wanted = (price, listing.currency if price else None, AVAILABILITY[listing.state])
        mine = stored.get(path)
        if mine is None or mine[:3] != wanted:
            differing.append(f"{path} is {wanted}, stored as {mine and mine[:3]}")
    return differing


def _changed(before: dict[str, StoredListing], after: dict[str, StoredListing]) -> list[str]:
    still = {url: listing._replace(times_seen=0) for url, listing in before.items()}
    return sorted(url for url, listing in after.items() if listing._replace(times_seen=0) != still.get(url))
