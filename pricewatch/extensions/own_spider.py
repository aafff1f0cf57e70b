"""The run of a spider that is not one of ours: whose site it reads, and what its row says."""

from __future__ import annotations

from typing import Any

from scrapy import Spider
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.rules.own_spiders import reader_id
from pricewatch.store import spider_sources
from pricewatch.store.models.runs import TRIGGERS
from pricewatch.store.target_sources import SourceRecord

# Attributes that are not arguments of the spider.
_NOT_GIVEN = frozenset({"name", "custom_settings", "trigger"})


def run_fields(spider: Spider) -> dict[str, Any]:
    trigger = getattr(spider, "trigger", None)
    return {
        "adapter_id": reader_id(spider.name),
        "trigger": trigger if trigger in TRIGGERS else "MANUAL",
        "job_id": getattr(spider, "_job", None),
        "arguments": {
            name: value
            for name, value in vars(spider).items()
            if isinstance(value, str) and not name.startswith("_") and name not in _NOT_GIVEN
        },
    }


def site_of_spider(spider: Spider) -> str:
    """The first of its allowed domains, else its first start URL; empty if it has neither."""
    for name in ("allowed_domains", "start_urls"):
        if given := list(getattr(spider, name, None) or []):
            return str(given[0])
    return ""


def find_source(connection: Connection, spider: Spider) -> SourceRecord:
    """The spider's source, made if it is not known."""
    named = getattr(spider, "source", None)
    source_id = str(named) if named else None
    return spider_sources.source_for(connection, spider.name, source_id, site_of_spider(spider), clock.now())
