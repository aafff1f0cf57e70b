"""What the fork server imports and prepares before it starts commands, so that they begin at once.

No module installs a reactor when it is imported; `forked.py` reloads those that read the environment.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pricewatch.parsing.url import registrable_domain

PACKAGE = Path(__file__).parents[1] / "pricewatch"
ROOMS = ("adapters", "commands", "extensions", "fetching", "middlewares", "pipelines", "reading", "spiders")
LIBRARIES = (
    "scrapy.commands.crawl",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.scraper",
    "scrapy.extensions.corestats",
    "scrapy.extensions.logcount",
    "scrapy.extensions.memusage",
    "scrapy.extensions.remote_control",
    "scrapy.spidermiddlewares.httperror",
    "psycopg2",
    "sqlalchemy.dialects.postgresql.psycopg2",
    "uvloop",
)


def preload() -> None:
    for name in LIBRARIES:
        import_module(name)
    for room in ROOMS:
        for module in sorted((PACKAGE / room).rglob("[!_]*.py")):
            import_module(".".join(("pricewatch", *module.relative_to(PACKAGE).with_suffix("").parts)))
    # Builds the table of public suffixes.
    registrable_domain("shop.example")


preload()
