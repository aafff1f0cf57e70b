"""Add-ons that make adapters report what a test needs, for crawls in separate processes."""

from __future__ import annotations

from typing import Any

from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure
from pricewatch.vocabulary import FailureReason


class ScriptsMayAddPrices:
    """Every page of the marketplace without an offer may need the browser, unless it is out of stock."""

    def update_settings(self, settings: Any) -> None:
        extract = BazaarAdapter.extract

        def stub(adapter: BazaarAdapter, response: Any) -> Any:
            found = extract(adapter, response)
            if isinstance(found, ExtractFailure):
                found.may_need_browser = found.reason is not FailureReason.OOS_NO_PRICE
            return found

        BazaarAdapter.extract = stub  # type: ignore[assignment, method-assign]


class PricesStandAt:
    """Every price stands at the place that STUB_PLACE names; a given place that differs is not found."""

    def update_settings(self, settings: Any) -> None:
        extract, place = GenericAdapter.extract, settings.get("STUB_PLACE")

        def stub(adapter: GenericAdapter, response: Any) -> Any:
            found = extract(adapter, response)
            if isinstance(found, Extracted):
                found.price_place = place
                where = "not found" if adapter.price_place not in ("", place) else "as before"
                found.evidence.append(f"price place: {where} ({adapter.price_place})")
            return found

        GenericAdapter.extract = stub  # type: ignore[assignment, method-assign]
