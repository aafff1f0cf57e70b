"""`scrapy parse URL`: show what the adapter of a site, or a spider, reads from a page."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, ClassVar

import scrapy
from scrapy.commands import parse
from scrapy.http import Request, Response
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.spider import spidercls_for_request
from twisted.python.failure import Failure

from pricewatch.console.extract_cards import CardsRead
from pricewatch.console.page_command import PageCommand, failure_reason, one_url
from pricewatch.console.project_command import log_is_requested, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError

if TYPE_CHECKING:
    from pricewatch.console.parse_page import PagePlan
    from pricewatch.runs.target_report import CheckResult

# The options of Scrapy's command, with their defaults.
SPIDER_OPTIONS: dict[str, Any] = {
    "spider": None,
    "pipelines": False,
    "nolinks": False,
    "noitems": False,
    "rules": False,
    "callback": None,
    "meta": None,
    "cbkwargs": None,
    "depth": 1,
    "verbose": False,
    "spargs": {},
    "output": None,
    "overwrite_output": None,
}


class PageSpider(scrapy.Spider):
    """Fetch one page, and store the response or the failure."""

    name = "page"
    request: Request
    response: Response | None = None
    failure: Failure | None = None

    async def start(self) -> AsyncIterator[Request]:
        yield self.request.replace(callback=self.parse, errback=self.failed)

    def parse(self, response: Response) -> None:
        self.response = response

    def failed(self, failure: Failure) -> None:
        self.failure = failure


class Command(PageCommand, parse.Command):
    default_settings: ClassVar[dict[str, Any]] = {
        **parse.Command.default_settings,
        **PageCommand.default_settings,
    }
    plan: PagePlan | None = None

    def short_desc(self) -> str:
        return "Fetch a page and show what its adapter, or a spider, reads from it"

    def long_desc(self) -> str:
        return (
            "Fetch a page with pricewatch's fetching rules and show what the adapter of its site reads: the "
            "offer, whether it would be stored, quarantined or dropped, and the evidence for each field; or "
            "the cards of an overview page. Nothing is stored. With --spider, -c, -r or another option of "
            "Scrapy's parse command, or if a spider has the site in its allowed_domains, that spider reads "
            "the page, as in Scrapy. The exit code is 1 if nothing was read, and 2 for bad input."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group(title="Adapter options")
        group.add_argument(
            "--adapter", metavar="NAME", help="adapter to use (default: the adapter of the site)"
        )
        kind = group.add_mutually_exclusive_group()
        kind.add_argument("--offer", action="store_true", help="read the page as a product page")
        kind.add_argument("--cards", action="store_true", help="read the page as an overview page")
        group.add_argument("--json", action="store_true", help="print one JSON object")
        super().add_options(parser)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        url = one_url(args)
        for_adapter = [name for name in ("adapter", "offer", "cards", "json") if getattr(opts, name)]
        for_spider = any(getattr(opts, name) != default for name, default in SPIDER_OPTIONS.items())
        if for_adapter and for_spider:
            raise UserError(
                f"--{for_adapter[0]} is an option for adapters; do not combine it with options for spiders."
            )
        if for_spider or (not for_adapter and self._spider_of(url)):
            self._prepare_spider(url, opts)
        else:
            self._plan(url, opts)
        self.use_sample_marketplace(url)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.plan is None:
            super().run(args, opts)
            self.report_failures()
            return
        spider = self._fetch(self.plan)
        if spider.response is not None:
            from pricewatch.console.parse_page import read_page
            from pricewatch.reading.page_reader import PageReader

            found = read_page(PageReader(settings_of(self)), spider.response, self.plan)
            self._show(self.plan, found, as_json=opts.json)
            return
        self.exitcode = 1
        error = spider.failure.value if spider.failure else None
        why = failure_reason(error) if error else "see the log"
        if opts.json:
            report = {"url": self.plan.url, "adapter": self.plan.adapter.id, "status": "failed"}
            print(json.dumps({**report, "reason": getattr(error, "reason", "not_fetched"), "details": why}))
        else:
            print_message(f"{self.plan.url} was not fetched: {why}.")

    def _spider_of(self, url: str) -> type[scrapy.Spider] | None:
        return spidercls_for_request(get_spider_loader(settings_of(self)), Request(url))

    def _prepare_spider(self, url: str, opts: argparse.Namespace) -> None:
        self.check_spider(opts.spider, opts.spargs)
        if opts.spider is None and self._spider_of(url) is None:
            raise UserError(f"No spider has {url} in its allowed_domains: name one with --spider.")
        if opts.pipelines:
            # The pipelines need a run.
            settings_of(self).set("RUN_ENABLED", True, priority="cmdline")

    def _plan(self, url: str, opts: argparse.Namespace) -> None:
        from pricewatch.console.parse_page import make_page_plan
        from pricewatch.store.engine.database import engine

        with engine().connect() as connection:
            expects_cards = True if opts.cards else False if opts.offer else None
            self.plan = make_page_plan(connection, url, opts.adapter, expects_cards)
        if not log_is_requested(settings_of(self)):
            settings_of(self).set("LOG_LEVEL", "ERROR", priority="cmdline")

    def _fetch(self, plan: PagePlan) -> PageSpider:
        from pricewatch.runs.page_rendering import page_meta

        if self.crawler_process is None:
            raise RuntimeError("Scrapy sets the crawler process before it runs a command")
        rendering = page_meta(plan.adapter, plan.subject.hints, plan.subject.render)
        request = Request(plan.url, meta={"source_id": plan.subject.source_id, **rendering}, dont_filter=True)
        crawler = self.crawler_process.create_crawler(PageSpider)
        self.crawler_process.crawl(crawler, request=request)
        self.crawler_process.start()
        if not isinstance(crawler.spider, PageSpider):
            return PageSpider(request=request)
        return crawler.spider

    def _show(self, plan: PagePlan, found: CheckResult | CardsRead, *, as_json: bool) -> None:
        from pricewatch.runs.target_report import lines_of

        head = {"url": plan.url, "adapter": plan.adapter.id, "adapter_version": plan.adapter.version}
        by = f"{plan.adapter.id} {plan.adapter.version}"
        if isinstance(found, CardsRead):
            self.exitcode = int(not found.rows)
            page = {"cards": found.rows, "has_next": found.has_next, "total": found.total}
            shown = {**head, "kind": "cards", **page, "next": found.next_lines, "missing": found.missing()}
            lines = [plan.url, f"  overview page, adapter {by}", *found.card_lines(), ""]
            lines += found.lines()
        else:
            self.exitcode = int(found.status == "failed")
            shown = {**head, "kind": "offer", **found.as_json()}
            url, verdict, *fields = lines_of(found)
            lines = [url, verdict, f"  {'adapter':13} {by}", *fields]
        print(json.dumps(shown, ensure_ascii=False) if as_json else "\n".join(lines))
