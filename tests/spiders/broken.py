"""A pipeline and adapters that fail, for crawls in separate processes."""

from typing import Any

from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.items import Drop
from pricewatch.vocabulary import DropReason


class BreaksOnTheSecondPage:
    async def process_item(self, item: Any) -> Any:
        if item.number == 2:
            raise RuntimeError("broken")
        return item


def _breaks(*_: Any) -> Any:
    raise ValueError("broken")


class BreaksOnPageThree:
    """An add-on that makes the adapter raise an unexpected error on one overview page."""

    def update_settings(self, settings: Any) -> None:
        read = BazaarAdapter.cards_on
        BazaarAdapter.cards_on = lambda self, response: (  # type: ignore[method-assign]
            _breaks() if "page=3&" in response.url else read(self, response)
        )


class BreaksOnProducts:
    """An add-on that makes the adapter fail on product pages."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.listing_on = _breaks  # type: ignore[assignment, method-assign]


class BreaksOnOffers:
    """An add-on that makes the adapter fail to normalize offers."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.normalize = _breaks  # type: ignore[assignment, method-assign]


class DropsOffers:
    """An add-on that makes the adapter drop every offer for unknown availability."""

    def update_settings(self, settings: Any) -> None:
        drop = Drop(DropReason.UNKNOWN_AVAILABILITY)
        BazaarAdapter.normalize = lambda *_: drop  # type: ignore[method-assign]


class NeedsOnlyTheStatus:
    """An add-on that lets the adapter verify listings by the HTTP status alone."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.presence_needs_page = False
