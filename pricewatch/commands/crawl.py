"""`scrapy crawl` for people: bad input is one sentence, a terminal shows a bar, the exit code tells."""

from __future__ import annotations

import argparse
import sys

from scrapy import Spider
from scrapy.commands import crawl
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.spiderloader import get_spider_loader

from pricewatch.console.action_command import wants_log
from pricewatch.errors import UserError
from pricewatch.vocabulary import RunStatus


class Command(crawl.Command):
    _crawlers: list[Crawler]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Everything that can be wrong is said here, before scrapy starts to log."""
        from pricewatch.settings_check import check_settings
        from pricewatch.spiders.base import PricewatchSpider

        super().process_options(args, opts)
        if self.settings is None:
            raise RuntimeError("scrapy sets this before it asks for the options")
        if sys.stderr.isatty() and not wants_log(self.settings):
            self.settings.set("PROGRESS_BAR", True, priority="cmdline")
            self.settings.set("LOG_LEVEL", "WARNING", priority="cmdline")
        spiders = get_spider_loader(self.settings)
        try:
            known = ", ".join(sorted(spiders.list()))
            if len(args) != 1:
                raise UserError(f"Say which spider, one at a time: {known}.")
            if args[0] not in spiders.list():
                raise UserError(f"There is no spider {args[0]!r}. Known spiders: {known}.")
            spider = spiders.load(args[0])
            settings = self.settings.copy()
            spider.update_settings(settings)
            check_settings(settings)
            if issubclass(spider, PricewatchSpider):
                spider.check(opts.spargs)
        except UserError as error:
            self._say(str(error))
            sys.exit(self.exitcode)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        self._crawlers = []
        super().run(args, opts)
        for crawler in self._crawlers:
            self._tell_outcome(crawler)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        crawler = super()._create_crawler(spidercls)
        self._crawlers.append(crawler)
        return crawler

    def _tell_outcome(self, crawler: Crawler) -> None:
        """A run that did not finish says so in one sentence, and by the exit code."""
        from pricewatch.runs.crawl_run import run_of

        try:
            run = run_of(crawler)
        except NotConfigured:
            self.exitcode = self.exitcode or int(not isinstance(crawler.spider, Spider))
            return
        if run.status is not RunStatus.FINISHED:
            self._say(run.outcome or f"The run ended as {run.status}; see the log.")
        elif crawler.settings.getbool("PROGRESS_BAR"):
            print(run.summary(), file=sys.stderr)

    def _say(self, sentence: str) -> None:
        print(f"pricewatch: {sentence}", file=sys.stderr)
        self.exitcode = 1
