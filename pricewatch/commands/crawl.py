"""`scrapy crawl` with one-line error messages, a progress bar on terminals, and a meaningful exit code."""

from __future__ import annotations

import argparse
import sys
from typing import cast

from scrapy import Spider
from scrapy.commands import crawl
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.spiderloader import get_spider_loader

from pricewatch.console.project_command import log_is_requested, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.vocabulary import RunStatus


class Command(crawl.Command):
    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Report bad input before Scrapy starts to log."""
        from pricewatch.settings_check import check_settings
        from pricewatch.spiders.base import PricewatchSpider

        super().process_options(args, opts)
        settings = settings_of(self)
        if sys.stderr.isatty() and not log_is_requested(settings):
            settings.set("PROGRESS_BAR", True, priority="cmdline")
            settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
        spiders = get_spider_loader(settings)
        try:
            known = ", ".join(sorted(spiders.list()))
            if len(args) != 1:
                raise UserError(f"Name one spider: {known}.")
            if args[0] not in spiders.list():
                raise UserError(f"There is no spider {args[0]!r}. Known spiders: {known}.")
            spider = spiders.load(args[0])
            spider_settings = settings.copy()
            spider.update_settings(spider_settings)
            check_settings(spider_settings)
            if issubclass(spider, PricewatchSpider):
                spider.check(opts.spargs)
        except UserError as error:
            print_message(str(error))
            sys.exit(1)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.crawler_process is None:
            raise RuntimeError("Scrapy sets the crawler process before it runs a command")
        crawler = self.crawler_process.create_crawler(args[0])
        # Scrapy accepts a crawler in place of a spider name.
        super().run(cast("list[str]", [crawler]), opts)
        self._report_outcome(crawler)

    def _report_outcome(self, crawler: Crawler) -> None:
        """Print why a run did not finish, and set the exit code."""
        from pricewatch.runs.crawl_run import run_of

        try:
            run = run_of(crawler)
        except NotConfigured:
            self.exitcode = self.exitcode or int(not isinstance(crawler.spider, Spider))
            return
        if run.status is not RunStatus.FINISHED:
            print_message(run.outcome or f"The run ended as {run.status}; see the log.")
            self.exitcode = 1
        elif crawler.settings.getbool("PROGRESS_BAR"):
            print(run.summary(), file=sys.stderr)
