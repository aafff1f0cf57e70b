"""Questions to the ground truth that several tests of habits ask."""

from pricewatch.bazaar.client import Bazaar, ShownPeriod, TruthListing


def listed(bazaar: Bazaar, category: str = "bikes") -> list[TruthListing]:
    return [each for each in bazaar.truth(category) if each.state in ("on_sale", "out_of_stock")]


def shown_now(listing: TruthListing) -> ShownPeriod:
    return listing.shown[-1]
