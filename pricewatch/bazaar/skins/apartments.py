"""apartments.com: lists of a city, and the page of each property with its rents."""

import re
from html import escape

from pricewatch.bazaar import amounts
from pricewatch.bazaar.catalogue import slug
from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.product_details import details_of
from pricewatch.bazaar.result_pages import Behaviour
from pricewatch.bazaar.sample_listing import GONE, SOLD, ListingView, SampleListing
from pricewatch.bazaar.skins import ListPage
from pricewatch.bazaar.skins.site_skin import SiteSkin, gone_status

ROWS = "25"
# A city and its state, and a page; or a property and its id.
CITY = re.compile(r"/([a-z0-9-]+)-[a-z]{2}/(?:([0-9]{1,4})/)?")
PROPERTY = re.compile(r"/[a-z0-9-]+/([a-z0-9]{6})/")


class ApartmentsSite(SiteSkin):
    """The rentals of the marketplace, by the city of the seller."""

    currency = "USD"

    def address(self, view: ListingView) -> str:
        """Return the path of a property; its last part never changes."""
        return f"/{slug(view.listing.titles[0][1])}/{view.listing.key}/"

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer the page of a city or of a property."""
        if city := CITY.fullmatch(request.path):
            letting = [one for one in self._found(category="rentals") if slug(one.seller.city) == city[1]]
            page = self._page(letting, city[2] or "1", ROWS, behaviour)
            return Response(200, self._city(page, request.path)) if page else None
        if named := PROPERTY.fullmatch(request.path):
            found = (one for one in self._inventory.listings if one.key == named[1] and one.area)
            view = self._present(next(found, None))
            return self._property(view) if view else None
        return None

    def _city(self, page: ListPage, path: str) -> bytes:
        placards = "".join(self._placard(view) for view in self._views(page))
        first = "/".join(path.split("/")[:2])
        next_link = f'<a class="next" href="{first}/{page.page + 1}/">Next</a>' if page.next_href else ""
        return _page(
            "Apartments for Rent", f'<div id="placardContainer"><ul>{placards}</ul>{next_link}</div>'
        )

    def _placard(self, view: ListingView) -> str:
        path, address = self.address(view), _address(view.listing)
        return (
            f'<li><article class="placard" data-listingid="{view.listing.key}" data-url="{path}"'
            f' data-streetaddress="{address}"><a class="property-link" href="{path}">'
            f'<span class="property-title">{escape(view.title)}</span></a>'
            f'<div class="property-address">{address}</div><p class="property-pricing">{_rent(view)}</p>'
            f'<p class="property-beds">{view.listing.rooms} Beds</p></article></li>\n'
        )

    def _property(self, view: ListingView) -> Response:
        if status := gone_status(view):
            return Response(status, _page("Not Found", "<h1>Page not found</h1>"))
        if view.state in (GONE, SOLD):
            return Response(200, _page("Gone", "<h1>This listing is no longer available</h1>"))
        listing = view.listing
        facts = {
            "Monthly Rent": _rent(view),
            "Bedrooms": f"{listing.rooms} bd",
            "Square Feet": f"{(listing.area or 0) * 11} sq ft",
        }
        rows = "".join(
            f'<li><p class="rentInfoLabel">{name}</p><p class="rentInfoDetail">{text}</p></li>'
            for name, text in facts.items()
        )
        near = "".join(self._placard(other.at(other.listed_at)) for other in listing.related)
        text = escape(details_of(self._inventory.seed, listing).paragraphs[0])
        return Response(
            200,
            _page(
                view.title,
                f'<main data-listingid="{listing.key}"><h1 class="propertyName" id="propertyName">'
                f'{escape(view.title)}</h1><div class="propertyAddress">{_address(listing)}</div>'
                f'<ul class="priceBedRangeInfo">{rows}</ul><p>{text}</p>'
                f'<ul><li class="unitContainer" data-beds="{listing.rooms}" data-baths="1">A1</li></ul>'
                "</main>"
                f"<section><h2>Nearby</h2><ul>{near}</ul></section>",
            ),
        )


def _rent(view: ListingView) -> str:
    """Return one amount, a minimum, or a range, as the site writes them."""
    if view.price_hidden:
        return "Call for Rent"
    low, high = (
        amounts.displayed(cents, "USD").removesuffix(".00") for cents in (view.price, view.price * 5 // 4)
    )
    return (low, f"{low}+", f"{low} - {high}")[(view.listing.rooms or 0) % 3]


def _address(listing: SampleListing) -> str:
    return escape(f"{listing.key.upper()} {listing.model}, {listing.seller.city} {listing.seller.postcode}")


def _page(title: str, body: str) -> bytes:
    head = f'<!DOCTYPE html><html lang="en"><head><title>{escape(title)} | Apartments.com</title></head>'
    return f"{head}<body>{body}</body></html>".encode()
