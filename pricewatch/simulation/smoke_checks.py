"""What must be true after each round of the smoke test, figured out from what the marketplace knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pricewatch.bazaar.client import TruthListing
from pricewatch.simulation.smoke_rounds import CHEAPER, TARGETS, Round
from pricewatch.store.views.stored_reports import StoredListing

AVAILABILITY = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK"}


@dataclass(frozen=True, slots=True)
class SmokeCheck:
    """One figure: what it should be, and what it is."""

    what: str
    wanted: Any
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.wanted == self.found)


def check_first(
    done: Round, before: Iterable[TruthListing], after: Iterable[TruthListing]
) -> list[SmokeCheck]:
    """`before` is what the market showed to discovery, `after` what it showed to the others."""
    first, then = {each.url: each for each in before}, {each.url: each for each in after}
    stored = {urlsplit(url).path: listing for url, listing in done.stored.items()}
    gone = sorted(set(first) - set(then))
    priced = sum(each.mode != "hidden" for each in first.values())
    return [
        SmokeCheck("runs that finished", len(done.runs), done.finished()),
        SmokeCheck("new listings", len(first), done.total("new_listings")),
        SmokeCheck("listings stored", sorted(first), sorted(stored)),
        SmokeCheck("listings with another price or stock", [], _differences(then, stored)),
        SmokeCheck(
            "listings off sale", gone, sorted(path for path, each in stored.items() if not each.active)
        ),
        SmokeCheck("listings found gone", len(gone), done.total("gone")),
        SmokeCheck("price rows", priced + CHEAPER, done.total("price_rows")),
        SmokeCheck("history rows", priced + CHEAPER, sum(each.history_rows for each in stored.values())),
        SmokeCheck("watched pages read", TARGETS, done.of("targets", "details")),
        SmokeCheck("held in quarantine", 0, done.quarantined),
    ]


def check_second(first: Round, second: Round) -> list[SmokeCheck]:
    """Nothing happened in between, so nothing but sightings is added."""
    seen = sum(each.times_seen for each in first.stored.values())
    seen_then = sum(each.times_seen for each in second.stored.values())
    return [
        SmokeCheck("second round: runs that finished", len(second.runs), second.finished()),
        SmokeCheck("second round: new listings", 0, second.total("new_listings")),
        SmokeCheck("second round: price rows", 0, second.total("price_rows")),
        SmokeCheck("second round: listings found gone", 0, second.total("gone")),
        SmokeCheck("second round: listings that changed", [], _changed(first.stored, second.stored)),
        SmokeCheck("second round: watched pages read", TARGETS, second.of("targets", "details")),
        SmokeCheck("second round: held in quarantine", 0, second.quarantined),
        SmokeCheck("second round: seen again", True, seen_then > seen),
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
