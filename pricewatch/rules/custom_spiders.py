"""Spiders of other people's code: what stands for them where an adapter's id stands for ours."""

from __future__ import annotations

OURS = ("discovery", "sweep", "verification", "targets")
# How a run is shown that is not one of ours.
OWN = "own"
LONGEST_NAME = 100
# No adapter has a colon in its id.
_PREFIX = "spider:"


def reader_id(spider_name: str) -> str:
    """The id by which drift, quarantine and metrics know a spider that reads its pages itself."""
    return f"{_PREFIX}{spider_name}"


def is_spider(reader: str | None) -> bool:
    return reader is not None and reader.startswith(_PREFIX)


def spider_of(reader: str | None) -> str | None:
    """The name of the spider; None where it is an adapter."""
    return reader.removeprefix(_PREFIX) if reader is not None and is_spider(reader) else None


def in_words(reader: str) -> str:
    """The adapter bazaar, the spider toys: as a sentence names it."""
    spider = spider_of(reader)
    return f"adapter {reader}" if spider is None else f"spider {spider}"


def kind_of(spider: str, reader: str | None) -> str:
    """Which of our spiders a run is of, or `OWN`; another project may use the same names."""
    return spider if spider in OURS and not is_spider(reader) else OWN
