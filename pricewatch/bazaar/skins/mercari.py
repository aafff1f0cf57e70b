"""jp.mercari.com: empty pages that a script fills from the JSON API of the site."""

import json
import re
from typing import Any

from pricewatch.bazaar import amounts
from pricewatch.bazaar.http_messages import JSON, Request, Response
from pricewatch.bazaar.product_details import details_of
from pricewatch.bazaar.result_pages import Behaviour
from pricewatch.bazaar.sample_listing import GONE, ON_SALE, OUT_OF_STOCK, SOLD, ListingView
from pricewatch.bazaar.skins.site_skin import SiteSkin
from pricewatch.bazaar.static_files import MERCARI_SCRIPT

STATUS = {ON_SALE: "on_sale", OUT_OF_STOCK: "trading", SOLD: "sold_out"}
# What the API returns as the price of an item without a price.
NO_PRICE = 9_999_999
ROWS = "120"
ITEM = re.compile(r"(?:m|2J)([0-9]+)")
SHELL = (
    b'<!DOCTYPE html><html lang="ja"><head><meta charset="utf-8"><title>Mercari</title></head>'
    b'<body><div id="app"></div><script src="/static/mercari.js"></script></body></html>'
)
NOT_FOUND = {
    "result": "error",
    "errors": [{"code": "RecordNotFoundException", "message": "見つかりませんでした"}],
    "meta": {},
}


class MercariSite(SiteSkin):
    """Items of users, in the recorded format of the real API, and of shops, whose API format is assumed."""

    currency = "JPY"
    methods = ("GET", "HEAD", "POST")

    def address(self, view: ListingView) -> str:
        """Return the path of an item; users and shops have different paths."""
        return f"/item/{_id(view)}" if _is_from_user(view) else f"/shops/product/{_id(view)}"

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer with the empty page, its script, or the JSON that the script requests."""
        if request.path == "/v2/entities:search" and request.method == "POST":
            return _json(self._search(request.body, behaviour))
        if request.method == "POST":
            return None
        if request.path == "/search" or request.path.startswith(("/item/", "/shops/product/")):
            return Response(200, SHELL)
        if request.path == "/static/mercari.js":
            return Response(200, MERCARI_SCRIPT, "text/javascript; charset=utf-8")
        if request.path == "/items/get":
            return self._item(request.query.get("id", ""), of_users=True)
        if request.path == "/shops/products/get":
            return self._item(request.query.get("id", ""), of_users=False)
        return None

    def _search(self, body: bytes, behaviour: Behaviour) -> dict[str, Any]:
        try:
            query = json.loads(body)
        except ValueError:
            query = {}
        status = query.get("status") or "all"
        found = self._found(
            q=query.get("keyword") or "",
            category=query.get("categoryId") or "",
            min=query.get("priceMin") or "",
            max=query.get("priceMax") or "",
            status={"on_sale": "on_sale", "sold_out": "sold"}.get(status, "all"),
        )
        number = int((query.get("pageToken") or "v1:0").removeprefix("v1:")) + 1
        page = self._page(found, str(number), ROWS, behaviour)
        if page is None:
            return {"meta": {"nextPageToken": "", "numFound": str(len(found))}, "items": []}
        token = f"v1:{page.page}" if page.next_href else ""
        items = [self._summary(view) for view in self._views(page)]
        return {"meta": {"nextPageToken": token, "numFound": str(page.total)}, "items": items}

    def _summary(self, view: ListingView) -> dict[str, Any]:
        seller = view.listing.seller
        return {
            "id": _id(view),
            "sellerId": seller.id if _is_from_user(view) else "",
            "status": f"ITEM_STATUS_{STATUS[view.state].upper()}",
            "name": view.title,
            "price": str(NO_PRICE if view.price_hidden else view.price),
            "isNoPrice": view.price_hidden,
            "created": str(self._seconds(view.shown_since)),
            "updated": str(self._seconds(view.since)),
            "thumbnails": [f"/static/t/{view.id}.png"],
            "itemType": "ITEM_TYPE_MERCARI" if _is_from_user(view) else "ITEM_TYPE_BEYOND",
            "shopName": "" if _is_from_user(view) else seller.name,
            "categoryId": view.listing.category.name,
            "itemConditionId": "3",
            # For the script only: the displayed price.
            "priceText": "" if view.price_hidden else amounts.displayed(view.price, self.currency),
        }

    def _item(self, name: str, *, of_users: bool) -> Response:
        number = ITEM.fullmatch(name)
        view = self._by_id(number[1]) if number else None
        if view is None or view.state == GONE or _id(view) != name or _is_from_user(view) is not of_users:
            return _json(NOT_FOUND, 404)
        listing = view.listing
        data = {
            **self._summary(view),
            "status": STATUS[view.state],
            "price": NO_PRICE if view.price_hidden else view.price,
            "description": "\n".join(details_of(self._inventory.seed, listing).paragraphs),
            "seller": {"id": int(listing.seller.id), "name": listing.seller.name},
            "item_category": {"name": listing.category.label},
            "item_condition": {"name": listing.condition},
            "created": self._seconds(view.shown_since),
            "updated": self._seconds(view.since),
            "related": [self._summary(other.at(other.listed_at)) for other in listing.related],
        }
        return _json({"result": "OK", "data": data, "meta": {}})

    def _seconds(self, instant: int) -> int:
        return int(self._clock.date(instant).timestamp())


def _id(view: ListingView) -> str:
    return f"m{view.id}" if _is_from_user(view) else f"2J{view.id}"


def _is_from_user(view: ListingView) -> bool:
    return view.listing.seller.type == "user"


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(status, json.dumps(value, ensure_ascii=False).encode(), JSON)
