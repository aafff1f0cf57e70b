"""Pages of sites as people see them: a reader process removes everything but text and structure."""

from __future__ import annotations

from collections.abc import Iterable

from pricewatch.errors import UserError
from pricewatch.parsing.pages.sanitized_html import PageMark, notice_document
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_task import display_task
from pricewatch.reading.reader_pool import project_pool
from pricewatch.reading.reader_process import AdapterError
from pricewatch.web.templating import asset


def display(page: bytes, encoding: str, marks: Iterable[PageMark] = ()) -> str:
    """Return a page for a frame, with marked elements; or a sentence if it cannot be displayed."""
    stylesheet = asset("page.css")
    try:
        return project_pool().read(display_task(page, encoding, stylesheet, marks))
    except ReadTimeout as timeout:
        return notice_document(f"This page cannot be displayed: it was {timeout}.", stylesheet)
    except (AdapterError, UserError) as error:
        return notice_document(f"This page cannot be displayed: {error}", stylesheet)
