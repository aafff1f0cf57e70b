"""Which page answers which address. Looks listings up; what a page looks like is the skin's affair."""

from collections.abc import Callable

from pricewatch.bazaar import results, static
from pricewatch.bazaar.cache import ByteCache
from pricewatch.bazaar.listing import GONE, Listing, View, latest
from pricewatch.bazaar.messages import JSON, TEXT, Request, Response
from pricewatch.bazaar.results import Behaviour
from pricewatch.bazaar.skins import Skin
from pricewatch.bazaar.skins.foreign import ForeignSite
from pricewatch.bazaar.world import World

ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /\n"
METHODS = ("GET", "HEAD")
PAGE_CACHE_BYTES = 160 * 2**20


class Site:
    """The marketplace as a visitor meets it, without any misbehaviour."""

    def __init__(self, world: World, skin: Skin, foreign: ForeignSite | None = None) -> None:
        self.world = world
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
        if self._foreign is not None and request.path != "/robots.txt":
            return self._foreign.respond(request, self.behaviour) or self._missing()
        first, _, rest = request.path[1:].partition("/")
        route = self._routes.get(first)
        return self._missing() if route is None else route(request, rest)

    def address(self, view: View) -> str:
        """Return the path of a listing's page, as the site shows it."""
        return self._foreign.address(view) if self._foreign else view.listing.path

    def _missing(self, sentence: str = "There is nothing at this address.") -> Response:
        return Response(404, self._skin.notice("Not found", sentence))

    def _home(self, _request: Request, _rest: str) -> Response:
        return Response(200, self._skin.home())

    def _category(self, request: Request, name: str) -> Response:
        shelf = self.world.shelves.get(name)
        if shelf is None:
            return self._missing("There is no such category.")

        def listings() -> list[Listing]:
            return [listing for _, _, listing in shelf.offered]

        return self._overview(request, name.capitalize(), shelf.version, listings)

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
        self, request: Request, heading: str, version: int, listings: Callable[[], list[Listing]]
    ) -> Response:
        def render() -> bytes:
            page = results.page_of(heading, request.path, request.query, listings(), self.behaviour)
            return b"" if page is None else self._skin.overview(page)

        body = self._pages.get((request.target, version, self.behaviour), render)
        return Response(200, body) if body else self._missing("There is no such page.")

    def _item(self, request: Request, _rest: str) -> Response:
        listing = self.world.by_path.get(request.path)
        if listing is None or listing.listed_at > self.world.now:
            return self._missing("There is no such listing.")
        span, now = latest(listing.spans, self.world.now), self.world.now
        key = (listing.key, listing.version)
        if span.state != GONE:
            return Response(200, self._pages.get(key, lambda: self._skin.detail(listing.at(now))))
        body = self._pages.get(key, lambda: self._skin.gone(listing.at(now)))
        return Response(200 if span.mode == "soft" else int(span.mode or 404), body)

    def _api(self, _request: Request, rest: str) -> Response:
        listing = self.world.by_id.get(rest.removeprefix("listing/"))
        if listing is not None and listing.listed_at <= self.world.now:
            view = listing.at(self.world.now)
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

        return Response(200, self._pages.get(("seller", rest, self.world.version), render))

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
