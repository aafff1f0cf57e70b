"""Choose the availability from structured data and the displayed page."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from pricewatch.parsing.pages.availability import delivery_promise, names_store, stock_phrases
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.pages.main_block import MainBlock
from pricewatch.parsing.pages.page_scan import Notice
from pricewatch.parsing.text import collapse_spaces
from pricewatch.vocabulary import Availability

# A longer text is a sentence, for example about delivery to an island.
_MAX_PHRASE_LENGTH = 40
_STORE_DISTANCE = 6
_MAX_NOTICES = 400
_MAX_WRAPPERS = 3


@dataclass(slots=True)
class DisplayedStock:
    """What the main product block shows of the stock."""

    state: Availability = Availability.UNKNOWN
    # The phrases that state it, or the phrases that contradict each other.
    phrase: str = ""
    phrases: dict[Availability, str] = field(default_factory=dict)
    # The label of a button that puts the product into a cart.
    button: str = ""
    # A promised date of delivery, or the button of an advert that contacts its seller.
    promise: str = ""
    advert: str = ""

    @property
    def can_be_bought(self) -> bool:
        return bool(self.button)

    @property
    def is_stated(self) -> bool:
        return bool(self.button or self.promise or self.advert) or self.state is not Availability.UNKNOWN


def displayed_stock(main: MainBlock, advert_site: str = "") -> DisplayedStock:
    """The stock that the main block displays; `advert_site` is the evidence that the site has adverts."""
    # Indented texts are longer than what they show.
    short = 2 * _MAX_PHRASE_LENGTH
    notices = [one for one in main.notices() if not one.is_variant and len(one.text.strip()) <= short]
    notices = notices[:_MAX_NOTICES]
    states: dict[Availability, str] = {}
    for index, state in stock_phrases([one.text for one in notices], _MAX_PHRASE_LENGTH):
        element = notices[index].element
        if not (main.is_in_card(element) or _is_of_an_option(element) or _is_of_a_store(notices, index)):
            states.setdefault(state, repr(collapse_spaces(notices[index].text)))
    button = main.button.label if main.button is not None and main.button.is_enabled else ""
    state, phrase = _displayed_state(states)
    found = DisplayedStock(state, phrase, states, button)
    if not states and not button:
        found.promise = next((collapse_spaces(one.text) for one in notices if delivery_promise(one.text)), "")
        found.advert = _advert(main, advert_site)
    return found


def _is_of_an_option(element: Element) -> bool:
    """Whether a phrase is in one of the options of a list, such as a size."""
    around = (element, *islice(element.iterancestors(), _MAX_WRAPPERS))
    return any(one.get("role") in ("option", "radio") for one in around)


def _is_of_a_store(notices: list[Notice], index: int) -> bool:
    """Whether the text right before a phrase names a store: its stock is not that of the shop."""
    before = notices[index - 1] if index else None
    if before is None or notices[index].order - before.order > _STORE_DISTANCE:
        return False
    return len(before.text) <= _MAX_PHRASE_LENGTH and names_store(before.text)


def _advert(main: MainBlock, advert_site: str) -> str:
    """The evidence that the page is an advert: a contact button, and nothing to put into a cart."""
    if any(not one.is_contact for one in main.scan.buttons):
        return ""
    return next((one.label for one in main.scan.buttons if one.is_contact), advert_site)


def _displayed_state(states: dict[Availability, str]) -> tuple[Availability, str]:
    if not states:
        return Availability.UNKNOWN, ""
    if len(states) == 1:
        return next(iter(states.items()))
    if set(states) == {Availability.IN_STOCK, Availability.BACKORDER}:
        return Availability.BACKORDER, states[Availability.BACKORDER]
    return Availability.UNKNOWN, " and ".join(states.values())


def choose_availability(structured: set[Availability], stock: DisplayedStock) -> tuple[Availability, str]:
    """The availability and its evidence; UNKNOWN if it is not stated or contradictory."""
    metadata = _best_of(structured)
    displayed, phrase = stock.state, stock.phrase
    if metadata is Availability.UNKNOWN:
        return _without_metadata(stock)
    if Availability.OUT_OF_STOCK in stock.phrases and displayed is Availability.UNKNOWN and not stock.button:
        return Availability.UNKNOWN, f"structured data says {metadata}, the page says {phrase}"
    if displayed in (Availability.UNKNOWN, metadata):
        if metadata is Availability.OUT_OF_STOCK and stock.button and displayed is Availability.UNKNOWN:
            return (
                Availability.UNKNOWN,
                f"structured data says {metadata}, but there is a button {stock.button!r}",
            )
        return (
            metadata,
            "structured data" if displayed is Availability.UNKNOWN else f"structured data and page: {phrase}",
        )
    if displayed is Availability.IN_STOCK and metadata is Availability.BACKORDER:
        return metadata, "structured data"
    if displayed is Availability.BACKORDER and metadata is Availability.IN_STOCK:
        # Shops declare a product with later delivery as in stock in structured data.
        return displayed, f"page: {phrase} (structured data says {metadata})"
    if displayed is Availability.IN_STOCK or stock.button:
        return Availability.UNKNOWN, f"structured data says {metadata}, the page says {phrase}"
    return displayed, f"page: {phrase} (structured data says {metadata})"


def _without_metadata(stock: DisplayedStock) -> tuple[Availability, str]:
    if stock.state is Availability.OUT_OF_STOCK and stock.button:
        return Availability.UNKNOWN, f"the page says {stock.phrase}, but there is a button {stock.button!r}"
    if stock.phrase:
        return stock.state, stock.phrase
    if stock.button:
        return Availability.IN_STOCK, f"buy button {stock.button!r}"
    if stock.promise:
        return Availability.IN_STOCK, f"delivery {stock.promise!r}"
    if stock.advert:
        return Availability.IN_STOCK, f"an advert that is up: {stock.advert!r}"
    return Availability.UNKNOWN, "not stated on the page"


def _best_of(states: set[Availability]) -> Availability:
    """The best state of the variants of a product."""
    for state in (Availability.IN_STOCK, Availability.BACKORDER, Availability.OUT_OF_STOCK):
        if state in states:
            return state
    return Availability.UNKNOWN
