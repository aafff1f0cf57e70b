"""Start the marketplace: `python -m pricewatch.bazaar`. The first line of output is its address."""

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
from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.habits.registry import HABITS
from pricewatch.bazaar.marketplace import SITE_SKINS, Marketplace
from pricewatch.bazaar.server import Connection, Handler, OpenConnections
from pricewatch.bazaar.word_tables import CATEGORIES


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pricewatch.bazaar",
        description="The sample marketplace.",
        epilog="\n".join(["habits:", *(f"  {name:<22}{each.about}" for name, each in HABITS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=_port, default=0, help="0, the default, selects a free one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--listings", type=_count, default=3000, help="number on sale at the start")
    parser.add_argument("--days", type=_count, default=60, help="length of the timeline in days")
    parser.add_argument("--start", type=_moment, default=None, help="start time in ISO 8601; default: now")
    parser.add_argument(
        "--live",
        type=_rate,
        nargs="?",
        const=1.0,
        default=0.0,
        metavar="RATE",
        help="run the clock, RATE times as fast as real time",
    )
    parser.add_argument("--proxies", type=_count, default=0, help="number of forward proxies to open")
    parser.add_argument("--page-bytes", type=_count, default=17_000, help="size of a detail page in bytes")
    parser.add_argument("--skin", choices=sorted(SITE_SKINS), help="render pages like another site")
    parser.add_argument(
        "--habits",
        type=_habits,
        default=[],
        metavar="NAME[@CATEGORY],…",
        help="habits that are active from the start; see below",
    )
    parser.add_argument("--die-with-parent", action="store_true", help="stop when stdin is closed")
    parser.add_argument(
        "--while-used", action="store_true", help="stop when stdin is closed and no client is connected"
    )
    return parser.parse_args()


def main() -> int:
    """Serve until a signal or the end of stdin."""
    options = arguments()
    # The listings are kept for good: garbage collection while building them only costs time.
    gc.disable()
    marketplace = Marketplace(
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
            runner.run(serve(marketplace, options))
    except OSError as error:
        reason = error.strerror or str(error)
        print(f"The marketplace cannot listen on {options.host}:{options.port}: {reason}.", file=sys.stderr)
        return 1
    return 0


async def serve(marketplace: Marketplace, options: argparse.Namespace) -> None:
    """Open the ports, print their addresses, and wait until asked to stop."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    connections = OpenConnections()
    ports = [await _listen(marketplace.answer, None, marketplace, options.host, options.port, connections)]
    proxy_handler = partial(proxy.answer, marketplace)
    ports += [
        await _listen(proxy_handler, index, marketplace, options.host, 0, OpenConnections())
        for index in range(options.proxies)
    ]
    marketplace.address = ("127.0.0.1" if options.host in ("", "0.0.0.0") else options.host, ports[0])  # noqa: S104
    host = f"[{options.host}]" if ":" in options.host else options.host
    print("\n".join(f"http://{host}:{port}" for port in ports), flush=True)
    if options.die_with_parent or options.while_used:
        end = partial(connections.when_none, ended.set) if options.while_used else ended.set
        threading.Thread(target=_wait_for_end_of_stdin, args=(loop, end), daemon=True).start()
    await ended.wait()


async def _listen(
    handler: Handler,
    index: int | None,
    marketplace: Marketplace,
    host: str,
    port: int,
    connections: OpenConnections,
) -> int:
    """Open one port and return its number."""
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(handler, index, marketplace.tunnels, connections), host, port, backlog=1024
    )
    return int(server.sockets[0].getsockname()[1])


def _wait_for_end_of_stdin(loop: asyncio.AbstractEventLoop, end: Callable[[], Any]) -> None:
    """Call `end` when stdin is closed: the parent process has ended, in whatever way."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(end)


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's event loop if it is installed; asyncio's own works too, but slower."""
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
            raise argparse.ArgumentTypeError(f"unknown habit {name!r}")
        if category and category not in {known.name for known in CATEGORIES}:
            raise argparse.ArgumentTypeError(f"unknown category {category!r}")
        found.append((HABITS[name], category or None))
    return found


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    # The clock can move twenty years either way and must stay within the calendar.
    if not 1970 <= moment.year <= 2200:
        raise ValueError(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    sys.exit(main())
