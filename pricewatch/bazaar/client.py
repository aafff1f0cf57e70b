"""Python client: start a marketplace and call its control interface, for tests, demo and benchmarks."""

import http.client
import json
import subprocess
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from pricewatch.bazaar.server_process import BazaarError, ServerProcess

__all__ = ["Bazaar", "BazaarError", "HabitOrder", "LogEntry", "ShownPeriod", "TruthListing"]


@dataclass(frozen=True, slots=True)
class ShownPeriod:
    """What the card and page of a listing showed in a period. Prices count only where they are unambiguous.

    Stock is `in`, `out`, `backorder`, `preorder`, `unknown` or `sold`; None where none is shown.
    """

    begins: datetime
    ends: datetime | None
    listed: bool
    card_price: bool
    page_price: bool
    card_stock: str | None
    page_stock: str | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class HabitOrder:
    """An ordered habit: its category, share, period, and the number of listings that it changed."""

    habit: str
    category: str | None
    share: float
    begins: datetime
    ends: datetime | None
    listings: int | None

    @classmethod
    def read(cls, record: dict[str, Any]) -> Self:
        """Create an instance from the JSON of the control interface."""
        ends = _date(record["ends"]) if record["ends"] else None
        return cls(**{**record, "begins": _date(record["begins"]), "ends": ends})


