"""Everything behind the sockets: which part of the marketplace answers a request."""

from collections.abc import Sequence
from datetime import datetime

from pricewatch.bazaar.clock import Clock
from pricewatch.bazaar.control import PREFIX, Control
from pricewatch.bazaar.effects import Effect
from pricewatch.bazaar.faults import Faults
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.journal import Journal
from pricewatch.bazaar.messages import Request, Response
from pricewatch.bazaar.site import Site
from pricewatch.bazaar.skins.apartments import ApartmentsSite
from pricewatch.bazaar.skins.bazaar import BazaarSkin
from pricewatch.bazaar.skins.foreign import ForeignSite
from pricewatch.bazaar.skins.mercari import MercariSite
from pricewatch.bazaar.skins.sgammo import SgammoSite
from pricewatch.bazaar.skins.willhaben import WillhabenSite
from pricewatch.bazaar.world import World

# Sites in whose shape the marketplace can show itself.
FOREIGN: dict[str, type[ForeignSite]] = {
    "apartments": ApartmentsSite,
    "mercari": MercariSite,
    "sgammo": SgammoSite,
    "willhaben": WillhabenSite,
}


class App:
    """The site, its faults, its log and its controls; one per process, shared by all connections."""

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
        self.faults = Faults(seed)
        self.journal = Journal()
        # Where the marketplace itself listens; proxies lead every host name there.
        self.address = ("127.0.0.1", 0)
        # Local port of a tunnel through a proxy -> index of that proxy, for the log and for faults.
        self.tunnels: dict[int, int] = {}
        self.reset(start)
        for habit, category in habits:
            self.site.habits.add(habit, category)

    def reset(self, start: datetime) -> None:
        """Begin again at this instant: the same listings, no change by hand, no faults, habits or log."""
        world = World(self._seed, self._listings, self._days, Clock(start, self._rate))
        foreign = FOREIGN[self._skin](world) if self._skin else None
        habits = Habits(world)
        self.site = Site(world, habits, BazaarSkin(world, self._page_bytes, habits), foreign)
        self.faults.clear()
        self.faults.robots = None
        self.journal.clear()
        self._control = Control(self.site, self.faults, self.journal, self.reset)

    def answer(self, request: Request) -> Response | Effect:
        """Answer a request to the marketplace, with whatever fault was ordered for it."""
        if request.target.startswith(PREFIX):
            return self._control.handle(request)
        fault = self.faults.apply(request, lambda: self.site.respond(request))
        reply, action = fault or (self.site.respond(request), None)
        self.journal.record(request, reply.status, action)
        return reply
