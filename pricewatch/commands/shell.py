"""`scrapy shell [URL|FILE]` with pricewatch's fetching rules, without a run, and with failure messages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import shell
from scrapy.utils.url import guess_scheme

from pricewatch.console.page_command import PageCommand, one_url
from pricewatch.errors import UserError

if TYPE_CHECKING:
    from scrapy.http import Response


class Command(PageCommand, shell.Command):
    default_settings: ClassVar[dict[str, Any]] = {
        **shell.Command.default_settings,
        **PageCommand.default_settings,
    }
    saved: Response | None = None

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        self.check_spider(opts.spider)
        if not args:
            return
        if len(args) == 1 and Path(args[0]).is_file():
            from pricewatch.console.extract_pages import file_response

            self.saved = file_response(args[0])
        else:
            self.use_sample_marketplace(one_url([_with_scheme(arg) for arg in args]))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            # A saved page is set in update_vars instead of being fetched.
            super().run([] if self.saved else args, opts)
        except Exception:
            if not self.failures:
                raise
        self.report_failures()

    def update_vars(self, vars: dict[str, Any]) -> None:  # noqa: A002 - Scrapy's name
        self.report_failures()
        if self.saved is not None and vars["request"] is None:
            vars.update(response=self.saved, request=self.saved.request)


def _with_scheme(arg: str) -> str:
    """Guess the scheme as Scrapy does: `shop.example` is a web address, `./page.html` a file."""
    url = arg if arg.startswith("-") else guess_scheme(arg)
    if url.startswith("file:"):
        raise UserError(f"There is no file {arg!r}.")
    return url
