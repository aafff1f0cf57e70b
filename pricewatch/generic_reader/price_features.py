"""The features of an amount that may be the price: where it stands, what it looks like, who else says so."""

from __future__ import annotations

from collections.abc import Iterator

from pricewatch.generic_reader.page_amounts import PRICE_ROLES, SAME_TAG, Amount, PageAmounts
from pricewatch.generic_reader.price_weights import score_of
from pricewatch.parsing.pages.displayed_price import DisplayedPrice
from pricewatch.parsing.pages.price_fields import field_amounts
from pricewatch.parsing.pages.price_surroundings import attribute_says_price, is_large_text
from pricewatch.parsing.prices.price_roles import Role

_NEAR_BUTTON = 80
_NEAR_TITLE = 60
_FAR_FROM_TITLE = 400
_MAX_TAG_LENGTH = 24


def add_features(page: PageAmounts, amounts: list[Amount]) -> None:
    """Set the features and scores of amounts of a page."""
    features = _Features(page)
    for amount in amounts:
        amount.features = frozenset(features.of(amount))
        amount.score = score_of(amount.features)


class _Features:
    def __init__(self, page: PageAmounts) -> None:
        self._page = page
        after = [one for one in page.current() if one.order >= page.main.title_order]
        first = next((one for one in after if page.is_labelled(one)), after[0] if after else None)
        self._first_amount = first.amount if first else None
        self._has_statement = bool(page.stated())
        self._in_fields = field_amounts(page.main.element)

    def of(self, amount: Amount) -> Iterator[str]:
        yield from self._of_witnesses(amount)
        place = self._page.best_place(amount)
        if place is None:
            yield "not displayed"
            return
        yield from self._of_look(place)
        yield from self._of_position(amount, place)
        if place.role in PRICE_ROLES:
            yield from self._of_neighbours(place)

    def _of_witnesses(self, amount: Amount) -> Iterator[str]:
        sources = {one.source for one in amount.witnesses if one.role is Role.CURRENT}
        yield from (f"{source} says so" for source in sources)
        if len(sources) > 1:
            yield "two kinds of data say so"
        if any(one.role is not Role.CURRENT for one in amount.witnesses):
            yield "data says it is another amount"
        if self._has_statement and not sources:
            yield "data says another price"
        if amount.value in self._in_fields:
            yield "form field or attribute says so"

    def _of_look(self, place: DisplayedPrice) -> Iterator[str]:
        yield f"role {place.role}"
        if place.is_labelled:
            yield "class says price"
        elif attribute_says_price(place.element):
            yield "attribute says price"
        if self._page.is_at_usual_place(place):
            yield "usual place"
        if place.is_sale:
            yield "class says sale"
        if not place.codes:
            yield "no currency mark"
        if place.amount != place.amount.to_integral_value() or "." in place.text or "," in place.text:
            yield "has decimals"
        if is_large_text(place.element):
            yield "large text"
        if len(place.text) <= _MAX_TAG_LENGTH:
            yield "alone in its tag"
        if self._page.is_in_sentence(place):
            yield "in a sentence"
        elif self._page.has_words(place):
            yield "words beside it"

    def _of_position(self, amount: Amount, place: DisplayedPrice) -> Iterator[str]:
        page = self._page
        yield "in main block" if page.in_main(place) else "outside main block"
        distance = place.order - page.main.title_order
        if distance < 0:
            yield "before the title"
        elif distance <= _NEAR_TITLE:
            yield "near the title"
        elif distance > _FAR_FROM_TITLE:
            yield "far from the title"
        button = page.main.button
        if button is not None and abs(place.order - button.order) <= _NEAR_BUTTON:
            yield "near the button"
        if self._first_amount == place.amount:
            yield "first price after the title"
        if sum(1 for one in amount.displayed if one.role in PRICE_ROLES and page.in_main(one)) > 1:
            yield "repeated in main block"
        if page.is_in_list(place):
            yield "one of a list"

    def _of_neighbours(self, place: DisplayedPrice) -> Iterator[str]:
        nearby = [one for one in self._page.prices if abs(one.order - place.order) <= SAME_TAG]
        if any(one.role in (Role.LIST, Role.REGULAR) and one.amount > place.amount for one in nearby):
            yield "beside a higher list price"
        rivals = [one.amount for one in nearby if one.role is Role.CURRENT]
        if any(amount < place.amount for amount in rivals):
            yield "beside a lower price"
        if any(amount > place.amount for amount in rivals):
            yield "beside a higher price"
