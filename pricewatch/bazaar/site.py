"""Which page answers which address. Looks listings up; what a page looks like is the skin's affair."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from pricewatch.bazaar import results, static
from pricewatch.bazaar.cache import ByteCache
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.habits.visits import MAINTENANCE
from pricewatch.bazaar.listing import GONE, Listing, View, latest
from pricewatch.bazaar.messages import JSON, TEXT, Request, Response
from pricewatch.bazaar.results import Behaviour
from pricewatch.bazaar.skins import Skin, layout
from pricewatch.bazaar.skins.foreign import ForeignSite
from pricewatch.bazaar.world import World

ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /\n"
METHODS = ("GET", "HEAD")
PAGE_CACHE_BYTES = 160 * 2**20


class Site:
    """The marketplace as a visitor meets it, without any misbehaviour."""

    def __init__(self, world: World, habits: Habits, skin: Skin, foreign: ForeignSite | None = None) -> None:
        self.world = world
        self.habits = habits
        self.behaviour = Behaviour()
        self._skin = skin
        self._foreign = foreign
        self._pages = ByteCache(PAGE_CACHE_BYTES)
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
        """Answer one request at the clock's present instant."""
        if request.method == "HEAD" and self.behaviour.head != "ok":
            page = self._skin.notice("Not like this", "HEAD is refused here.")
            return Response(int(self.behaviour.head), page, headers=(("Allow", "GET"),))
        methods = self._foreign.methods if self._foreign else METHODS
        if request.method not in methods:
            page = self._skin.notice("Not like this", f"Only {' and '.join(methods)} are answered.")
            return Response(405, page, headers=(("Allow", ", ".join(methods)),))
        self.world.settle()
        if self._is_away(request):
            return MAINTENANCE
        if self._foreign is not None and request.path != "/robots.txt":
            return self._foreign.respond(request, self._behaviour(None)) or self._missing()
        first, _, rest = request.path[1:].partition("/")
        route = self._routes.get(first)
        response = self._missing() if route is None else route(request, rest)
        if self.habits.periods and self.habits.has_other_layout(request, self._category_of(request)):
            headers = (*response.headers, ("Set-Cookie", "layout=b; Path=/"))
            return replace(response, body=layout.other(response.body), headers=headers)
        return response

    def address(self, view: View) -> str:
        """Return the path of a listing's page, as the site shows it."""
        return self._foreign.address(view) if self._foreign else view.path

    def _behaviour(self, category: str | None) -> Behaviour:
        """How lists of a category behave: as ordered for all, unless a habit says otherwise."""
        beyond = self.habits.beyond(category) if self.habits.periods else None
        return self.behaviour if beyond is None else replace(self.behaviour, beyond_last=beyond)

    def _is_away(self, request: Request) -> bool:
        """Whether there is nothing but a maintenance page."""
        if not self.habits.periods or request.path == "/robots.txt":
            return False
        return self.habits.is_away(self._category_of(request), self.world.now)

    def _category_of(self, request: Request) -> str | None:
        """The category that a request is about, if it is about one."""
        first, _, rest = request.path[1:].partition("/")
        if first == "item":
            listing = self._listing_at(request.path)[0]
            return listing.category.name if listing else None
        return rest if first == "c" else request.query.get("category")

    def _listing_at(self, path: str) -> tuple[Listing | None, str]:
        """The listing whose page a path is, or was, and the path that leads to it now."""
        now = self.world.now
        if listing := self.world.by_path.get(path):
            known = {listing.path, *(moved for at, moved in listing.moves if at <= now)}
            there = listing.listed_at <= now and path in known
            return (listing, listing.path_at(now)) if there else (None, path)
        category, _, rest = path.removeprefix("/item/").partition("/")
        guest = self.world.by_path.get(f"/item/{rest}")
        if guest is None or category not in self.world.shelves or not self.habits.was_guest(guest, category):
            return None, path
        return guest, path

    def _missing(self, sentence: str = "There is nothing at this address.") -> Response:
        return Response(404, self._skin.notice("Not found", sentence))

    def _home(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.home())

    def _category(self, request: Request, name: str) -> Response:
        shelf = self.world.shelves.get(name)
        if shelf is None:
            return self._missing("There is no such category.")

        def listings() -> list[Listing]:
            offered = [listing for _, _, listing in shelf.offered]
            return self.habits.arranged(name, offered) if self.habits.periods else offered

        version = self.world.version if self.habits.periods else shelf.version
        return self._overview(request, name.capitalize(), version, listings, name)

    def _search(self, request: Request, _rest: str) -> Response:
        query = request.query
        if query.get("category") and query["category"] not in self.world.shelves:
            return self._missing("There is no such category.")
        if query.get("status") and query["status"] not in results.STATUSES:
            return Response(400, self._skin.notice("Not understood", "status is on_sale, sold or all."))
        heading = f"Results for {query.get('q', '')}"
        return self._overview(
            request, heading, self.world.version, lambda: results.search(self.world, query, self.world.now)
        )

    def _overview(
        self,
        request: Request,
        heading: str,
        version: int,
        listings: Callable[[], list[Listing]],
        category: str | None = None,
    ) -> Response:
        behaviour = self._behaviour(category or request.query.get("category"))

        def render() -> bytes:
            page = results.page_of(heading, request.path, request.query, listings(), behaviour, category)
            return b"" if page is None else self._skin.overview(page)

        body = self._pages.get((request.target, version, behaviour, self.habits.stamp()), render)
        return Response(200, body) if body else self._beyond(request, behaviour.beyond_last)

    def _beyond(self, request: Request, answer: str) -> Response:
        """What stands in place of a page beyond the last."""
        if answer == "to_first":
            return _moved(f"{request.path}?{urlencode({**request.query, 'page': 1})}", 302)
        if answer == "to_category":
            return _moved(request.path)
        status = 410 if answer == "410" else 404
        return Response(status, self._skin.notice("Not found", "There is no such page."))

    def _item(self, request: Request, _rest: str) -> Response:
        listing, path = self._listing_at(request.path)
        if listing is None:
            return self._missing("There is no such listing.")
        span, now = latest(listing.spans, self.world.now), self.world.now
        key = (listing.key, listing.version, self.habits.stamp())
        if span.state != GONE:
            if path != request.path:
                return _moved(path)
            return Response(200, self._pages.get(key, lambda: self._skin.detail(self.habits.view(listing))))
        if span.mode in ("to_similar", "to_category"):
            return _moved(self._instead_of(listing) if span.mode == "to_similar" else _list_of(listing))
        body = self._pages.get(key, lambda: self._skin.gone(listing.at(now)))
        return Response(200 if span.mode == "soft" else int(span.mode or 404), body)

    def _instead_of(self, listing: Listing) -> str:
        """The page of something like it that is still on sale; its category, where there is nothing."""
        now = self.world.now
        others = (each for each in listing.related if each.listed_at <= now and each.at(now).is_listed)
        found = next(others, None)
        if found is None:
            offered = self.world.shelves[listing.category.name].offered
            found = offered[0][2] if offered else None
        return _list_of(listing) if found is None else found.path_at(now)

    def _api(self, _request: Request, rest: str) -> Response:
        listing = self.world.by_id.get(rest.removeprefix("listing/"))
        if listing is not None and listing.listed_at <= self.world.now:
            view = self.habits.view(listing)
            if view.state != GONE and rest == f"listing/{view.id}":
                return Response(200, self._skin.api(view), JSON)
        return Response(404, b'{"error": "There is no such listing."}', JSON)

    def _seller(self, _request: Request, rest: str) -> Response:
        seller = self.world.sellers.get(rest)
        if seller is None:
            return self._missing("There is no such seller.")

        def render() -> bytes:
            shelves = self.world.shelves.values()
            offered = {listing for shelf in shelves for _, _, listing in shelf.offered}
            theirs = self.world.by_seller.get(seller.id, [])
            return self._skin.seller(seller, [listing for listing in theirs if listing in offered])

        key = ("seller", rest, self.world.version, self.habits.stamp())
        return Response(200, self._pages.get(key, render))

    def _static(self, _request: Request, rest: str) -> Response:
        if rest == "app.js":
            return Response(200, static.APP, "text/javascript")
        if rest.endswith(".png"):
            return Response(200, static.PIXEL, "image/png", (("Cache-Control", "max-age=3600"),))
        return self._missing()

    def _help(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.notice("Help", "Nobody reads this page."))

    def _private(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.notice("Private", "Robots are asked to stay away from here."))

    def _robots(self, _request: Request, _rest: str) -> Response:
        return Response(200, ROBOTS, TEXT)


def _moved(path: str, status: int = 301) -> Response:
    return Response(status, b"", headers=(("Location", path),))


def _list_of(listing: Listing) -> str:
    return f"/c/{listing.category.name}"
