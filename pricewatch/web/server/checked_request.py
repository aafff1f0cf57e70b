"""A request whose headers are checked before any resource sees it, and whose response has all headers."""

from __future__ import annotations

from http.client import responses
from typing import TYPE_CHECKING, Any

from twisted.web import http, server

from pricewatch.web.auth import AuthResult
from pricewatch.web.hosts import host_name

if TYPE_CHECKING:
    from pricewatch.web.server.limited_channel import LimitedChannel

# Twice with different values, two readers of a request could see two different requests.
ONLY_ONCE = ("Host", "Origin", "Authorization", "Sec-Fetch-Site", "Content-Type")
# Headers of twisted and scrapyd: the version of the server, and access for the pages of all other sites.
NOT_SENT = (
    "Server",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
)


class CheckedRequest(server.Request):
    channel: LimitedChannel
    # Of scrapyd's pages and services; set when the login is checked.
    auth_result: AuthResult
    address: str
    _received = 0
    _is_refused = False

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        if self._is_refused:
            return
        self._received += len(data)
        if self._received > self.channel.body_limit:
            self.channel.refuse_long_body()
        else:
            super().handleContentChunk(data)

    def process(self) -> None:
        if problem := self._problem():
            self._answer(http.BAD_REQUEST, problem)
        else:
            super().process()

    def _problem(self) -> str | None:
        """Why the request is malformed; None if it is not."""
        if not self.uri.isascii() or not self.uri.startswith((b"/", b"*")):
            return "The address must be an absolute path of ASCII characters."
        for name in ONLY_ONCE:
            if len(self.requestHeaders.getRawHeaders(name.encode(), [])) > 1:
                return f"The request has more than one {name} header."
        # HTTP/1.0 does not require a Host header.
        host = self.header_values().get("host")
        if host_name(host or "") is None and (host is not None or self.clientproto == b"HTTP/1.1"):
            return "The Host header is missing or malformed. Example: localhost:6800"
        return None

    def answer_early(self, method: bytes, uri: bytes, version: bytes, status: int, reason: str) -> None:
        """Refuse the request before its body is complete, and close the connection."""
        self._is_refused = True
        self.method, self.uri, self.clientproto = method, uri, version
        self.path = uri.partition(b"?")[0]
        self.setHeader("Connection", "close")
        self._answer(status, reason)

    def _answer(self, status: int, reason: str) -> None:
        content = f"{reason}\n".encode()
        self.setResponseCode(status)
        self.setHeader("Date", http.datetimeToString())
        self.setHeader("Content-Type", "text/plain; charset=utf-8")
        self.setHeader("Content-Length", str(len(content)))
        if status == http.UNAUTHORIZED:
            self.setHeader("WWW-Authenticate", 'Basic realm="pricewatch"')
        self.write(content)
        self.finish()

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:  # noqa: N802 - twisted's name
        """Set the status; twisted does not know the phrases of some, such as 429."""
        super().setResponseCode(code, message or http.RESPONSES.get(code) or _phrase(code))

    def write(self, data: bytes) -> None:
        if not self.startedWriting:
            for name in NOT_SENT:
                self.responseHeaders.removeHeader(name)
            for name, value in self.channel.site.headers.items() if self.channel else ():
                if not self.responseHeaders.hasHeader(name):
                    self.responseHeaders.setRawHeaders(name, [value])
        super().write(data)

    def finish(self) -> None:
        """End the response; the client may have left while it was made."""
        if not self._disconnected:
            super().finish()

    def header_values(self) -> dict[str, str]:
        """The headers by their name in lower case."""
        return {
            name.decode("latin-1").lower(): values[-1].decode("latin-1")
            for name, values in self.requestHeaders.getAllRawHeaders()
        }

    def client_address(self) -> str:
        """The address of the client, as a trusted proxy reports it; empty on a UNIX socket."""
        peer: Any = self.getClientAddress()
        forwarded = self.requestHeaders.getRawHeaders(b"x-forwarded-for", [])
        return self.channel.site.auth.client_address(
            str(getattr(peer, "host", "")), b",".join(forwarded).decode("latin-1")
        )


def _phrase(code: int) -> bytes | None:
    return responses[code].encode() if code in responses else None
