"""The facts of a page that the generic adapter decides on, collected in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pricewatch.parsing.pages.class_names import element_cues
from pricewatch.parsing.pages.element_tree import (
    Element,
    compiled_xpath,
    is_in_undisplayed,
    parse_page,
    text_within,
    visible_text,
)
from pricewatch.parsing.pages.text_pieces import is_displayed
from pricewatch.parsing.prices.currency import currency_code, domain_currency, locale_currency
from pricewatch.parsing.structured_data.block_limits import BlockTooLarge
from pricewatch.parsing.structured_data.jsonld import decode_jsonld, is_jsonld_type
from pricewatch.parsing.structured_data.meta_tags import MetaTags, read_meta_tags
from pricewatch.parsing.structured_data.microdata import read_microdata, read_rdfa
from pricewatch.parsing.structured_data.structured_products import ProductData, products_in
from pricewatch.parsing.text import clean, name_overlap, name_words
from pricewatch.parsing.url import InvalidUrl, host_of, registrable_domain

# Not a union, which takes quadratic time for many elements.
_OTHER_TITLES = compiled_xpath(
    "//*[self::h2 or self::h3 or @itemprop='name' or contains(@class,'title') or contains(@class,'name')]"
)
_SOURCE_CURRENCY = re.compile(
    rb"""["']?(?:price_?currency|currency(?:_?(?:code|iso|id))?)\\?["']?\s?[:=]\s?\\?["']([A-Z]{3})\\?["']""",
    re.IGNORECASE,
)
_ADVERTS = re.compile(
    r"\b(?:kleinanzeigen?|classifieds?|petites annonces|anuncios? clasificados|annunci gratuiti|craigslist|"
    r"inzerát[yů]|bazoš|ogłoszenia|oglasi|oglasnik|объявлени[яй]|оголошення|обяви|ikman|gumtree|avito)",
    re.IGNORECASE,
)
_MAX_TITLE_LENGTH = 400
# Elements of a title that are read, headings of a page, and characters of a name or a link.
_MAX_TITLE_ELEMENTS = 300
_MAX_HEADINGS = 200
MAX_NAME_LENGTH = 2_000
_MAX_LINK_LENGTH = 2_000
# Elements that a class names a title have fewer characters.
_MAX_NAMED_LENGTH = 299
_HEADINGS = frozenset({"h2", "h3"})
_SIMILAR = 0.6
_MAX_OTHER_TITLES = 400
# Between the name of a product and that of its shop.
_NAME_PARTS = re.compile(r"\s[-–—|·:]\s")


@dataclass(slots=True)
class PageFacts:
    """The parsed content of one product page."""

    url: str
    root: Element
    meta_tags: MetaTags
    body: bytes = field(default=b"", repr=False)
    document_title: str = ""
    canonical_link: str = ""
    language: str = ""
    headings: list[tuple[Element, str]] = field(default_factory=list)
    products: dict[str, list[ProductData]] = field(default_factory=dict)
    # What was not read, because it is larger or deeper than on any real page.
    left_out: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the product outside headings."""
        structured = [product.name for products in self.products.values() for product in products]
        names = (self.meta_tags.first("og:title"), self.document_title, *structured[:8])
        return [name[:MAX_NAME_LENGTH] for name in names if name]

    @property
    def advert_site(self) -> str:
        """The words of the page's title or description of the site that it is a site of adverts."""
        names = (self.document_title, self.meta_tags.first("og:site_name"), host_of(self.url))
        return next((match[0] for name in names if (match := _ADVERTS.search(name))), "")

    def named_currencies(self) -> list[str]:
        """The currencies that the page names explicitly, best first."""
        structured = [
            offer.price.currency
            for products in self.products.values()
            for product in products
            for offer in product.offers
        ]
        found = [self.meta_tags.currency, *structured[:20], currency_code(self.meta_tags.first("currency"))]
        return list(dict.fromkeys(code for code in found if code))

    def source_currency(self) -> str | None:
        """The only currency that scripts and attributes of the page name; None if there are several."""
        found = {match.decode() for match in _SOURCE_CURRENCY.findall(self.body)}
        codes = {code for name in found if (code := currency_code(name))}
        return codes.pop() if len(codes) == 1 else None

    def currency_hints(self) -> list[str]:
        """Likely currencies of the page, best first."""
        locales = [self.language, self.meta_tags.first("og:locale")]
        likely = [domain_currency(host_of(self.url)), *(locale_currency(locale) for locale in locales)]
        return list(dict.fromkeys([*self.named_currencies(), *(code for code in likely if code)]))


