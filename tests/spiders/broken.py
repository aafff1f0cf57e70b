"""A pipeline and adapters that are not as they should be, for crawls in processes of their own."""

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
    """An add-on that lets the adapter fail in a way that nobody thought of."""

    def update_settings(self, settings: Any) -> None:
        read = BazaarAdapter.cards_on
        BazaarAdapter.cards_on = lambda self, response: (  # type: ignore[method-assign]
            _breaks() if "page=3&" in response.url else read(self, response)
        )


class BreaksOnProducts:
    """The same for product pages."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.listing_on = _breaks  # type: ignore[assignment, method-assign]


class BreaksOnOffers:
    """The same for what the adapter makes of an offer."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.normalize = _breaks  # type: ignore[assignment, method-assign]


class DropsOffers:
    """Lets the adapter say of every offer that its stock is not known."""

    def update_settings(self, settings: Any) -> None:
        drop = Drop(DropReason.UNKNOWN_AVAILABILITY)
        BazaarAdapter.normalize = lambda *_: drop  # type: ignore[method-assign]


class NeedsOnlyTheStatus:
    """Lets the adapter tell by the status alone whether a listing is still there."""

    def update_settings(self, settings: Any) -> None:
        BazaarAdapter.presence_needs_page = False
