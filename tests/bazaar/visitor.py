"""A plain visitor of the marketplace: one connection per request, nothing followed, nothing retried."""

import http.client
import json
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from parsel import Selector


@dataclass(frozen=True)
class Answer:
    """What came back."""

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
    """Asks one server, directly or through a proxy."""

    def __init__(self, url: str) -> None:
        self.place = urlsplit(url).netloc
        self.address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)

    def ask(self, target: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """Send one request; header names are written with underscores."""
        connection = http.client.HTTPConnection(self.place, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, target, body, named)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def all_cards(self, path: str, rows: int = 90) -> list[dict[str, str]]:
        """Follow the next links from page one to the end."""
        cards: list[dict[str, str]] = []
        target: str | None = f"{path}{'&' if '?' in path else '?'}rows={rows}"
        while target:
            answer = self.ask(target)
            cards += answer.cards
            target = answer.page.css('a[rel="next"]::attr(href)').get()
        return cards

    def is_reset(self, target: str) -> bool:
        """Tell whether the answer is a TCP reset; http.client takes a mere hang-up for one."""
        with self.connect() as sock:
            sock.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            try:
                sock.recv(1)
            except ConnectionResetError:
                return True
        return False

    def connect(self) -> socket.socket:
        """Open a bare socket, for what no HTTP library would send."""
        return socket.create_connection(self.address, timeout=60)


def read_all(sock: socket.socket) -> bytes:
    """Read until the server hangs up."""
    data = b""
    while piece := sock.recv(65_536):
        data += piece
    return data
