"""The data that a page asks its site for while it loads: kept in the page, so that it is stored with it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from html import escape

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import Response as PlaywrightResponse
from scrapy.http import Response, TextResponse

MOST_ANSWERS = 20


class PageData:
    """Listens to one page for the answers whose addresses its adapter wants."""

    def __init__(self, page: Page, patterns: Sequence[str], most_bytes: int):
        self._wanted = [re.compile(pattern) for pattern in patterns]
        self._most_bytes = most_bytes
        self._answers: list[PlaywrightResponse] = []
        page.on("response", self._heard)

    def _heard(self, answer: PlaywrightResponse) -> None:
        if len(self._answers) < MOST_ANSWERS and any(each.search(answer.url) for each in self._wanted):
            self._answers.append(answer)

    async def read(self) -> list[tuple[str, str]]:
        """Addresses and JSON texts, in the order of their arrival; what broke off is left out."""
        texts = await asyncio.gather(*(_text(answer) for answer in self._answers))
        found = [(answer.url, text) for answer, text in zip(self._answers, texts, strict=True) if text]
        return found if sum(len(text) for _, text in found) <= self._most_bytes else []


async def _text(answer: PlaywrightResponse) -> str:
    if "json" not in answer.headers.get("content-type", ""):
        return ""
    try:
        return await answer.text()
    except (PlaywrightError, UnicodeDecodeError):
        return ""


def with_data(response: Response, data: Sequence[tuple[str, str]]) -> Response:
    """The page with its data in front of its end, each in a script that no browser would run."""
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
