"""The actions of fault rules: parsed once from JSON, then applied to each matching request."""

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate

from pricewatch.bazaar import block_pages
from pricewatch.bazaar.http_messages import HTML, REASONS, Request, Response
from pricewatch.bazaar.json_fields import BadInput, JsonFields
from pricewatch.bazaar.streaming import (
    ConnectionReset,
    GzipBomb,
    HangingResponse,
    HeldResponse,
    LargeResponse,
    SlowResponse,
    StreamingResponse,
    TruncatedResponse,
)

Normal = Callable[[], Response]
Action = Callable[[Request, Normal], Response | StreamingResponse]

MEGABYTE = 10**6
BODY_LIMIT = 2 * 10**9
# These statuses require a header.
USUAL_HEADERS = {
    401: ("WWW-Authenticate", 'Basic realm="bazaar"'),
    405: ("Allow", "GET"),
    407: ("Proxy-Authenticate", 'Basic realm="bazaar proxy"'),
}


def read(fields: JsonFields) -> tuple[str, Action]:
    """Read the action of a rule and its parameters."""
    name = fields.choice("action", tuple(sorted(ACTIONS)))
    return name, ACTIONS[name](fields)


def always(response: Response) -> Callable[[JsonFields], Action]:
    """Create an action that always returns this response."""
    return lambda _fields: lambda _request, _normal: response


def status(fields: JsonFields) -> Action:
    """Answer with a status."""
    code = fields.integer("status", 503, 200, 599)
    reason = REASONS.get(code, "Unknown")
    default = f"<!doctype html>\n<title>{code}</title>\n<h1>{code} {reason}</h1>\n"
    headers = fields.headers()
    if code in USUAL_HEADERS and not any(
        name.lower() == USUAL_HEADERS[code][0].lower() for name, _ in headers
    ):
        headers = (*headers, USUAL_HEADERS[code])
    response = Response(code, fields.body(default.encode()), HTML, headers)
    return lambda _request, _normal: response


def rate_limit(fields: JsonFields) -> Action:
    """Answer 429 with Retry-After, in seconds or as a date of the real clock."""
    seconds = fields.integer("retry_after", 1)
    as_date = fields.boolean("as_date")

    def answer(_request: Request, _normal: Normal) -> Response:
        wait = formatdate(time.time() + seconds, usegmt=True) if as_date else str(seconds)
        return Response(429, b"<h1>Too Many Requests</h1>\n", headers=(("Retry-After", wait),))

    return answer


def respond(fields: JsonFields) -> Action:
    """Answer with a given status, headers and body; HTML unless Content-Type is given."""
    response = Response(fields.integer("status", 200, 200, 599), fields.body(), HTML, fields.headers())
    return lambda _request, _normal: response


def hang(fields: JsonFields) -> Action:
    """Never answer, or answer after `seconds`."""
    seconds = fields.number("seconds", low=0) if fields.has("seconds") else None
    return lambda _request, normal: HangingResponse(normal(), seconds)


class HoldAction:
    """Hold the normal response until the rule is removed."""

    def __init__(self, _fields: JsonFields) -> None:
        self._removed = asyncio.Event()

    def __call__(self, _request: Request, normal: Normal) -> HeldResponse:
        """Return the held response."""
        return HeldResponse(normal(), self._removed)

    def release(self) -> None:
        """Send all held responses."""
        self._removed.set()


def slow(fields: JsonFields) -> Action:
    """Send the normal response slowly: `bytes` at a time, `interval` seconds apart."""
    size, interval = fields.integer("bytes", 1024, 1), fields.number("interval", 0.25, 0)
    return lambda _request, normal: SlowResponse(normal(), size, interval)


def truncate(fields: JsonFields) -> Action:
    """Send only the first `keep` bytes (default: half) of what Content-Length announces."""
    keep = fields.optional_integer("keep")
    return lambda _request, normal: TruncatedResponse(normal(), keep)


def redirect(fields: JsonFields) -> Action:
    """Redirect to another address."""
    location = fields.string("to")
    if not location.isprintable() or not location.isascii():
        raise BadInput("to must be an address in printable ASCII.")
    response = Response(fields.integer("status", 302, 300, 399), b"", headers=(("Location", location),))
    return lambda _request, _normal: response


def redirect_loop(fields: JsonFields) -> Action:
    """Redirect to the same address."""
    code = fields.integer("status", 302, 300, 399)
    return lambda request, _normal: Response(code, b"", headers=(("Location", request.target),))


def big_body(fields: JsonFields) -> Action:
    """Send `bytes` of text."""
    size = fields.integer("bytes", 12 * MEGABYTE, 0, BODY_LIMIT)
    return lambda _request, _normal: LargeResponse(size)


def gzip_bomb(fields: JsonFields) -> Action:
    """Send a small gzip body that decompresses to `bytes`."""
    size = fields.integer("bytes", 200 * MEGABYTE, 0, BODY_LIMIT)
    return lambda _request, _normal: GzipBomb(size)


ACTIONS: dict[str, Callable[[JsonFields], Action]] = {
    "status": status,
    "rate_limit": rate_limit,
    "respond": respond,
    "hang": hang,
    "hold": HoldAction,
    "slow": slow,
    "reset": lambda _fields: lambda _request, _normal: ConnectionReset(),
    "truncate": truncate,
    "redirect": redirect,
    "redirect_loop": redirect_loop,
    "big_body": big_body,
    "gzip_bomb": gzip_bomb,
    "captcha": always(block_pages.CAPTCHA),
    "queue": always(block_pages.QUEUE),
    "javascript_wall": always(block_pages.JAVASCRIPT_WALL),
    "access_denied": always(block_pages.ACCESS_DENIED),
    "empty": always(block_pages.EMPTY),
    "blank": always(block_pages.BLANK),
    "soft_404": always(block_pages.SOFT_404),
    "garble": lambda _fields: lambda _request, normal: block_pages.garbled(normal()),
}
