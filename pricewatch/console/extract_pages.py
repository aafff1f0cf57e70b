"""Saved pages for `scrapy extract` and `scrapy shell`: files, plain or compressed, and their URLs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pricewatch.errors import UserError

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

MAX_PAGE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A file, and the URL of its page if known."""

    path: Path
    name: str
    url: str = ""


class UnreadablePage(UserError):
    """A saved page, or a line of a manifest, cannot be read."""


def as_response(page: SavedPage, home: str = "") -> HtmlResponse:
    """Return a saved page as a response; its URL defaults to the page's canonical URL, then to `home`."""
    from scrapy.http import HtmlResponse, Request

    from pricewatch.parsing.url import InvalidUrl, canonical_url

    body = _read(page)
    url = page.url or _canonical_link(body) or home
    try:
        canonical_url(url)
    except InvalidUrl:
        hint = "its URL is not known; set it with --url" if not url else f"{url!r} is not a web address"
        raise UnreadablePage(f"{page.name}: {hint}.") from None
    return HtmlResponse(url, body=body, request=Request(url))


def file_response(name: str) -> HtmlResponse:
    """Return a file as a response; its URL is the page's canonical URL, else a file URL."""
    from scrapy.http import HtmlResponse, Request

    path = Path(name)
    body = _read(SavedPage(path, name))
    url = _canonical_link(body) or path.resolve().as_uri()
    return HtmlResponse(url, body=body, request=Request(url))


def saved_pages(files: list[str], url: str, manifest: str | None) -> Iterator[SavedPage | UnreadablePage]:
    for name in files:
        if name.startswith(("http://", "https://")):
            raise UserError(f"{name} is not a saved page: save it first, or read it with `scrapy parse`.")
        yield SavedPage(Path(name), name, url)
    if not manifest:
        return
    path = Path(manifest)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The manifest {manifest} cannot be read: {_reason(error)}.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _manifest_page(line, f"{manifest}, line {number}", path.parent)


def _manifest_page(line: str, where: str, folder: Path) -> SavedPage | UnreadablePage:
    try:
        row = json.loads(line)
    except ValueError:
        return UnreadablePage(f"{where}: not JSON.")
    if not isinstance(row, dict) or not isinstance(row.get("file"), str) or not row["file"]:
        return UnreadablePage(f'{where}: no "file".')
    if not isinstance(row.get("url", ""), str):
        return UnreadablePage(f'{where}: "url" is not a string.')
    return SavedPage(folder / row["file"], row["file"], row.get("url", ""))


def _read(page: SavedPage) -> bytes:
    import gzip
    import zlib

    try:
        with page.path.open("rb") as file:
            body = file.read(MAX_PAGE_BYTES + 1)
        # Detect gzip by its first bytes: the names of saved pages often lack the extension.
        if body.startswith(b"\x1f\x8b"):
            with gzip.open(page.path) as file:
                body = file.read(MAX_PAGE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadablePage(f"{page.name} cannot be read: {_reason(error)}.") from None
    if len(body) > MAX_PAGE_BYTES:
        raise UnreadablePage(f"{page.name} is larger than {MAX_PAGE_BYTES // 1024 // 1024} MB.")
    return body


def _canonical_link(body: bytes) -> str:
    """Return the URL in the canonical link or og:url of a page, or an empty string."""
    from pricewatch.parsing.pages.element_tree import parse_html

    root = parse_html(body)
    if root is None:
        return ""
    for element in root.iter("link", "meta"):
        if (element.get("rel") or "").lower() == "canonical" or element.get("property") == "og:url":
            url = str(element.get("href") or element.get("content") or "").strip()
            if url.startswith(("http://", "https://")):
                return url
    return ""


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
