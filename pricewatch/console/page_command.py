"""The base of `scrapy shell`, `fetch`, `view` and `parse`: fetch one page by all rules, without a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.spiderloader import get_spider_loader

from pricewatch.console.project_command import BAD_INPUT, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import DatabaseUnavailable, UserError

if TYPE_CHECKING:
    from scrapy.http import Request

    from pricewatch.fetching.downloader import DomainDownloader

EXAMPLE_URL = "https://shop.example/item/1"


class PageCommand(ScrapyCommand):
    """A mixin for Scrapy's commands; list it before the command."""

    default_settings: ClassVar[dict[str, Any]] = {"RUN_ENABLED": False}
    # One message per page that was not fetched.
    failures: list[str]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Report bad input before Scrapy starts to log."""
        super().process_options(args, opts)
        self.failures = []
        settings = settings_of(self)
        try:
            from pricewatch.settings_check import check_settings

            check_settings(settings)
            self.check(args, opts)
        except UserError as error:
            print_message(str(error))
            sys.exit(BAD_INPUT)
        settings.set("DOWNLOADER", _reporting_downloader(self._add_failure), priority="cmdline")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raise `UserError` for bad arguments."""
        url = one_url(args)
        self.check_spider(opts.spider)
        self.use_sample_marketplace(url)

    def check_spider(self, name: str | None, arguments: dict[str, Any] | None = None) -> None:
        """Raise `UserError` if there is no such spider, or if it does not accept the arguments."""
        from pricewatch.spiders.base import PricewatchSpider

        if name is None:
            return
        spiders = get_spider_loader(settings_of(self))
        known = sorted(spiders.list())
        if name not in known:
            raise UserError(f"There is no spider {name!r}. Known spiders: {', '.join(known)}.")
        spider = spiders.load(name)
        if not issubclass(spider, PricewatchSpider):
            return
        try:
            spider.check(arguments or {})
        except DatabaseUnavailable:
            raise
        except UserError:
            if arguments is not None:
                raise
            raise UserError(
                f"Remove --spider {name}: it needs arguments, which this command does not accept."
            ) from None

    def use_sample_marketplace(self, url: str) -> None:
        """Let the crawl start the sample marketplace if the page is on it and it is not running."""
        from pricewatch.adapters import SAMPLE_ADAPTER
        from pricewatch.store.engine.database import engine
        from pricewatch.store.source_registry import source_rows

        with engine().connect() as connection:
            source = source_rows.load(connection).of(url)
            if source is None or source.adapter_id != SAMPLE_ADAPTER:
                return
            since = source_rows.created_at(connection, source.id)
        marketplace = {"base_url": source.base_url, "since": since.isoformat()}
        settings_of(self).set("SAMPLE_MARKETPLACE", marketplace, priority="cmdline")

    def report_failures(self) -> None:
        """Print why pages were not fetched, and set the exit code."""
        for message in self.failures:
            print_message(message)
            self.exitcode = 1
        self.failures.clear()

    def _add_failure(self, request: Request, error: BaseException) -> None:
        self.failures.append(f"{request.url} was not fetched: {failure_reason(error)}.")


def _reporting_downloader(report: Callable[[Request, BaseException], None]) -> type[DomainDownloader]:
    """Return a downloader class that reports every failed request; Scrapy only logs some of them."""
    from pricewatch.fetching.downloader import DomainDownloader

    class ReportingDownloader(DomainDownloader):
        def log_failure(self, request: Request, error: BaseException) -> None:
            report(request, error)

    return ReportingDownloader


def failure_reason(error: BaseException) -> str:
    from scrapy.spidermiddlewares.httperror import HttpError

    from pricewatch.fetching.failures import BlockedPage

    if isinstance(error, HttpError):
        return f"the site answered with status {error.response.status}"
    why = (str(error) or type(error).__name__).strip().rstrip(".")
    if isinstance(error, BlockedPage):
        return f"blocked by the site ({why}); -s BLOCKED_PAGES_ENABLED=False shows its response"
    return why


def one_url(args: list[str]) -> str:
    """Return the only argument, which must be a URL."""
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    if options := [arg for arg in args if arg.startswith("-")]:
        raise UserError(f"Unknown option {options[0]!r}; -h lists the options.")
    if len(args) != 1:
        raise UserError(f"Give one URL. Example: {EXAMPLE_URL}")
    try:
        canonical_url(args[0])
    except InvalidUrl:
        raise UserError(f"{args[0][:200]!r} is not a web address. Example: {EXAMPLE_URL}") from None
    return args[0]
