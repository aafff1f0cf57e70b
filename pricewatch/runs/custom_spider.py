"""The run of a custom spider: its source, and the fields of its row."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.store.models.run_tables import TRIGGERS
from pricewatch.store.source_registry import spider_sources
from pricewatch.store.source_registry.source_rows import SourceRecord

# Attributes of a spider that are not its arguments.
_NOT_ARGUMENTS = frozenset({"name", "custom_settings", "trigger"})


def run_fields(spider: Spider) -> dict[str, Any]:
    trigger = getattr(spider, "trigger", None)
    return {
        "adapter_id": reader_id(spider.name),
        "trigger": trigger if trigger in TRIGGERS else "MANUAL",
        "job_id": getattr(spider, "_job", None),
        "arguments": {
            name: value
            for name, value in vars(spider).items()
            if isinstance(value, str) and not name.startswith("_") and name not in _NOT_ARGUMENTS
        },
    }


def site_of_spider(spider: Spider) -> str:
    """Return the first start URL on its first allowed domain, else that domain; empty if it has neither.

    A start URL is preferred because it includes the port.
    """
    domains = [str(domain) for domain in getattr(spider, "allowed_domains", None) or []]
    urls = [str(url) for url in getattr(spider, "start_urls", None) or []]
    if not domains:
        return urls[0] if urls else ""
    return next((url for url in urls if _is_on(url, domains[0])), domains[0])


def _is_on(url: str, domain: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return f".{host}".endswith(f".{domain.lower()}")


def find_source(connection: Connection, spider: Spider) -> SourceRecord:
    """Return the source of the spider, and create it if it does not exist."""
    named = getattr(spider, "source", None)
    source_id = str(named) if named else None
    return spider_sources.source_for(connection, spider.name, source_id, site_of_spider(spider), clock.now())