@dataclass(frozen=True, slots=True)
class TruthListing:
    """The ground truth about one listing, up to the current time of the marketplace."""

    id: str
    ids: list[str]
    url: str
    title: str
    category: str
    currency: str
    seller_id: str
    city: str
    markup: str
    listed_at: datetime
    relisted_at: datetime | None
    prices: list[tuple[datetime, int]]
    spans: list[tuple[datetime, datetime | None, str, str | None]]
    # Every path its page has had, newest last, and the paths under which other categories show it.
    urls: list[str]
    other_urls: list[str]
    # What was visible, and when. A correct crawler has stored nothing else.
    shown: list[ShownPeriod]
    state: str
    mode: str | None
    price: int

    @classmethod
    def read(cls, record: dict[str, Any]) -> Self:
        """Create an instance from the JSON of the control interface."""
        values = {field.name: record[field.name] for field in fields(cls)}
        values["listed_at"] = _date(record["listed_at"])
        values["relisted_at"] = _date(record["relisted_at"]) if record["relisted_at"] else None
        values["prices"] = [(_date(at), price) for at, price in record["prices"]]
        values["spans"] = [
            (_date(begins), _date(ends) if ends else None, state, mode)
            for begins, ends, state, mode in record["spans"]
        ]
        values["shown"] = [
            ShownPeriod(_date(begins), _date(ends) if ends else None, *facts)
            for begins, ends, *facts in record["shown"]
        ]
        return cls(**values)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request as the marketplace received it; `time` is when it was read."""

    n: int
    time: float
    method: str
    host: str
    path: str
    status: int | None
    action: str | None
    user_agent: str | None
    headers: dict[str, str]
    client: str
    proxy: int | None

    def header(self, name: str) -> str | None:
        """Return a header by its case-insensitive name."""
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), None)


class Bazaar:
    """A running marketplace. Use `start` as a context manager, or `attach` to a running one."""

    def __init__(self, url: str, proxies: list[str], process: ServerProcess | None = None) -> None:
        self.url = url
        self.proxies = proxies
        self._process = process

    @classmethod
    def start(cls, seed: int = 1, listings: int = 3000, **options: object) -> Self:
        """Start a marketplace in a child process that ends with this one.

        Options are those of the command line, with underscores.
        """
        options = {"seed": seed, "listings": listings, **options}
        return cls._of(ServerProcess.start(["--die-with-parent"], options))

    @classmethod
    def start_shared(cls, **options: object) -> Self:
        """Start a marketplace that keeps running after this process while anyone is connected to it."""
        # Neither signals to our process group nor a reader of our stderr may depend on it.
        return cls._of(
            ServerProcess.start(["--while-used"], options, stderr=subprocess.DEVNULL, start_new_session=True)
        )

    @classmethod
    def attach(cls, url: str) -> Self:
        """Use a marketplace that is already running."""
        return cls(url.rstrip("/"), [])

    @classmethod
    def _of(cls, process: ServerProcess) -> Self:
        return cls(process.urls[0], process.urls[1:], process)

    def __enter__(self) -> Self:
        """Return the running marketplace."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()

    def stop(self) -> None:
        """Stop the marketplace, if it was started here."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def detach(self) -> None:
        """Leave it running; one started with `start_shared` ends when nobody is connected."""
        if self._process is not None:
            self._process.detach()
            self._process = None

    @property
    def pid(self) -> int | None:
        """The process id, if it was started here."""
        return self._process.pid if self._process is not None else None

    def raise_priority(self) -> None:
        """Raise its process priority where allowed, so that it answers in time on a busy machine."""
        if self._process is not None:
            self._process.raise_priority()

    def reset(self, start: datetime | None = None) -> None:
        """Start over at this time, or now: same listings, no changes, faults, habits or log."""
        self._call("POST", "reset", {"start": start.isoformat()} if start else {})

    def truth(self, category: str | None = None) -> list[TruthListing]:
        """Return every listing up to now, of all categories or of one."""
        query = f"?{urlencode({'category': category})}" if category else ""
        return [TruthListing.read(record) for record in self._call("GET", f"truth{query}")]

    def now(self) -> datetime:
        """Return the current time of the marketplace."""
        return _date(self._call("GET", "clock")["now"])

    def advance(self, **span: float) -> datetime:
        """Move the clock by the arguments of `timedelta`; return the new time."""
        seconds = timedelta(**span).total_seconds()
        return _date(self._call("POST", "clock", {"advance": seconds})["now"])

    def set_clock(self, moment: datetime) -> datetime:
        """Set the clock; return the new time."""
        return _date(self._call("POST", "clock", {"now": moment.isoformat()})["now"])

    def fault(self, action: str, path: str = "", **rule: object) -> None:
        """Add a fault for requests whose path and query match a regular expression."""
        self._call("POST", "faults", {"action": action, "path": path, **rule})

    def faults(self) -> list[dict[str, Any]]:
        """Return the active fault rules, with how often each matched and fired."""
        rules: list[dict[str, Any]] = self._call("GET", "faults")
        return rules

    def clear_faults(self) -> None:
        """Remove all fault rules except the one for robots.txt."""
        self._call("DELETE", "faults")

    def robots(self, body: str | None = None, **rule: object) -> None:
        """Set the answer to robots.txt; without arguments, restore the default."""
        if body is None and not rule:
            self._call("DELETE", "robots")
        else:
            self._call("POST", "robots", {"body": body, **rule})

    def habit(self, name: str, **order: object) -> HabitOrder:
        """Order a habit; optional: `category`, `share`, `ids`, `begins`, and `ends` or `hours`."""
        given = {key: each.isoformat() if isinstance(each, datetime) else each for key, each in order.items()}
        return HabitOrder.read(self._call("POST", "habits", {"habit": name, **given}))

    def habits(self) -> list[HabitOrder]:
        """Return all ordered habits, oldest order first."""
        return [HabitOrder.read(record) for record in self._call("GET", "habits")["ordered"]]

    def known_habits(self) -> dict[str, str]:
        """Return the known habits and their descriptions."""
        known: dict[str, str] = self._call("GET", "habits")["known"]
        return known

    def drop_habits(self, name: str | None = None) -> None:
        """End one habit or all; changes already made to listings remain."""
        self._call("DELETE", f"habits?{urlencode({'habit': name})}" if name else "habits")

    def behave(self, **behaviour: object) -> None:
        """Change how the site answers: `beyond_last`, `max_rows`, `head`."""
        self._call("POST", "behaviour", behaviour)

    def change(self, listing_id: str, **changes: object) -> TruthListing:
        """Change a listing: price, title, end, stock, return (as `**{"return": True}`), new_id."""
        return TruthListing.read(self._call("POST", "listing", {"id": listing_id, **changes}))

    def relist(self, listing_id: str, *, new_id: bool = False) -> TruthListing:
        """Relist a listing at the top, under its old id or a new one."""
        return self.change(listing_id, **{"return": True, "new_id": new_id})

    def add(self, category: str, title: str, price: int, **more: object) -> TruthListing:
        """Add a listing; the price is in minor units."""
        new = {"category": category, "title": title, "price": price, **more}
        return TruthListing.read(self._call("POST", "listing", {"new": new}))

    def log(self, since: int = 0) -> list[LogEntry]:
        """Return the logged requests after this number, oldest first."""
        return [LogEntry(**entry) for entry in self._call("GET", f"log?since={since}")]

    def clear_log(self) -> None:
        """Delete all logged requests."""
        self._call("DELETE", "log")

    def _call(self, method: str, name: str, values: object = None) -> Any:
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        try:
            body = None if values is None else json.dumps(values)
            connection.request(method, f"/_control/{name}", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise BazaarError(answer["error"])
        return answer


def _date(text: str) -> datetime:
    return datetime.fromisoformat(text)
