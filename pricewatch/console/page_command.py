"""What `scrapy shell`, `fetch`, `view` and `parse` share: one page, by all the rules, and no run for it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from pricewatch.console.project_command import BAD_INPUT
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import DatabaseUnavailable, UserError

if TYPE_CHECKING:
    from scrapy.http import Request

    from pricewatch.fetching.downloader import DomainDownloader

EXAMPLE = "https://shop.example/item/1"


class PageCommand(ScrapyCommand):
    """To be put in front of the command of Scrapy's that it changes."""

    default_settings: ClassVar[dict[str, Any]] = {"RUN_ENABLED": False}
    # Why a page was not fetched, as one sentence each.
    unfetched: list[str]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Say what is wrong before Scrapy starts to log."""
        super().process_options(args, opts)
        self.unfetched = []
        try:
            from pricewatch.settings_check import check_settings

            check_settings(self.given_settings)
            self.check(args, opts)
        except UserError as error:
            print_message(str(error))
            sys.exit(BAD_INPUT)
        downloader = telling_downloader(self._not_fetched)
        self.given_settings.set("DOWNLOADER", downloader, priority="cmdline")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raise `UserError` where these arguments cannot be used."""
        url = one_url(args)
        self.check_spider(opts.spider)
        self.use_sample_marketplace(url)

    def check_spider(self, name: str | None, given: dict[str, Any] | None = None) -> None:
        """Whether there is such a spider, and it can do with these arguments, or without any."""
        from pricewatch.spiders.base import PricewatchSpider

        if name is None:
            return
        spiders = get_spider_loader(self.given_settings)
        known = sorted(spiders.list())
        if name not in known:
            raise UserError(f"There is no spider {name!r}. Known spiders: {', '.join(known)}.")
        spider = spiders.load(name)
        if not issubclass(spider, PricewatchSpider):
            return
        try:
            spider.check(given or {})
        except DatabaseUnavailable:
            raise
        except UserError:
            if given is not None:
                raise
            raise UserError(
                f"Leave out --spider {name}: it needs arguments, which this command does not take."
            ) from None

    def use_sample_marketplace(self, url: str) -> None:
        """Start the sample marketplace where the page is one of its pages and it does not run."""
        from pricewatch.adapters import SAMPLE
        from pricewatch.store.engine.database import engine
        from pricewatch.store.writing import source_rows

        with engine().connect() as connection:
            source = source_rows.load(connection).of(url)
            if source is None or source.adapter_id != SAMPLE:
                return
            since = source_rows.created_at(connection, source.id)
        place = {"base_url": source.base_url, "since": since.isoformat()}
        self.given_settings.set("SAMPLE_MARKETPLACE", place, priority="cmdline")

    @property
    def given_settings(self) -> Settings:
        if self.settings is None:
            raise RuntimeError("scrapy sets this before it asks for the options")
        return self.settings

    def tell_unfetched(self) -> None:
        """Print why a page was not fetched; the exit code says it too."""
        for sentence in self.unfetched:
            print_message(sentence)
            self.exitcode = 1
        self.unfetched.clear()

    def _not_fetched(self, request: Request, error: BaseException) -> None:
        self.unfetched.append(f"{request.url} was not fetched: {why_not_fetched(error)}.")


def telling_downloader(tell: Callable[[Request, BaseException], None]) -> type[DomainDownloader]:
    """A downloader that tells of every page that could not be fetched; Scrapy only logs some of them."""
    from pricewatch.fetching.downloader import DomainDownloader

    class TellingDownloader(DomainDownloader):
        def unfetched(self, request: Request, error: BaseException) -> None:
            tell(request, error)

    return TellingDownloader


def why_not_fetched(error: BaseException) -> str:
    from scrapy.spidermiddlewares.httperror import HttpError

    from pricewatch.fetching.failures import BlockedPage

    if isinstance(error, HttpError):
        return f"the site answered with status {error.response.status}"
    why = (str(error) or type(error).__name__).strip().rstrip(".")
    if isinstance(error, BlockedPage):
        return f"blocked by the site ({why}); -s BLOCKED_PAGES_ENABLED=False shows what it answered"
    return why


def one_url(args: list[str]) -> str:
    """The one web address among the arguments."""
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    if options := [arg for arg in args if arg.startswith("-")]:
        raise UserError(f"Unknown option {options[0]!r}; -h lists the options.")
    if len(args) != 1:
        raise UserError(f"Give one URL, such as {EXAMPLE}.")
    try:
        canonical_url(args[0])
    except InvalidUrl:
        raise UserError(f"{args[0][:200]!r} is not a web address such as {EXAMPLE}.") from None
    return args[0]
