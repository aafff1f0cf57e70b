"""HTTP messages: a request as it was read, a response as it will be written."""

import re
import time
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import parse_qs

HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
REASONS = {status.value: status.phrase for status in HTTPStatus}
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class BadRequest(Exception):
    """The bytes are not a request that can be answered on this connection."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class Request:
    """One request. `head` is kept as it came, so that the log costs nothing until it is read."""

    method: str
    target: str
    version: str
    head: str
    headers: dict[str, str]
    client: str
    proxy: int | None = None
    host: str = ""
    body: bytes = b""
    arrived: float = 0.0

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The parameters, the last of each name."""
        parsed = parse_qs(self.target.partition("?")[2], keep_blank_values=True, errors="replace")
        return {name: values[-1] for name, values in parsed.items()}

    @property
    def keep_alive(self) -> bool:
        """Whether the client wants to go on with this connection."""
        wish = self.headers.get("connection", "").lower()
        return "keep-alive" in wish if self.version == "HTTP/1.0" else "close" not in wish


@dataclass(slots=True)
class Response:
    """One complete answer."""

    status: int = 200
    body: bytes = b""
    content_type: str | None = HTML
    headers: tuple[tuple[str, str], ...] = ()


def parse(head: str, client: str, proxy: int | None) -> Request:
    """Read a request line and its headers."""
    lines = head.split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not TOKEN.fullmatch(words[0]):
        raise BadRequest(400, "That is not an HTTP/1.1 request line.")
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
    """Return the headers with their names as sent; repeated ones are joined."""
    headers: dict[str, str] = {}
    for line in head.split("\r\n")[1:]:
        name, _, value = line.partition(":")
        value = value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def status_line(response: Response, length: int | None, *, keep_alive: bool) -> bytes:
    """Return everything before the body; without a length the end of the connection ends the body."""
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


_last_date = (0, "")


def _date(second: int) -> str:
    """Return the Date header, made once a second."""
    global _last_date
    if _last_date[0] != second:
        _last_date = (second, formatdate(second, usegmt=True))
    return _last_date[1]