def read_page(url: str, body: bytes) -> PageFacts | None:
    """The facts of a UTF-8 page; None if it is empty."""
    page = parse_page(body)
    if page is None:
        return None
    root = page.root
    metas: list[Element] = []
    facts = PageFacts(url=url, root=root, meta_tags=MetaTags(), body=body, language=root.get("lang") or "")
    if page.is_cut:
        facts.left_out.append("the page from where its elements are nested too deeply")
    jsonld: list[Any] = []
    headings = 0
    for element in root.iter("meta", "script", "h1", "title", "link"):
        tag = element.tag
        if tag == "meta":
            metas.append(element)
        elif tag == "script":
            if is_jsonld_type(element.get("type")):
                jsonld.extend(_readable(facts, lambda text: decode_jsonld(text or ""), element.text))
        elif tag == "h1":
            headings += 1
            if headings > _MAX_HEADINGS or is_in_undisplayed(element):
                continue
            heading = clean(visible_text(element, _MAX_TITLE_LENGTH, _MAX_TITLE_ELEMENTS))
            if heading and len(heading) <= _MAX_TITLE_LENGTH:
                facts.headings.append((element, heading))
        elif tag == "title":
            facts.document_title = facts.document_title or clean((element.text or "")[:MAX_NAME_LENGTH])
        elif (element.get("rel") or "").lower() == "canonical" and not facts.canonical_link:
            link = element.get("href") or ""
            facts.canonical_link = link if len(link) <= _MAX_LINK_LENGTH else ""
    facts.meta_tags = _readable(facts, read_meta_tags, metas) or MetaTags()
    _add_products(facts, "json-ld", jsonld)
    # Searching the source is faster than walking the tree.
    if _mentions(body, b"itemprop", (b"offer", b"price", b"Price")):
        _add_products(facts, "microdata", _readable(facts, read_microdata, root))
    if not facts.products and _mentions(body, b"property=", (b"offers", b'price"', b"schema:price")):
        _add_products(facts, "rdfa", _readable(facts, read_rdfa, root))
    return facts


def _mentions(body: bytes, attribute: bytes, values: tuple[bytes, ...]) -> bool:
    """Whether the source has the attribute with one of the values right after it; a text search."""
    position = body.find(attribute)
    while position >= 0:
        start = position + len(attribute)
        if any(value in body[start : start + 24] for value in values):
            return True
        position = body.find(attribute, start)
    return False


def title_of(facts: PageFacts) -> tuple[Element, str] | None:
    """The element with the product's name: the heading that matches the other names on the page."""
    site_words = _site_words(facts)
    headings = [(element, text) for element, text in facts.headings if not name_words(text) <= site_words]
    if len(headings) > 1:
        # Of a product that is hidden, for example until a click, the price is hidden, too.
        headings = [one for one in headings if not _is_in_hidden(one[0])] or headings
    if len(headings) == 1:
        return headings[0]
    names = facts.names
    if headings:
        scored = [
            (max((name_overlap(text, name) for name in names), default=0.0), element, text)
            for element, text in headings
        ]
        best = max(scored, key=lambda row: row[0])
        if best[0] >= _SIMILAR:
            return best[1], best[2]
    others = [
        (element, clean(visible_text(element, _MAX_TITLE_LENGTH, _MAX_TITLE_ELEMENTS)))
        for element in islice(filter(_may_be_title, _OTHER_TITLES(facts.root)), _MAX_OTHER_TITLES)
    ]
    for element, text in others:
        if len(name_words(text)) >= 2 and any(_matches_name(text, name) for name in names):
            return element, text
    if headings:
        return headings[0]
    # Without a heading, the name on the page may be longer than in the title of the document.
    parts = [part for name in names for part in _NAME_PARTS.split(name)]
    return next((one for one in others if any(_extends_name(one[1], part) for part in parts)), None)


def _is_in_hidden(element: Element) -> bool:
    return any(not is_displayed(one, element_cues(one), one.get("style")) for one in element.iterancestors())


def _may_be_title(element: Element) -> bool:
    if is_in_undisplayed(element):
        return False
    return element.tag in _HEADINGS or element.get("itemprop") == "name" or _is_short(element)


def _is_short(element: Element) -> bool:
    return text_within(element, _MAX_NAMED_LENGTH) is not None


def _matches_name(text: str, name: str) -> bool:
    own, other = name_words(text), name_words(name)
    return bool(own) and len(own & other) >= 0.9 * len(own) and len(own) >= 0.4 * len(other)


def _extends_name(text: str, name: str) -> bool:
    """Whether a text has nearly all words of a name, and not many more."""
    own, other = name_words(text), name_words(name)
    return len(other) >= 2 and len(own & other) >= 0.8 * len(other) and len(own) <= 4 * len(other)


def _site_words(facts: PageFacts) -> frozenset[str]:
    try:
        domain = registrable_domain(facts.url)
    except InvalidUrl:
        domain = ""
    return name_words(
        f"{facts.meta_tags.first('og:site_name')} {domain.replace('.', ' ')} {domain} shop online store home"
    )


def _add_products(facts: PageFacts, source: str, data: Any) -> None:
    found = _readable(facts, lambda values: products_in(values, source), data)
    if found:
        facts.products[source] = found


def _readable(facts: PageFacts, read: Callable[[Any], Any], data: Any) -> Any:
    """What a function reads; an empty list if the data is too large, which is noted."""
    try:
        return read(data)
    except BlockTooLarge as error:
        facts.left_out.append(str(error))
        return []
