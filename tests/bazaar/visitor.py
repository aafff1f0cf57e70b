"""A simple HTTP client: one connection per request, no redirects, no retries."""

import http.client
import json
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from parsel import Selector


@dataclass(frozen=True)
class VisitorResponse:
    """A response, with its HTML parsed on demand."""

    status: int
    headers: dict[str, str]
    body: bytes

    @cached_property
    def page(self) -> Selector:
        """The body as HTML."""
        return Selector(text=self.body.decode())

    @cached_property
    def cards(self) -> list[dict[str, str]]:
        """The attributes of each card, with its link, title and price text."""
        return [
            {
                **card.attrib,
                "href": card.css(".card-link::attr(href)").get(""),
                "title": card.css(".card-link::text").get(""),
                "text": card.css(".card-price::text").get(""),
                "time": card.css("time::attr(datetime)").get(""),
            }
            for card in self.page.css("article.card")
        ]

    @property
    def ids(self) -> list[str]:
        """The ids on the cards, in order."""
        return [card["data-id"] for card in self.cards]

    @property
    def product(self) -> dict[str, Any]:
        """The schema.org Product of the page's JSON-LD."""
        data = json.loads(self.page.css('script[type="application/ld+json"]::text').get(""))
        graph: list[dict[str, Any]] = data.get("@graph", [data])
        (product,) = (node for node in graph if node["@type"] == "Product")
        return product


class Visitor:
    """A client of one server or proxy."""

    def __init__(self, url: str) -> None:
        self.place = urlsplit(url).netloc
        self.address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)

    def request(
        self, target: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> VisitorResponse:
        """Send one request; underscores in header names become hyphens."""
        connection = http.client.HTTPConnection(self.place, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, target, body, named)
            response = connection.getresponse()
            return VisitorResponse(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def all_cards(self, path: str, rows: int = 90) -> list[dict[str, str]]:
        """Return the cards of all pages, following the next links."""
        cards: list[dict[str, str]] = []
        target: str | None = f"{path}{'&' if '?' in path else '?'}rows={rows}"
        while target:
            answer = self.request(target)
            cards += answer.cards
            target = answer.page.css('a[rel="next"]::attr(href)').get()
        return cards

    def is_reset(self, target: str) -> bool:
        """Return whether the connection is reset; http.client does not distinguish this from a close."""
        with self.connect() as sock:
            sock.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            try:
                sock.recv(1)
            except ConnectionResetError:
                return True
        return False

    def connect(self) -> socket.socket:
        """Open a socket, for requests that no HTTP library sends."""
        return socket.create_connection(self.address, timeout=60)


def read_all(sock: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    data = b""
    while piece := sock.recv(65_536):
        data += piece
    return data
