"""`scrapy preview URL`: fetch one page by all the rules, and print what would be stored; nothing is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.http import Response, TextResponse

from pricewatch.errors import UserError
from pricewatch.items import ProductPage, UnreadPage
from pricewatch.store.engine.json_safe import json_safe

if TYPE_CHECKING:
    from pricewatch.runs.requested_page import Subject
    from pricewatch.runs.target_report import LookResult
    from pricewatch.spiders.targets import TargetsSpider

MOST_CHARACTERS = 3_000_000


def preview_spider() -> type[TargetsSpider]:
    """Made when it is wanted: every `scrapy` command imports this module, few need the spiders."""
    from pricewatch.spiders.targets import TargetsSpider

    class PreviewSpider(TargetsSpider):
        """Looks at one page, and keeps it for whoever wants to point at something on it."""

        result: LookResult | None = None
        page = ""
        adapter_id = ""

        async def parse_product(
            self, response: Response, subject: Subject
        ) -> AsyncIterator[ProductPage | UnreadPage]:
            self.adapter_id = subject.adapter.id
            if isinstance(response, TextResponse):
                self.page = response.text[:MOST_CHARACTERS]
            async for item in super().parse_product(response, subject):
                yield item

        def _print(self, result: LookResult) -> None:
            self.result = result
            self.run.progress["result"] = result.as_json()

    return PreviewSpider


class Command(ScrapyCommand):
    requires_project = True

    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Fetch one page and show what would be stored of it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--adapter", help="read it with this adapter")
        parser.add_argument("--selectors", help='own selectors as JSON, such as {"price": ".amount"}')
        parser.add_argument("--json", action="store_true", help="one JSON object, with the page itself")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is not None and not (opts.loglevel or opts.logfile):
            self.settings.set("LOG_LEVEL", "ERROR", priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or self.crawler_process is None:
            print("pricewatch: Give one URL.", file=sys.stderr)
            self.exitcode = 2
            return
        wanted = {"adapter": opts.adapter, "selectors": opts.selectors}
        given = {"url": args[0], "store": "no", **{name: text for name, text in wanted.items() if text}}
        try:
            spider_class = preview_spider()
            spider_class.check(given)
        except UserError as error:
            self._tell({"error": str(error)}, opts)
            self.exitcode = 1
            return
        crawler = self.crawler_process.create_crawler(spider_class)
        self.crawler_process.crawl(crawler, **given)
        self.crawler_process.start()
        spider: Any = crawler.spider
        if spider is None or spider.result is None:
            outcome = getattr(getattr(spider, "run", None), "outcome", None)
            self._tell({"error": outcome or "The page could not be looked at; see the log."}, opts)
            self.exitcode = 1
            return
        if not opts.json:
            from pricewatch.runs.target_report import lines_of

            print("\n".join(lines_of(spider.result)))
            return
        found = {**spider.result.as_json(), "adapter_id": spider.adapter_id, "page": json_safe(spider.page)}
        print(json.dumps(found))

    def _tell(self, told: dict[str, str], opts: argparse.Namespace) -> None:
        if opts.json:
            print(json.dumps(told))
        else:
            print(f"pricewatch: {told['error']}", file=sys.stderr)
