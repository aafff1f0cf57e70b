"""The application behind the sockets: storefront, faults, request log and control interface."""

from collections.abc import Sequence
from datetime import datetime

from pricewatch.bazaar.control import PREFIX, ControlInterface
from pricewatch.bazaar.fault_rules import FaultRules
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.request_log import RequestLog
from pricewatch.bazaar.skins.apartments import ApartmentsSite
from pricewatch.bazaar.skins.bazaar import BazaarSkin
from pricewatch.bazaar.skins.mercari import MercariSite
from pricewatch.bazaar.skins.sgammo import SgammoSite
from pricewatch.bazaar.skins.site_skin import SiteSkin
from pricewatch.bazaar.skins.willhaben import WillhabenSite
from pricewatch.bazaar.storefront import Storefront
from pricewatch.bazaar.streaming import StreamingResponse

# Other sites whose pages the marketplace can imitate.
SITE_SKINS: dict[str, type[SiteSkin]] = {
    "apartments": ApartmentsSite,
    "mercari": MercariSite,
    "sgammo": SgammoSite,
    "willhaben": WillhabenSite,
}


class Marketplace:
    """The storefront, fault rules, request log and control interface; one per process."""

    def __init__(
        self,
        *,
        seed: int,
        listings: int,
        days: int,
        start: datetime,
        rate: float,
        page_bytes: int,
        skin: str | None = None,
        habits: Sequence[tuple[Habit, str | None]] = (),
    ) -> None:
        self._seed = seed
        self._listings = listings
        self._days = days
        self._rate = rate
        self._page_bytes = page_bytes
        self._skin = skin
        self.faults = FaultRules(seed)
        self.request_log = RequestLog()
        # Where the marketplace listens; proxies resolve every host name to it.
        self.address = ("127.0.0.1", 0)
        # Local port of a proxy tunnel -> index of the proxy, for the log and for fault rules.
        self.tunnels: dict[int, int] = {}
        self.reset(start)
        for habit, category in habits:
            self.storefront.habits.add(habit, category)

    def reset(self, start: datetime) -> None:
        """Start over at this time: same listings, no manual changes, faults, habits or log."""
        inventory = Inventory(self._seed, self._listings, self._days, MarketplaceClock(start, self._rate))
        site_skin = SITE_SKINS[self._skin](inventory) if self._skin else None
        habits = Habits(inventory)
        self.storefront = Storefront(
            inventory, habits, BazaarSkin(inventory, self._page_bytes, habits), site_skin
        )
        self.faults.clear()
        self.faults.robots = None
        self.request_log.clear()
        self._control = ControlInterface(self.storefront, self.faults, self.request_log, self.reset)

    def answer(self, request: Request) -> Response | StreamingResponse:
        """Answer a request to the marketplace, with the fault that applies to it, if any."""
        if request.target.startswith(PREFIX):
            return self._control.handle(request)
        fault = self.faults.apply(request, lambda: self.storefront.respond(request))
        reply, action = fault or (self.storefront.respond(request), None)
        self.request_log.record(request, reply.status, action)
        return reply
