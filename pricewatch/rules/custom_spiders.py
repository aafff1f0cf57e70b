"""Custom spiders: spiders that are not one of pricewatch's four.

A custom spider reads its pages itself, so its reader id takes the place of an adapter id.
"""

from __future__ import annotations

BUILT_IN_SPIDERS = ("discovery", "sweep", "verification", "targets")
# The kind of a run of a custom spider, as pages and filters name it.
CUSTOM = "own"
LONGEST_NAME = 100
# Adapter ids contain no colon.
_PREFIX = "spider:"


def reader_id(spider_name: str) -> str:
    """Return the id of a custom spider in drift, quarantine and metrics."""
    return f"{_PREFIX}{spider_name}"


def is_custom_spider(reader: str | None) -> bool:
    return reader is not None and reader.startswith(_PREFIX)


def custom_spider_name(reader: str | None) -> str | None:
    """Return the name of the custom spider; None if the reader is an adapter."""
    return reader.removeprefix(_PREFIX) if reader is not None and is_custom_spider(reader) else None


def reader_label(reader: str) -> str:
    """Return the reader as it is named in messages: "adapter bazaar" or "spider toys"."""
    spider = custom_spider_name(reader)
    return f"adapter {reader}" if spider is None else f"spider {spider}"


def run_kind(spider: str, reader: str | None) -> str:
    """Return which of pricewatch's spiders a run belongs to, or `CUSTOM`: names alone may clash."""
    return spider if spider in BUILT_IN_SPIDERS and not is_custom_spider(reader) else CUSTOM
