"""The closed list of what can go wrong on order: read once from JSON, then applied to each request."""

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate

from pricewatch.bazaar import walls
from pricewatch.bazaar.effects import Drip, Effect, Flood, GzipBomb, Hang, Hold, Reset, Truncate
from pricewatch.bazaar.fields import BadInput, Fields
from pricewatch.bazaar.messages import HTML, REASONS, Request, Response

Normal = Callable[[], Response]
Action = Callable[[Request, Normal], Response | Effect]

MEGABYTE = 10**6
BODY_LIMIT = 2 * 10**9
# Three statuses mean little without their header.
USUAL_HEADERS = {
    401: ("WWW-Authenticate", 'Basic realm="bazaar"'),
    405: ("Allow", "GET"),
    407: ("Proxy-Authenticate", 'Basic realm="bazaar proxy"'),
}


def read(fields: Fields) -> tuple[str, Action]:
    """Take an action and what belongs to it from a rule."""
    name = fields.choice("action", tuple(sorted(ACTIONS)))
    return name, ACTIONS[name](fields)


def always(response: Response) -> Callable[[Fields], Action]:
    """Make an action that has no parameters."""
    return lambda _fields: lambda _request, _normal: response


def status(fields: Fields) -> Action:
    """Answer with a bare status."""
    code = fields.whole("status", 503, 200, 599)
    reason = REASONS.get(code, "Unknown")
    default = f"<!doctype html>\n<title>{code}</title>\n<h1>{code} {reason}</h1>\n"
    headers = fields.headers()
    if code in USUAL_HEADERS and not any(
        name.lower() == USUAL_HEADERS[code][0].lower() for name, _ in headers
    ):
        headers = (*headers, USUAL_HEADERS[code])
    response = Response(code, fields.body(default.encode()), HTML, headers)
    return lambda _request, _normal: response


def rate_limit(fields: Fields) -> Action:
    """Answer 429 with Retry-After, in seconds or as a date by the real clock."""
    seconds = fields.whole("retry_after", 1)
    as_date = fields.flag("as_date")

    def answer(_request: Request, _normal: Normal) -> Response:
        wait = formatdate(time.time() + seconds, usegmt=True) if as_date else str(seconds)
        return Response(429, b"<h1>Too Many Requests</h1>\n", headers=(("Retry-After", wait),))

    return answer


def respond(fields: Fields) -> Action:
    """Answer with anything at all; without a Content-Type header it is HTML."""
    response = Response(fields.whole("status", 200, 200, 599), fields.body(), HTML, fields.headers())
    return lambda _request, _normal: response


def hang(fields: Fields) -> Action:
    """Never answer, or only after `seconds`."""
    seconds = fields.number("seconds", low=0) if fields.has("seconds") else None
    return lambda _request, normal: Hang(normal(), seconds)


class HoldBack:
    """Keep the normal answer back until the rule is lifted."""

    def __init__(self, _fields: Fields) -> None:
        self._lifted = asyncio.Event()

    def __call__(self, _request: Request, normal: Normal) -> Hold:
        """Answer later."""
        return Hold(normal(), self._lifted)

    def lift(self) -> None:
        """Let everybody have their answer."""
        self._lifted.set()


def slow(fields: Fields) -> Action:
    """Drip the normal answer: `bytes` at a time, `interval` seconds apart."""
    size, interval = fields.whole("bytes", 1024, 1), fields.number("interval", 0.25, 0)
    return lambda _request, normal: Drip(normal(), size, interval)


def truncate(fields: Fields) -> Action:
    """Send only the first `keep` bytes (half, by default) of what Content-Length promises."""
    keep = fields.maybe_whole("keep")
    return lambda _request, normal: Truncate(normal(), keep)


def redirect(fields: Fields) -> Action:
    """Redirect elsewhere."""
    place = fields.text("to")
    if not place.isprintable() or not place.isascii():
        raise BadInput("to must be an address in printable ASCII.")
    response = Response(fields.whole("status", 302, 300, 399), b"", headers=(("Location", place),))
    return lambda _request, _normal: response


def redirect_loop(fields: Fields) -> Action:
    """Redirect to the very same address, for ever."""
    code = fields.whole("status", 302, 300, 399)
    return lambda request, _normal: Response(code, b"", headers=(("Location", request.target),))


def big_body(fields: Fields) -> Action:
    """Send `bytes` of text."""
    size = fields.whole("bytes", 12 * MEGABYTE, 0, BODY_LIMIT)
    return lambda _request, _normal: Flood(size)


def gzip_bomb(fields: Fields) -> Action:
    """Send a small gzip that inflates to `bytes`."""
    size = fields.whole("bytes", 200 * MEGABYTE, 0, BODY_LIMIT)
    return lambda _request, _normal: GzipBomb(size)


ACTIONS: dict[str, Callable[[Fields], Action]] = {
    "status": status,
    "rate_limit": rate_limit,
    "respond": respond,
    "hang": hang,
    "hold": HoldBack,
    "slow": slow,
    "reset": lambda _fields: lambda _request, _normal: Reset(),
    "truncate": truncate,
    "redirect": redirect,
    "redirect_loop": redirect_loop,
    "big_body": big_body,
    "gzip_bomb": gzip_bomb,
    "captcha": always(walls.CAPTCHA),
    "queue": always(walls.QUEUE),
    "javascript_wall": always(walls.JAVASCRIPT_WALL),
    "access_denied": always(walls.ACCESS_DENIED),
    "empty": always(walls.EMPTY),
    "blank": always(walls.BLANK),
    "soft_404": always(walls.SOFT_404),
    "garble": lambda _fields: lambda _request, normal: walls.garbled(normal()),
}
