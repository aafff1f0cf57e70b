"""apartments.com: placards of a city, and the page of each property with its rents."""

import re
from html import escape

from pricewatch.bazaar import money
from pricewatch.bazaar.catalogue import slug
from pricewatch.bazaar.details import details
from pricewatch.bazaar.listing import GONE, SOLD, Listing, View
from pricewatch.bazaar.messages import Request, Response
from pricewatch.bazaar.results import Behaviour
from pricewatch.bazaar.skins import OverviewPage
from pricewatch.bazaar.skins.foreign import ForeignSite, gone_status

ROWS = "25"
# A city and its state, and a page; or a property and its id.
CITY = re.compile(r"/([a-z0-9-]+)-[a-z]{2}/(?:([0-9]{1,4})/)?")
PROPERTY = re.compile(r"/[a-z0-9-]+/([a-z0-9]{6})/")


class ApartmentsSite(ForeignSite):
    """The rentals of the marketplace, by the city of who lets them."""

    currency = "USD"

    def address(self, view: View) -> str:
        """Return the path of a property: its id is the part that never changes."""
        return f"/{slug(view.listing.titles[0][1])}/{view.listing.key}/"

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer a city's page or a property's."""
        if city := CITY.fullmatch(request.path):
            letting = [one for one in self._found(category="rentals") if slug(one.seller.city) == city[1]]
            page = self._page(letting, city[2] or "1", ROWS, behaviour)
            return Response(200, self._city(page, request.path)) if page else None
        if named := PROPERTY.fullmatch(request.path):
            found = (one for one in self._world.listings if one.key == named[1] and one.area)
            view = self._present(next(found, None))
            return self._property(view) if view else None
        return None

    def _city(self, page: OverviewPage, path: str) -> bytes:
        placards = "".join(self._placard(view) for view in self._views(page))
        first = "/".join(path.split("/")[:2])
        follow = f'<a class="next" href="{first}/{page.page + 1}/">Next</a>' if page.next_href else ""
        return _page("Apartments for Rent", f'<div id="placardContainer"><ul>{placards}</ul>{follow}</div>')

    def _placard(self, view: View) -> str:
        path, address = self.address(view), _address(view.listing)
        return (
            f'<li><article class="placard" data-listingid="{view.listing.key}" data-url="{path}"'
            f' data-streetaddress="{address}"><a class="property-link" href="{path}">'
            f'<span class="property-title">{escape(view.title)}</span></a>'
            f'<div class="property-address">{address}</div><p class="property-pricing">{_rent(view)}</p>'
            f'<p class="property-beds">{view.listing.rooms} Beds</p></article></li>\n'
        )

    def _property(self, view: View) -> Response:
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
        text = escape(details(self._world.seed, listing).paragraphs[0])
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


def _rent(view: View) -> str:
    """One amount, an open one, or a range that begins with it, as the site's owners write them."""
    if view.price_hidden:
        return "Call for Rent"
    low, high = (money.shown(cents, "USD").removesuffix(".00") for cents in (view.price, view.price * 5 // 4))
    return (low, f"{low}+", f"{low} - {high}")[(view.listing.rooms or 0) % 3]


def _address(listing: Listing) -> str:
    return escape(f"{listing.key.upper()} {listing.model}, {listing.seller.city} {listing.seller.postcode}")


def _page(title: str, body: str) -> bytes:
    head = f'<!DOCTYPE html><html lang="en"><head><title>{escape(title)} | Apartments.com</title></head>'
    return f"{head}<body>{body}</body></html>".encode()
