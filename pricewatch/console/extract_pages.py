"""Saved pages for `scrapy extract`: files, plain or compressed, with the URL that each was fetched from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pricewatch.errors import UserError

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

LARGEST_PAGE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A file to read and the URL that its page was fetched from, where that is known."""

    path: Path
    name: str
    url: str = ""


class UnreadablePage(UserError):
    """A saved page, or a line that should name one, that cannot be read."""


def as_response(page: SavedPage, home: str = "") -> HtmlResponse:
    """A saved page as if it had just been fetched; from `home`, where nothing says where else."""
    from scrapy.http import HtmlResponse, Request

    from pricewatch.parsing.url import InvalidUrl, canonical_url

    body = _read(page)
    url = page.url or _own_url(body) or home
    try:
        canonical_url(url)
    except InvalidUrl:
        hint = "its URL is not known; give it with --url" if not url else f"{url!r} is not a web address"
        raise UnreadablePage(f"{page.name}: {hint}.") from None
    return HtmlResponse(url, body=body, request=Request(url))


def file_response(name: str) -> HtmlResponse:
    """A file as a page: from the URL that it gives itself, else from its place on the disk."""
    from scrapy.http import HtmlResponse, Request

    path = Path(name)
    body = _read(SavedPage(path, name))
    url = _own_url(body) or path.resolve().as_uri()
    return HtmlResponse(url, body=body, request=Request(url))


def saved_pages(files: list[str], url: str, manifest: str | None) -> Iterator[SavedPage | UnreadablePage]:
    for name in files:
        if name.startswith(("http://", "https://")):
            raise UserError(f"{name} is no saved page: save it first, or read it with scrapy parse.")
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
        return UnreadablePage(f'{where}: "url" is not a text.')
    return SavedPage(folder / row["file"], row["file"], row.get("url", ""))


def _read(page: SavedPage) -> bytes:
    import gzip
    import zlib

    try:
        with page.path.open("rb") as file:
            body = file.read(LARGEST_PAGE + 1)
        # By its first bytes, because saved pages are often named as the server named them.
        if body.startswith(b"\x1f\x8b"):
            with gzip.open(page.path) as file:
                body = file.read(LARGEST_PAGE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadablePage(f"{page.name} cannot be read: {_reason(error)}.") from None
    if len(body) > LARGEST_PAGE:
        raise UnreadablePage(f"{page.name} is larger than {LARGEST_PAGE // 1024 // 1024} MB.")
    return body


def _own_url(body: bytes) -> str:
    """The URL that a page gives itself, for pages that were saved without it."""
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
