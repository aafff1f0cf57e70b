"""Add-ons that make the generic adapter report what a test needs, for crawls in separate processes."""

from __future__ import annotations

from typing import Any

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure
from pricewatch.vocabulary import FailureReason

WITHOUT_PRICE = (FailureReason.PRICE_NOT_FOUND, FailureReason.EMPTY_PAGE)


class ScriptsMayAddPrices:
    """Every page without a price may need the browser."""

    def update_settings(self, settings: Any) -> None:
        extract = GenericAdapter.extract

        def stub(adapter: GenericAdapter, response: Any) -> Any:
            found = extract(adapter, response)
            if isinstance(found, ExtractFailure) and found.reason in WITHOUT_PRICE:
                found.may_need_browser = True
            return found

        GenericAdapter.extract = stub  # type: ignore[method-assign]


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

        GenericAdapter.extract = stub  # type: ignore[method-assign]
