"""Starts the marketplace: `python -m pricewatch.bazaar`. The first line of output is its address."""

import argparse
import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pricewatch.bazaar import proxy
from pricewatch.bazaar.app import FOREIGN, App
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.known import HABITS
from pricewatch.bazaar.names import CATEGORIES
from pricewatch.bazaar.server import Answer, Connection, Users


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pricewatch.bazaar",
        description="The sample marketplace.",
        epilog="\n".join(["habits:", *(f"  {name:<22}{each.about}" for name, each in HABITS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=_port, default=0, help="0, the default, takes a free one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--listings", type=_count, default=3000, help="how many are on sale at the start")
    parser.add_argument("--days", type=_count, default=60, help="how long the timeline is")
    parser.add_argument("--start", type=_moment, default=None, help="start instant in ISO 8601; default: now")
    parser.add_argument(
        "--live",
        type=_rate,
        nargs="?",
        const=1.0,
        default=0.0,
        metavar="RATE",
        help="let the clock run, RATE times as fast as real time",
    )
    parser.add_argument("--proxies", type=_count, default=0, help="how many forward proxies to open")
    parser.add_argument("--page-bytes", type=_count, default=17_000, help="weight of a detail page")
    parser.add_argument("--skin", choices=sorted(FOREIGN), help="the shape of another site")
    parser.add_argument(
        "--habits",
        type=_habits,
        default=[],
        metavar="NAME[@CATEGORY],…",
        help="what the shop does from the start on; see below",
    )
    parser.add_argument("--die-with-parent", action="store_true", help="end when stdin does")
    parser.add_argument(
        "--while-used", action="store_true", help="end when stdin has ended and nobody is connected"
    )
    return parser.parse_args()


def main() -> int:
    """Serve until told to stop."""
    options = arguments()
    # Millions of small objects are made and kept: collecting garbage among them only costs time.
    gc.disable()
    app = App(
        seed=options.seed,
        listings=options.listings,
        days=options.days,
        start=options.start or datetime.now(UTC),
        rate=options.live,
        page_bytes=options.page_bytes,
        skin=options.skin,
        habits=options.habits,
    )
    gc.freeze()
    gc.enable()
    try:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            runner.run(serve(app, options))
    except OSError as error:
        reason = error.strerror or str(error)
        print(f"The marketplace cannot listen on {options.host}:{options.port}: {reason}.", file=sys.stderr)
        return 1
    return 0


async def serve(app: App, options: argparse.Namespace) -> None:
    """Open the ports, say where they are, and wait for the end."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    users = Users()
    ports = [await _listen(app.answer, None, app, options.host, options.port, users)]
    through = partial(proxy.answer, app)
    ports += [
        await _listen(through, index, app, options.host, 0, Users()) for index in range(options.proxies)
    ]
    app.address = ("127.0.0.1" if options.host in ("", "0.0.0.0") else options.host, ports[0])  # noqa: S104
    shown = f"[{options.host}]" if ":" in options.host else options.host
    print("\n".join(f"http://{shown}:{port}" for port in ports), flush=True)
    if options.die_with_parent or options.while_used:
        end = partial(users.when_gone, ended.set) if options.while_used else ended.set
        threading.Thread(target=_outlive_stdin, args=(loop, end), daemon=True).start()
    await ended.wait()


async def _listen(answer: Answer, index: int | None, app: App, host: str, port: int, users: Users) -> int:
    """Open one port and return its number."""
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(answer, index, app.tunnels, users), host, port, backlog=1024
    )
    return int(server.sockets[0].getsockname()[1])


def _outlive_stdin(loop: asyncio.AbstractEventLoop, end: Callable[[], Any]) -> None:
    """Wait for the end of stdin: whoever started us is gone then, however it ended."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(end)


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Take uvloop where it is installed; asyncio's own loop does as well, only slower."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _port(text: str) -> int:
    number = _count(text)
    if number > 65_535:
        raise ValueError(text)
    return number


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate < 1e6:
        raise ValueError(text)
    return rate


def _habits(text: str) -> list[tuple[Habit, str | None]]:
    found: list[tuple[Habit, str | None]] = []
    for each in text.split(","):
        name, _, category = each.strip().partition("@")
        if name not in HABITS:
            raise argparse.ArgumentTypeError(f"there is no habit {name!r}")
        if category and category not in {known.name for known in CATEGORIES}:
            raise argparse.ArgumentTypeError(f"there is no category {category!r}")
        found.append((HABITS[name], category or None))
    return found


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    # The clock can go twenty years either way, and must stay in the calendar.
    if not 1970 <= moment.year <= 2200:
        raise ValueError(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    sys.exit(main())
