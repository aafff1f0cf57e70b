"""`scrapy preview URL`: fetch one page and print what a run would store, without storing it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.http import Response, TextResponse

from pricewatch.console.project_command import BAD_INPUT
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.items import ExtractFailure, ProductPage, UnreadPage
from pricewatch.store.engine.json_safe import json_safe

if TYPE_CHECKING:
    from pricewatch.runs.requested_page import PageContext
    from pricewatch.runs.target_report import CheckResult
    from pricewatch.spiders.targets import TargetsSpider

MAX_CHARACTERS = 3_000_000


def preview_spider() -> type[TargetsSpider]:
    """Create the class on demand: every `scrapy` command imports this module, few need the spiders."""
    from pricewatch.spiders.targets import TargetsSpider

    class PreviewSpider(TargetsSpider):
        """Check one target, and keep its page so that the user can select elements of it."""

        result: CheckResult | None = None
        page = ""
        adapter_id = ""

        async def product_items(
            self, response: Response, subject: PageContext, read: ProductPage | ExtractFailure
        ) -> list[ProductPage | UnreadPage]:
            self.adapter_id = subject.adapter.id
            if isinstance(response, TextResponse):
                self.page = response.text[:MAX_CHARACTERS]
            return await super().product_items(response, subject, read)

        def _print(self, result: CheckResult) -> None:
            self.result = result
            self.run.progress["result"] = result.as_json()

    return PreviewSpider


class Command(ScrapyCommand):
    requires_project = True

    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Fetch one page and show what a run would store"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--adapter", metavar="ID", help="adapter to use (default: the adapter of the site)"
        )
        parser.add_argument("--selectors", help='custom selectors as JSON, such as {"price": ".amount"}')
        parser.add_argument("--json", action="store_true", help="print one JSON object, including the page")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None and not (opts.loglevel or opts.logfile):
            self.settings.set("LOG_LEVEL", "ERROR", priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or self.crawler_process is None:
            print_message("Give one URL.")
            self.exitcode = BAD_INPUT
            return
        options = {"adapter": opts.adapter, "selectors": opts.selectors}
        arguments = {"url": args[0], "store": "no", **{name: text for name, text in options.items() if text}}
        try:
            spider_class = preview_spider()
            spider_class.check(arguments)
        except UserError as error:
            self._fail(str(error), opts)
            return
        crawler = self.crawler_process.create_crawler(spider_class)
        self.crawler_process.crawl(crawler, **arguments)
        self.crawler_process.start()
        spider: Any = crawler.spider
        if spider is None or spider.result is None:
            outcome = getattr(getattr(spider, "run", None), "outcome", None)
            self._fail(outcome or "The page could not be read; see the log.", opts)
            return
        if not opts.json:
            from pricewatch.runs.target_report import lines_of

            print("\n".join(lines_of(spider.result)))
            return
        found = {**spider.result.as_json(), "adapter_id": spider.adapter_id, "page": json_safe(spider.page)}
        print(json.dumps(found))

    def _fail(self, message: str, opts: argparse.Namespace) -> None:
        self.exitcode = 1
        if opts.json:
            print(json.dumps({"error": message}))
        else:
            print_message(message)
