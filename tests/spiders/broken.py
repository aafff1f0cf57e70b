"""A pipeline and adapters with a fault."""

from typing import Any

from pricewatch.adapters.bazaar import BazaarAdapter


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
