"""HTTP requests and responses: parsing and serialization."""

import re
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qs

HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
REASONS = {status.value: status.phrase for status in HTTPStatus}
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class BadRequest(Exception):
    """The received bytes are not a valid request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class Request:
    """One request. `head` is kept unparsed for the request log and the proxies."""

    method: str
    target: str
    version: str
    head: str
    headers: dict[str, str]
    client: str
    proxy: int | None = None
    host: str = ""
    body: bytes = b""
    read_at: float = field(default_factory=time.time)

    @property
    def path(self) -> str:
        """The target without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The query parameters; the last value of each name."""
        parsed = parse_qs(self.target.partition("?")[2], keep_blank_values=True, errors="replace")
        return {name: values[-1] for name, values in parsed.items()}

    @property
    def keep_alive(self) -> bool:
        """Whether the client wants to keep the connection open."""
        connection = self.headers.get("connection", "").lower()
        return "keep-alive" in connection if self.version == "HTTP/1.0" else "close" not in connection


@dataclass(slots=True)
class Response:
    """One complete response."""

    status: int = 200
    body: bytes = b""
    content_type: str | None = HTML
    headers: tuple[tuple[str, str], ...] = ()


def parse(head: str, client: str, proxy: int | None) -> Request:
    """Parse a request line and headers."""
    lines = head.split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not TOKEN.fullmatch(words[0]):
        raise BadRequest(400, "Invalid HTTP/1.1 request line.")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequest(400, "A header line has no colon.")
        headers[name.lower()] = value.strip()
    request = Request(words[0], words[1], words[2], head, headers, client, proxy)
    request.host = headers.get("host", "")
    if "transfer-encoding" in headers:
        raise BadRequest(411, "Send a Content-Length.")
    return request


def headers_of(head: str) -> dict[str, str]:
    """Return the headers with their names as sent; join repeated ones."""
    headers: dict[str, str] = {}
    for line in head.split("\r\n")[1:]:
        name, _, value = line.partition(":")
        value = value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def response_head(response: Response, length: int | None, *, keep_alive: bool) -> bytes:
    """Return the status line and headers; without a length, the body ends with the connection."""
    lines = [
        f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'Unknown')}",
        "Server: bazaar",
        f"Date: {_date(int(time.time()))}",
    ]
    given = {name.lower() for name, _ in response.headers}
    if response.content_type is not None and "content-type" not in given:
        lines.append(f"Content-Type: {response.content_type}")
    if length is not None and "content-length" not in given:
        lines.append(f"Content-Length: {length}")
    lines += [f"{name}: {value}" for name, value in response.headers]
    lines.append("Connection: keep-alive\r\n\r\n" if keep_alive else "Connection: close\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1", "replace")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """Return the Date header; format it once per second."""
    return formatdate(second, usegmt=True)
