"""What becomes of an offer, as far as the offer alone can tell: the general rules, then the site's own."""

from __future__ import annotations

from pricewatch.adapters.base import Adapter
from pricewatch.items import Drop, Offer, Ok, Quarantine
from pricewatch.rules.validation import validate_offer


def judge(offer: Offer, adapter: Adapter, held: Quarantine | None = None) -> Ok | Drop | Quarantine:
    verdict = held or validate_offer(offer)
    return adapter.normalize(verdict.offer) if isinstance(verdict, Ok) else verdict
