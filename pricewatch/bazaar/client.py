"""Starts and steers a marketplace from outside, for tests, smoke, demo and benchmarks."""

import http.client
import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import urlencode, urlsplit


class BazaarError(Exception):
    """The marketplace did not start, or refused an order; the message says why."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What card and page of a listing said for a while. A price counts where no reader can get it wrong.

    Stock is `in`, `out`, `backorder`, `preorder`, `unknown` or `sold`; None where nothing is said.
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
    """A habit that was ordered: for whom, from when, until when, and how many listings it happened to."""

    habit: str
    category: str | None
    share: float
    begins: datetime
    ends: datetime | None
    listings: int | None

    @classmethod
    def read(cls, record: dict[str, Any]) -> Self:
        """Make one from the control interface's JSON."""
        ends = _date(record["ends"]) if record["ends"] else None
        return cls(**{**record, "begins": _date(record["begins"]), "ends": ends})


@dataclass(frozen=True, slots=True)
class TruthListing:
    """One listing as it really is, up to the marketplace's present instant."""

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
    # Every path its page has had, the newest last; and those under which other categories show it.
    urls: list[str]
    other_urls: list[str]
    # What could be read of it, and when: a correct reader has stored nothing else.
    shown: list[Shown]
    state: str
    mode: str | None
    price: int

    @classmethod
    def read(cls, record: dict[str, Any]) -> Self:
        """Make one from the control interface's JSON."""
        values = {field.name: record[field.name] for field in fields(cls)}
        values["listed_at"] = _date(record["listed_at"])
        values["relisted_at"] = _date(record["relisted_at"]) if record["relisted_at"] else None
        values["prices"] = [(_date(at), price) for at, price in record["prices"]]
        values["spans"] = [
            (_date(begins), _date(ends) if ends else None, state, mode)
            for begins, ends, state, mode in record["spans"]
        ]
        values["shown"] = [
            Shown(_date(begins), _date(ends) if ends else None, *said)
            for begins, ends, *said in record["shown"]
        ]
        return cls(**values)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request as the marketplace saw it, and when it came."""

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
        """Return a header whatever its case."""
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), None)


class Bazaar:
    """A running marketplace. Use `start` as a context manager, or `attach` to one that runs already."""

    def __init__(self, url: str, proxies: list[str], process: subprocess.Popen[str] | None = None) -> None:
        self.url = url
        self.proxies = proxies
        self._process = process

    @classmethod
    def start(cls, seed: int = 1, listings: int = 3000, **options: object) -> Self:
        """Start one in a process of its own; options are those of the command line, with underscores."""
        return cls._start(["--die-with-parent"], {"seed": seed, "listings": listings, **options})

    @classmethod
    def start_for_all(cls, **options: object) -> Self:
        """Start one that lives on without us, as long as somebody else is connected to it."""
        # In a session of its own and without our stderr: nobody who ends us, or waits for our end, means it.
        return cls._start(["--while-used"], options, stderr=subprocess.DEVNULL, start_new_session=True)

    @classmethod
    def _start(cls, flags: list[str], options: dict[str, object], **how: Any) -> Self:
        command = [sys.executable, "-m", "pricewatch.bazaar", *flags]
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            text = value.isoformat() if isinstance(value, datetime) else str(value)
            # True stands for an option without a value, such as `live=True`.
            command += [flag] if value is True else [flag, text]
        # Its stderr is ours: a complaint at the start, or a traceback later, must be seen.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment(), **how
        )
        lines = [_line(process.stdout) for _ in range(1 + int(str(options.get("proxies", 0))))]
        if not all(lines):
            _end(process)
            raise BazaarError(f"The marketplace did not start (exit status {process.returncode}).")
        return cls(lines[0], lines[1:], process)

    @classmethod
    def attach(cls, url: str) -> Self:
        """Steer one that somebody else started."""
        return cls(url.rstrip("/"), [])

    def __enter__(self) -> Self:
        """Nothing to do: it runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()

    def stop(self) -> None:
        """Stop it, if it was started here."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    def leave(self) -> None:
        """Let it go on without us; one that was started for all ends when nobody needs it."""
        if self._process is not None:
            _close(self._process)
            self._process = None

    @property
    def pid(self) -> int | None:
        """The process, if it was started here."""
        return self._process.pid if self._process is not None else None

    def come_first(self) -> None:
        """Let it answer in time, however busy the machine is, where we may say so."""
        if self.pid is not None:
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, self.pid, -10)

    def reset(self, start: datetime | None = None) -> None:
        """Begin again, at this instant or now: the same listings, no changes, faults, habits or log."""
        self._order("POST", "reset", {"start": start.isoformat()} if start else {})

    def truth(self, category: str | None = None) -> list[TruthListing]:
        """Return every listing up to now, or those of one category."""
        query = f"?{urlencode({'category': category})}" if category else ""
        return [TruthListing.read(record) for record in self._order("GET", f"truth{query}")]

    def now(self) -> datetime:
        """Return the marketplace's present instant."""
        return _date(self._order("GET", "clock")["now"])

    def advance(self, **span: float) -> datetime:
        """Move the clock, by what `timedelta` takes; returns the new instant."""
        seconds = timedelta(**span).total_seconds()
        return _date(self._order("POST", "clock", {"advance": seconds})["now"])

    def set_clock(self, moment: datetime) -> datetime:
        """Set the clock; returns the new instant."""
        return _date(self._order("POST", "clock", {"now": moment.isoformat()})["now"])

    def fault(self, action: str, path: str = "", **rule: object) -> None:
        """Order a fault for requests whose path and query match a regular expression."""
        self._order("POST", "faults", {"action": action, "path": path, **rule})

    def faults(self) -> list[dict[str, Any]]:
        """Return the rules in force, with how often each matched and fired."""
        rules: list[dict[str, Any]] = self._order("GET", "faults")
        return rules

    def clear_faults(self) -> None:
        """Lift all rules but the one for robots.txt."""
        self._order("DELETE", "faults")

    def robots(self, body: str | None = None, **rule: object) -> None:
        """Set what robots.txt does; without arguments, what it does by default."""
        if body is None and not rule:
            self._order("DELETE", "robots")
        else:
            self._order("POST", "robots", {"body": body, **rule})

    def habit(self, name: str, **order: object) -> HabitOrder:
        """Order a habit; with `category`, `share`, `ids`, `begins`, and `ends` or `hours` as wanted."""
        given = {key: each.isoformat() if isinstance(each, datetime) else each for key, each in order.items()}
        return HabitOrder.read(self._order("POST", "habits", {"habit": name, **given}))

    def habits(self) -> list[HabitOrder]:
        """Return all habits that were ordered, in that order."""
        return [HabitOrder.read(record) for record in self._order("GET", "habits")["ordered"]]

    def known_habits(self) -> dict[str, str]:
        """Return the habits there are, each with what it is."""
        known: dict[str, str] = self._order("GET", "habits")["known"]
        return known

    def drop_habits(self, name: str | None = None) -> None:
        """End one habit or all; what happened to listings stays so."""
        self._order("DELETE", f"habits?{urlencode({'habit': name})}" if name else "habits")

    def behave(self, **behaviour: object) -> None:
        """Change how the site answers: beyond_last, max_rows, head."""
        self._order("POST", "behaviour", behaviour)

    def change(self, listing_id: str, **changes: object) -> TruthListing:
        """Change a listing by hand: price, title, end, stock, return (as `**{"return": True}`), new_id."""
        return TruthListing.read(self._order("POST", "listing", {"id": listing_id, **changes}))

    def relist(self, listing_id: str, *, new_id: bool = False) -> TruthListing:
        """Bring a listing back at the top, under its old id or a new one."""
        return self.change(listing_id, **{"return": True, "new_id": new_id})

    def add(self, category: str, title: str, price: int, **more: object) -> TruthListing:
        """List something new, by hand; the price is in minor units."""
        new = {"category": category, "title": title, "price": price, **more}
        return TruthListing.read(self._order("POST", "listing", {"new": new}))

    def log(self, since: int = 0) -> list[LogEntry]:
        """Return the requests after that number, oldest first."""
        return [LogEntry(**entry) for entry in self._order("GET", f"log?since={since}")]

    def clear_log(self) -> None:
        """Forget all requests so far."""
        self._order("DELETE", "log")

    def _order(self, method: str, name: str, order: object = None) -> Any:
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        try:
            body = None if order is None else json.dumps(order)
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


def _environment() -> dict[str, str]:
    """Let the new process find this package from whatever folder it is started in."""
    here = str(Path(__file__).parents[2])
    paths = [here, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _line(stream: IO[str] | None) -> str:
    return "" if stream is None else stream.readline().strip()


def _close(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    _close(process)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
