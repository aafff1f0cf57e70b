"""The checks after each round of the smoke test, with values expected by the marketplace's truth."""

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
    """A value that the smoke test compares with the expected one."""

    name: str
    expected: Any
    found: Any

    @property
    def holds(self) -> bool:
        return bool(self.expected == self.found)


def check_first(
    first: Round, before: Iterable[TruthListing], after: Iterable[TruthListing]
) -> list[SmokeCheck]:
    """Check the first round; `before` are the listings at discovery, `after` those of the later spiders."""
    old, new = {each.url: each for each in before}, {each.url: each for each in after}
    stored = {urlsplit(url).path: listing for url, listing in first.stored.items()}
    gone = sorted(set(old) - set(new))
    priced = sum(each.mode != "hidden" for each in old.values())
    return [
        SmokeCheck("finished runs", len(first.runs), first.finished()),
        SmokeCheck("new listings", len(old), first.total("new_listings")),
        SmokeCheck("stored listings", sorted(old), sorted(stored)),
        SmokeCheck("listings with a wrong price or stock", [], _differences(new, stored)),
        SmokeCheck(
            "inactive listings", gone, sorted(path for path, each in stored.items() if not each.active)
        ),
        SmokeCheck("listings found gone", len(gone), first.total("gone")),
        SmokeCheck("price rows", priced + CHEAPER, first.total("price_rows")),
        SmokeCheck("history rows", priced + CHEAPER, sum(each.history_rows for each in stored.values())),
        SmokeCheck("targets read", TARGETS, first.of("targets", "details")),
        SmokeCheck("quarantined offers", 0, first.quarantined),
    ]


def check_second(first: Round, second: Round) -> list[SmokeCheck]:
    """Check that the second round only adds sightings, because nothing changed in between."""
    seen_before = sum(each.times_seen for each in first.stored.values())
    seen_after = sum(each.times_seen for each in second.stored.values())
    return [
        SmokeCheck("second round: finished runs", len(second.runs), second.finished()),
        SmokeCheck("second round: new listings", 0, second.total("new_listings")),
        SmokeCheck("second round: price rows", 0, second.total("price_rows")),
        SmokeCheck("second round: listings found gone", 0, second.total("gone")),
        SmokeCheck("second round: changed listings", [], _changed(first.stored, second.stored)),
        SmokeCheck("second round: targets read", TARGETS, second.of("targets", "details")),
        SmokeCheck("second round: quarantined offers", 0, second.quarantined),
        SmokeCheck("second round: listings seen again", True, seen_after > seen_before),
    ]


def _differences(truth: dict[str, TruthListing], stored: dict[str, StoredListing]) -> list[str]:
    differences = []
    for path, listing in truth.items():
        # A listing that hides its price while out of stock was stored without one.
        price = None if listing.mode == "hidden" else listing.price
        expected = (price, listing.currency if price else None, AVAILABILITY[listing.state])
        found = stored.get(path)
        if found is None or found[:3] != expected:
            differences.append(f"{path} is {expected}, stored as {found and found[:3]}")
    return differences


def _changed(before: dict[str, StoredListing], after: dict[str, StoredListing]) -> list[str]:
    old = {url: listing._replace(times_seen=0) for url, listing in before.items()}
    return sorted(url for url, listing in after.items() if listing._replace(times_seen=0) != old.get(url))
