"""JSON responses that a page requests while it loads, added to its HTML so that both are stored together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from html import escape

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import Response as PlaywrightResponse
from scrapy.http import Response, TextResponse

MAX_RESPONSES = 20


class PageData:
    """Collect the responses of a page whose URLs match the patterns of its adapter."""

    def __init__(self, page: Page, patterns: Sequence[str], max_bytes: int):
        self._patterns = [re.compile(pattern) for pattern in patterns]
        self._max_bytes = max_bytes
        self._responses: list[PlaywrightResponse] = []
        page.on("response", self._add)

    def _add(self, response: PlaywrightResponse) -> None:
        if len(self._responses) < MAX_RESPONSES and any(
            pattern.search(response.url) for pattern in self._patterns
        ):
            self._responses.append(response)

    async def read(self) -> list[tuple[str, str]]:
        """Return URLs and JSON texts in order of arrival, without incomplete responses."""
        texts = await asyncio.gather(*(_text(response) for response in self._responses))
        found = [(response.url, text) for response, text in zip(self._responses, texts, strict=True) if text]
        return found if sum(len(text) for _, text in found) <= self._max_bytes else []


async def _text(response: PlaywrightResponse) -> str:
    if "json" not in response.headers.get("content-type", ""):
        return ""
    try:
        return await response.text()
    except (PlaywrightError, UnicodeDecodeError):
        return ""


def with_data(response: Response, data: Sequence[tuple[str, str]]) -> Response:
    """Return the page with its data before `</html>`, each in a script element that browsers do not run."""
    if not data or not isinstance(response, TextResponse):
        return response
    scripts = "".join(
        f'<script type="application/json" data-page-data="{escape(url)}">'
        + text.replace("<", "\\u003c")
        + "</script>"
        for url, text in data
    )
    before, end, after = response.text.rpartition("</html>")
    page = f"{before}{scripts}{end}{after}" if end else f"{after}{scripts}"
    return response.replace(body=page.encode(response.encoding, "xmlcharrefreplace"))
