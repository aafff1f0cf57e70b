"""Routing of the public site: look listings up and answer with pages rendered by the skin."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from pricewatch.bazaar import result_pages, static_files
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.habits.request_habits import MAINTENANCE
from pricewatch.bazaar.http_messages import JSON, TEXT, Request, Response
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.page_cache import PageCache
from pricewatch.bazaar.result_pages import Behaviour
from pricewatch.bazaar.sample_listing import GONE, ListingView, SampleListing, latest
from pricewatch.bazaar.skins import Skin, layout
from pricewatch.bazaar.skins.site_skin import SiteSkin

ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /\n"
METHODS = ("GET", "HEAD")
PAGE_CACHE_BYTES = 160 * 2**20


class Storefront:
    """The marketplace as visitors see it, without faults."""

    def __init__(
        self, inventory: Inventory, habits: Habits, skin: Skin, site_skin: SiteSkin | None = None
    ) -> None:
        self.inventory = inventory
        self.habits = habits
        self.behaviour = Behaviour()
        self._skin = skin
        self._site_skin = site_skin
        self._pages = PageCache(PAGE_CACHE_BYTES)
        self._routes: dict[str, Callable[[Request, str], Response]] = {
            "": self._home,
            "c": self._category,
            "search": self._search,
            "item": self._item,
            "seller": self._seller,
            "api": self._api,
            "static": self._static,
            "help": self._help,
            "private": self._private,
            "robots.txt": self._robots,
        }

    def respond(self, request: Request) -> Response:
        """Answer one request at the current time of the clock."""
        if request.method == "HEAD" and self.behaviour.head != "ok":
            page = self._skin.notice("Method not allowed", "HEAD is not allowed.")
            return Response(int(self.behaviour.head), page, headers=(("Allow", "GET"),))
        methods = self._site_skin.methods if self._site_skin else METHODS
        if request.method not in methods:
            page = self._skin.notice("Method not allowed", f"Allowed: {', '.join(methods)}.")
            return Response(405, page, headers=(("Allow", ", ".join(methods)),))
        self.inventory.update()
        if self._is_under_maintenance(request):
            return MAINTENANCE
        if self._site_skin is not None and request.path != "/robots.txt":
            return self._site_skin.respond(request, self._behaviour(None)) or self._not_found()
        first, _, rest = request.path[1:].partition("/")
        route = self._routes.get(first)
        response = self._not_found() if route is None else route(request, rest)
        if self.habits.periods and self.habits.has_alternative_layout(request, self._category_of(request)):
            headers = (*response.headers, ("Set-Cookie", "layout=b; Path=/"))
            return replace(response, body=layout.alternative(response.body), headers=headers)
        return response

    def address(self, view: ListingView) -> str:
        """Return the path of a listing's page on this site."""
        return self._site_skin.address(view) if self._site_skin else view.path

    def _behaviour(self, category: str | None) -> Behaviour:
        """Return the behaviour of a category's lists: the general one, unless a habit overrides it."""
        beyond = self.habits.beyond(category) if self.habits.periods else None
        return self.behaviour if beyond is None else replace(self.behaviour, beyond_last=beyond)

    def _is_under_maintenance(self, request: Request) -> bool:
        """Return whether the request gets the maintenance page."""
        if not self.habits.periods or request.path == "/robots.txt":
            return False
        return self.habits.is_under_maintenance(self._category_of(request), self.inventory.now)

    def _category_of(self, request: Request) -> str | None:
        """Return the category of the requested page, if any."""
        first, _, rest = request.path[1:].partition("/")
        if first == "item":
            listing = self._listing_at(request.path)[0]
            return listing.category.name if listing else None
        return rest if first == "c" else request.query.get("category")

    def _listing_at(self, path: str) -> tuple[SampleListing | None, str]:
        """Return the listing that has or had this path, and its current path."""
        now = self.inventory.now
        if listing := self.inventory.by_path.get(path):
            known = {listing.path, *(moved for at, moved in listing.moves if at <= now)}
            exists = listing.listed_at <= now and path in known
            return (listing, listing.path_at(now)) if exists else (None, path)
        category, _, rest = path.removeprefix("/item/").partition("/")
        cross_listed = self.inventory.by_path.get(f"/item/{rest}")
        if (
            cross_listed is None
            or category not in self.inventory.categories
            or not self.habits.was_cross_listed(cross_listed, category)
        ):
            return None, path
        return cross_listed, path

    def _not_found(self, message: str = "There is nothing at this address.") -> Response:
        return Response(404, self._skin.notice("Not found", message))

    def _home(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.home())

    def _category(self, request: Request, name: str) -> Response:
        index = self.inventory.categories.get(name)
        if index is None:
            return self._not_found("There is no such category.")

        def listings() -> list[SampleListing]:
            offered = [listing for _, _, listing in index.offered]
            return self.habits.category_list(name, offered) if self.habits.periods else offered

        version = self.inventory.version if self.habits.periods else index.version
        return self._overview(request, name.capitalize(), version, listings, name)

    def _search(self, request: Request, _rest: str) -> Response:
        query = request.query
        if query.get("category") and query["category"] not in self.inventory.categories:
            return self._not_found("There is no such category.")
        if query.get("status") and query["status"] not in result_pages.STATUSES:
            return Response(400, self._skin.notice("Bad request", "status must be on_sale, sold or all."))
        heading = f"Results for {query.get('q', '')}"
        return self._overview(
            request,
            heading,
            self.inventory.version,
            lambda: result_pages.search(self.inventory, query, self.inventory.now),
        )

    def _overview(
        self,
        request: Request,
        heading: str,
        version: int,
        listings: Callable[[], list[SampleListing]],
        category: str | None = None,
    ) -> Response:
        behaviour = self._behaviour(category or request.query.get("category"))

        def render() -> bytes:
            page = result_pages.page_of(heading, request.path, request.query, listings(), behaviour, category)
            return b"" if page is None else self._skin.overview(page)

        body = self._pages.get((request.target, version, behaviour, self.habits.cache_key()), render)
        return Response(200, body) if body else self._beyond(request, behaviour.beyond_last)

    def _beyond(self, request: Request, answer: str) -> Response:
        """Answer a page beyond the last with an error or a redirect."""
        if answer == "to_first":
            return _redirect(f"{request.path}?{urlencode({**request.query, 'page': 1})}", 302)
        if answer == "to_category":
            return _redirect(request.path)
        status = 410 if answer == "410" else 404
        return Response(status, self._skin.notice("Not found", "There is no such page."))

    def _item(self, request: Request, _rest: str) -> Response:
        listing, path = self._listing_at(request.path)
        if listing is None:
            return self._not_found("There is no such listing.")
        span, now = latest(listing.spans, self.inventory.now), self.inventory.now
        key = (listing.key, listing.version, self.habits.cache_key())
        if span.state != GONE:
            if path != request.path:
                return _redirect(path)
            return Response(200, self._pages.get(key, lambda: self._skin.detail(self.habits.view(listing))))
        if span.mode in ("to_similar", "to_category"):
            return _redirect(
                self._similar_path(listing) if span.mode == "to_similar" else _category_path(listing)
            )
        body = self._pages.get(key, lambda: self._skin.gone(listing.at(now)))
        return Response(200 if span.mode == "soft" else int(span.mode or 404), body)

    def _similar_path(self, listing: SampleListing) -> str:
        """Return the path of a similar listing on sale; its category if there is none."""
        now = self.inventory.now
        others = (each for each in listing.related if each.listed_at <= now and each.at(now).is_listed)
        found = next(others, None)
        if found is None:
            offered = self.inventory.categories[listing.category.name].offered
            found = offered[0][2] if offered else None
        return _category_path(listing) if found is None else found.path_at(now)

    def _api(self, _request: Request, rest: str) -> Response:
        listing = self.inventory.by_id.get(rest.removeprefix("listing/"))
        if listing is not None and listing.listed_at <= self.inventory.now:
            view = self.habits.view(listing)
            if view.state != GONE and rest == f"listing/{view.id}":
                return Response(200, self._skin.api(view), JSON)
        return Response(404, b'{"error": "There is no such listing."}', JSON)

    def _seller(self, _request: Request, rest: str) -> Response:
        seller = self.inventory.sellers.get(rest)
        if seller is None:
            return self._not_found("There is no such seller.")

        def render() -> bytes:
            categories = self.inventory.categories.values()
            offered = {listing for index in categories for _, _, listing in index.offered}
            of_seller = self.inventory.by_seller.get(seller.id, [])
            return self._skin.seller(seller, [listing for listing in of_seller if listing in offered])

        key = ("seller", rest, self.inventory.version, self.habits.cache_key())
        return Response(200, self._pages.get(key, render))

    def _static(self, _request: Request, rest: str) -> Response:
        if rest == "app.js":
            return Response(200, static_files.APP_SCRIPT, "text/javascript")
        if rest == "offer.js":
            return Response(200, static_files.OFFER_SCRIPT, "text/javascript")
        if rest.endswith(".png"):
            return Response(200, static_files.PIXEL, "image/png", (("Cache-Control", "max-age=3600"),))
        return self._not_found()

    def _help(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.notice("Help", "This page is left blank."))

    def _private(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.notice("Private", "robots.txt disallows this page."))

    def _robots(self, _request: Request, _rest: str) -> Response:
        return Response(200, ROBOTS, TEXT)


def _redirect(path: str, status: int = 301) -> Response:
    return Response(status, b"", headers=(("Location", path),))


def _category_path(listing: SampleListing) -> str:
    return f"/c/{listing.category.name}"
