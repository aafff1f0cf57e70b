"""willhaben.at: pages with their data as JSON in a Next.js script."""

import json
import re
from html import escape
from typing import Any

from pricewatch.bazaar import amounts
from pricewatch.bazaar.catalogue import slug
from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.product_details import details_of
from pricewatch.bazaar.result_pages import Behaviour
from pricewatch.bazaar.sample_listing import GONE, ON_SALE, OUT_OF_STOCK, SOLD, ListingView
from pricewatch.bazaar.skins.site_skin import SiteSkin, gone_status

STATUS = {ON_SALE: "active", OUT_OF_STOCK: "reserved", SOLD: "sold", GONE: "expired"}
ADVERT = re.compile(r"/iad/.+/d/.*?([0-9]+)/?")
# After this many adverts the first one is repeated, as a promoted advert.
PROMOTED_AFTER = 4


class WillhabenSite(SiteSkin):
    """Rentals and goods, up to 90 per page."""

    currency = "EUR"

    def address(self, view: ListingView) -> str:
        """Return the path of an advert."""
        return f"/iad/{self._seo_url(view)}"

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer `/iad/…`: an advert, the short link to one, or a page of results."""
        if request.path == "/iad/object":
            view = self._by_id(request.query.get("adId", ""))
            return Response(302, b"", headers=(("Location", self.address(view)),)) if view else None
        if advert := ADVERT.fullmatch(request.path):
            return self._advert(self._by_id(advert[1]))
        return self._results(request, behaviour) if request.path.startswith("/iad/") else None

    def _advert(self, view: ListingView | None) -> Response | None:
        if view is None:
            return None
        if status := gone_status(view):
            return Response(status, _page("Anzeige nicht gefunden", {"statusCode": status}))
        return Response(200, _page(view.title, {"advertDetails": self._summary(view)}))

    def _results(self, request: Request, behaviour: Behaviour) -> Response | None:
        query, category = request.query, request.path.rstrip("/").rpartition("/")[2]
        found = self._found(
            category=category if category in self._inventory.categories else "",
            q=query.get("keyword", ""),
            min=query.get("PRICE_FROM", ""),
            max=query.get("PRICE_TO", ""),
        )
        rows = query.get("rows", "30")
        page = self._page(found, query.get("page", "1"), rows, behaviour)
        if page is None:
            return None
        adverts = [self._summary(view) for view in self._views(page)]
        if len(adverts) > PROMOTED_AFTER:
            adverts.insert(PROMOTED_AFTER, adverts[0])
        result = {
            "rowsFound": page.total,
            "rowsReturned": len(adverts),
            "rowsRequested": min(int(rows) if rows.isdigit() else page.total, behaviour.max_rows),
            "pageRequested": page.page,
            "advertSummaryList": {"advertSummary": adverts},
        }
        return Response(200, _page("Anzeigen", {"searchResult": result}))

    def _seo_url(self, view: ListingView) -> str:
        section = "immobilien" if view.listing.area else "kaufen-und-verkaufen"
        return f"{section}/d/{slug(view.listing.titles[0][1])}-{view.id}/"

    def _summary(self, view: ListingView) -> dict[str, Any]:
        listing, seller = view.listing, view.listing.seller
        values = {
            "HEADING": view.title,
            "ADID": view.id,
            "SEO_URL": self._seo_url(view),
            "LOCATION": seller.city,
            "POSTCODE": seller.postcode,
            "ORGID": seller.id,
            "ORGNAME": seller.name,
            "ISPRIVATE": "1" if seller.type == "user" else "0",
            "PUBLISHED_String": self._clock.iso(view.shown_since),
            "DESCRIPTION": details_of(self._inventory.seed, listing).paragraphs[0],
            "PRICE_FOR_DISPLAY": "Preis auf Anfrage",
        }
        if not view.price_hidden:
            plain = amounts.decimal(view.price, self.currency)
            field = "RENT/PER_MONTH_LETTINGS" if listing.area else "PRICE/AMOUNT"
            values |= {"PRICE_FOR_DISPLAY": amounts.displayed(view.price, self.currency), field: plain}
            values["PRICE"] = plain.removesuffix(".00")
        if listing.area:
            values |= {"ESTATE_SIZE/LIVING_AREA": str(listing.area), "NUMBER_OF_ROOMS": str(listing.rooms)}
            values |= {"COORDINATES": "48.2082,16.3738", "PROPERTY_TYPE": listing.brand}
        return {
            "id": view.id,
            "description": view.title,
            "advertStatus": {"id": STATUS[view.state]},
            "attributes": {"attribute": [{"name": name, "values": [text]} for name, text in values.items()]},
        }


def _page(title: str, page_props: dict[str, Any]) -> bytes:
    data = json.dumps({"props": {"pageProps": page_props}}, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<!DOCTYPE html><html lang="de"><head><title>{escape(title)} - willhaben</title></head><body>'
        f'<div id="__next"><h1>{escape(title)}</h1></div>'
        f'<script id="__NEXT_DATA__" type="application/json">{data}</script></body></html>'
    ).encode()
