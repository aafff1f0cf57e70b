"""Check one offer: the general validation rules first, then the adapter's `normalize`."""

from __future__ import annotations

import logging

from pricewatch.adapters.base import Adapter
from pricewatch.items import Drop, Offer, Ok, Quarantine
from pricewatch.rules.validation import validate_offer
from pricewatch.vocabulary import QuarantineReason

logger = logging.getLogger(__name__)


def check_offer(
    offer: Offer, adapter: Adapter | None, quarantine: Quarantine | None = None
) -> Ok | Drop | Quarantine:
    """Accept, drop or quarantine an offer; `adapter` is None for offers of custom spiders."""
    verdict = quarantine or validate_offer(offer)
    if not isinstance(verdict, Ok) or adapter is None:
        return verdict
    try:
        return adapter.normalize(verdict.offer)
    except Exception as error:
        logger.exception("The adapter %s cannot normalize %s", adapter.id, offer.url)
        details = {"why": f"{type(error).__name__}: {error}"}
        return Quarantine(QuarantineReason.NORMALIZATION_FAILED, details, offer)
