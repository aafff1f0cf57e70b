"""One page and what to read from it, described by names and values so that another process can read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from scrapy import http
from scrapy.http import Request, TextResponse

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.declared_shops import shop_files
from pricewatch.parsing.page_encodings import codec_of
from pricewatch.parsing.pages.sanitized_html import PageMark, sanitized_page
from pricewatch.reading.page_calls import DISPLAY, PageCall

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class PageTask(Generic[R_co]):
    call: PageCall[R_co]
    body: bytes = field(repr=False)
    # Values for JSON: the adapter and the fields of the response, or how the page is displayed.
    parameters: dict[str, Any]


def adapter_task(call: PageCall[R_co], adapter: Adapter, response: TextResponse) -> PageTask[R_co]:
    """Return the task of calling this method of the adapter with this response."""
    selectors = dict(adapter.selectors) if isinstance(adapter, CustomSelectorAdapter) else {}
    registered = adapters.REGISTERED.get(adapter.id)
    parameters = {
        "adapter_id": adapter.id,
        # A project may register adapters of its own when it starts; the others are declared in files.
        "registered": registered,
        "shops": None if registered else str(shop_files.directories()[-1]),
        "selectors": selectors,
        "price_place": adapter.price_place,
        **_response_fields(response),
    }
    return PageTask(call, response.body, parameters)


def display_task(
    page: bytes, encoding: str, stylesheet: str, marks: Iterable[PageMark] = ()
) -> PageTask[str]:
    """Return the task of sanitizing a page for display."""
    shown = [list(mark) for mark in marks]
    return PageTask(DISPLAY, page, {"encoding": encoding, "stylesheet": stylesheet, "marks": shown})


def prepare_task(name: str, parameters: dict[str, Any]) -> Callable[[bytes], Any]:
    """Return the function that reads the page of a task, with its adapter imported; for reader processes."""
    if name == DISPLAY.name:
        marks = [PageMark(*mark) for mark in parameters["marks"]]
        encoding, stylesheet = parameters["encoding"], parameters["stylesheet"]
        return lambda body: sanitized_page(_decoded(body, encoding), stylesheet, marks)
    read = getattr(_adapter(parameters), name)
    return lambda body: read(_response(parameters, body))


def _adapter(parameters: dict[str, Any]) -> Adapter:
    adapter_id, registered = parameters["adapter_id"], parameters["registered"]
    if registered is not None:
        adapters.REGISTERED.setdefault(adapter_id, registered)
    else:
        os.environ["PRICEWATCH_SHOPS"] = parameters["shops"]
    adapter = adapters.get(adapter_id)
    if parameters["selectors"]:
        adapter = CustomSelectorAdapter(adapter, parameters["selectors"])
    place = parameters["price_place"]
    return adapter.with_price_place(place) if place else adapter


def _response_fields(response: TextResponse) -> dict[str, Any]:
    redirected = response.request.meta.get("redirect_urls") if response.request else None
    return {
        "kind": type(response).__name__,
        "url": response.url,
        "status": response.status,
        "encoding": response.encoding,
        "content_type": (response.headers.get("Content-Type") or b"").decode("latin-1"),
        "redirect_urls": redirected or [],
    }


def _response(parameters: dict[str, Any], body: bytes) -> TextResponse:
    kind = getattr(http, parameters["kind"], http.HtmlResponse)
    request = Request(parameters["url"], meta={"redirect_urls": parameters["redirect_urls"]})
    response: TextResponse = kind(
        parameters["url"],
        status=parameters["status"],
        headers={"Content-Type": parameters["content_type"]} if parameters["content_type"] else None,
        body=body,
        encoding=parameters["encoding"],
        request=request,
    )
    return response


def _decoded(page: bytes, encoding: str) -> str:
    return page.decode(codec_of(encoding) or "utf-8", "replace")
