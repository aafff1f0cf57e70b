"""`scrapy extract`: run an adapter over saved pages and show the offer and the pipeline's verdict."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pricewatch.console.extract_amounts import HEADINGS, amount_rows, asked_amount, why_lines
from pricewatch.console.extract_pages import SavedPage, UnreadablePage, as_response, saved_pages
from pricewatch.console.project_command import BAD_INPUT, ProjectCommand, settings_of
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError
from pricewatch.items import Drop, ExtractFailure, Offer, Ok, Quarantine
from pricewatch.vocabulary import FailureReason

if TYPE_CHECKING:
    from scrapy.http import HtmlResponse

    from pricewatch.adapters.base import Adapter
    from pricewatch.reading.page_calls import Extraction
    from pricewatch.reading.page_reader import PageReader

MANY_FILES = 5


class Command(ProjectCommand):
    def syntax(self) -> str:
        return (
            "FILE... [--url URL] [--manifest PAGES.jsonl] [--adapter ID] [--overview] [--why AMOUNT] "
            "[--json | --expected]"
        )

    def short_desc(self) -> str:
        return "Run an adapter over saved pages and show each field with its evidence"

    def long_desc(self) -> str:
        return (
            "Run an adapter over saved pages (plain or .gz) and show each field with its evidence, "
            "or why there is no offer. For the generic adapter, a table shows the amounts of the page with "
            "their scores, and --why 19.99 says why this amount was chosen or not. "
            "With --overview, show the cards of overview pages, the next page, "
            "and missing fields. "
            "A manifest has one JSON object per line: `file`, relative to the manifest, and `url`."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="URL of the page (default: its canonical link)")
        parser.add_argument("--manifest", metavar="PAGES.jsonl", help="list of files and their URLs")
        parser.add_argument(
            "--adapter",
            metavar="ID",
            help="adapter to use (default: generic; for overview pages, the adapter of their site)",
        )
        parser.add_argument("--overview", action="store_true", help="show the cards of overview pages")
        parser.add_argument("--why", metavar="AMOUNT", help="say why this amount was chosen or not")
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")
        parser.add_argument(
            "--expected", action="store_true", help="print the expected.json for the test of the page"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from pricewatch.adapters import get

        try:
            chosen = get(opts.adapter) if opts.adapter else None if opts.overview else get("generic")
            if chosen and opts.overview and not chosen.has_overview():
                raise UserError(f"The adapter {opts.adapter!r} reads product pages only.")
            if chosen and not opts.overview and not chosen.has_product():
                raise UserError(f"The adapter {opts.adapter!r} reads overview pages only: add --overview.")
            if not args and not opts.manifest:
                raise UserError("Give saved pages to read: FILE... or --manifest PAGES.jsonl.")
            if opts.url and (len(args) != 1 or opts.manifest):
                raise UserError("--url is the URL of one page; for several pages, use --manifest.")
            why = asked_amount(opts.why) if opts.why else None
            if why is not None and opts.overview:
                raise UserError("--why is about product pages: leave out --overview.")
            pages = list(saved_pages(args, opts.url or "", opts.manifest))
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT
            return
        from pricewatch.reading.deadline import ReadTimeout
        from pricewatch.reading.page_calls import EXPLAIN
        from pricewatch.reading.page_reader import PageReader

        reader = PageReader(settings_of(self))
        show = _print_json if opts.json else _print_table if sys.stdout.isatty() else _print_lines
        for page in _with_progress(pages):
            if isinstance(page, UnreadablePage):
                print_message(str(page))
                self.exitcode = 1
                continue
            try:
                adapter = chosen or _adapter_for(page)
                if opts.expected:
                    _print_expected(reader, adapter, page, overview=opts.overview)
                elif opts.overview:
                    _print_cards(reader, adapter, page, as_json=opts.json)
                elif why is not None:
                    found = reader.read(EXPLAIN, adapter, as_response(page))
                    print(page.name, *why_lines(*found, why), sep="\n", flush=True)
                else:
                    show(_report(reader, adapter, page))
            except UnreadablePage as error:
                print_message(str(error))
                self.exitcode = 1
            except ReadTimeout as timeout:
                print_message(f"{page.name}: {FailureReason.READ_TIMEOUT}: {timeout}.")
                self.exitcode = 1


def _adapter_for(page: SavedPage) -> Adapter:
    """Return the adapter written for the site of an overview page."""
    from pricewatch.adapters import for_domain, get
    from pricewatch.parsing.url import registrable_domain

    domain = registrable_domain(as_response(page).url)
    adapter = get(for_domain(domain))
    if not adapter.has_overview():
        raise UnreadablePage(f"{page.name}: there is no adapter for {domain}; name one with --adapter.")
    return adapter


def _report(reader: PageReader, adapter: Adapter, page: SavedPage) -> dict[str, Any]:
    """Return what a run would do with a page: `ok`, `drop`, `quarantine` or `failed`, and why."""
    from pricewatch.adapters import offer_check
    from pricewatch.parsing.identity import identity_key
    from pricewatch.parsing.url import canonical_url
    from pricewatch.reading.page_calls import EXPLAIN

    response = as_response(page)
    url, result = response.url, _extract(reader, adapter, response)
    is_unread = isinstance(result, ExtractFailure) and result.reason is FailureReason.READ_TIMEOUT
    amounts = [] if is_unread else reader.read(EXPLAIN, adapter, response)[1]
    report: dict[str, Any] = {"file": page.name, "url": url, "status": "", "reason": None, "details": ""}
    verdict: ExtractFailure | Ok | Drop | Quarantine
    if isinstance(result, (ExtractFailure, Quarantine)):
        verdict, offer = result, result.offer if isinstance(result, Quarantine) else None
        evidence = (
            result.evidence if isinstance(result, ExtractFailure) else result.details.get("evidence", [])
        )
    else:
        offer, evidence = result.offer, result.evidence
        offer.url = canonical_url(offer.url or url)
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
        offer.adapter_version = adapter.version
        verdict = offer_check.check_offer(offer, adapter)
    if isinstance(verdict, Ok):
        offer = verdict.offer
    else:
        report |= {"reason": str(verdict.reason), "details": verdict.details}
    report["status"] = _STATUS[type(verdict)]
    report["amounts"] = [asdict(one) for one in amounts]
    return report | {"offer": _offer_fields(offer), "evidence": evidence}


def _extract(reader: PageReader, adapter: Adapter, response: HtmlResponse) -> Extraction:
    from pricewatch.reading.deadline import ReadTimeout
    from pricewatch.reading.page_calls import EXTRACT

    try:
        return reader.read(EXTRACT, adapter, response)
    except ReadTimeout as timeout:
        return ExtractFailure(FailureReason.READ_TIMEOUT, str(timeout))


_STATUS = {Ok: "ok", Drop: "drop", Quarantine: "quarantine", ExtractFailure: "failed"}


def _offer_fields(offer: Offer | None) -> dict[str, Any] | None:
    if offer is None:
        return None
    fields = {name: value for name, value in asdict(offer).items() if value not in (None, "", {}, [])}
    price = str(offer.price.amount) if offer.price else None
    return {"price": price, "price_cents": offer.price_cents} | {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()
    }


def _with_progress(pages: list[SavedPage | UnreadablePage]) -> Iterator[SavedPage | UnreadablePage]:
    if len(pages) < MANY_FILES or not sys.stderr.isatty():
        yield from pages
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(pages, description="Reading pages")


def _print_json(report: dict[str, Any]) -> None:
    print(json.dumps(report, ensure_ascii=False, default=str), flush=True)


def _print_expected(reader: PageReader, adapter: Adapter, page: SavedPage, *, overview: bool) -> None:
    from pricewatch.console.extract_expected import expected_overview, expected_product

    response = as_response(page, adapter.home)
    expected = (expected_overview if overview else expected_product)(reader, adapter, response)
    print(json.dumps(expected, ensure_ascii=False, indent=1, default=str))


def _print_cards(reader: PageReader, adapter: Adapter, page: SavedPage, *, as_json: bool) -> None:
    from pricewatch.console.extract_cards import read_saved_cards

    found = read_saved_cards(reader, adapter, page)
    if as_json:
        for row in found.rows:
            _print_json(row)
        for note in found.left_out:
            print_message(f"{page.name}: {note}.")
        return
    print(*found.card_lines(), "", *found.lines(), sep="\n", flush=True)


def _print_lines(report: dict[str, Any]) -> None:
    for name, value in _rows(report):
        print(f"{name:<14} {value}")
    for row in _amount_rows(report):
        print(f"{'amount':<14} {' | '.join(row)}")
    print()


def _print_table(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, title=Text(str(report["file"])), title_justify="left")
    for name, value in _rows(report)[1:]:
        # Pages are untrusted: their text must not be read as markup.
        table.add_row(Text(name, style="bold"), Text(value))
    console = Console()
    console.print(table)
    if rows := _amount_rows(report):
        amounts = Table(*HEADINGS)
        for row in rows:
            amounts.add_row(*map(Text, row))
        console.print(amounts)


def _amount_rows(report: dict[str, Any]) -> list[tuple[str, ...]]:
    from pricewatch.adapters.base import AmountReport
    from pricewatch.parsing.text import clean

    rows = amount_rows([AmountReport(**one) for one in report["amounts"]])
    return [tuple(clean(cell) for cell in row) for row in rows]


def _rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    from pricewatch.parsing.text import clean

    offer = report["offer"] or {}
    verdict = report["status"] if not report["reason"] else f"{report['status']}: {report['reason']}"
    rows: list[tuple[str, Any]] = [("file", report["file"]), ("url", report["url"]), ("status", verdict)]
    details = report["details"]
    if details:
        rows.append(("why", details.get("why", details) if isinstance(details, dict) else details))
    rows.extend((name, value) for name, value in offer.items() if name not in ("url", "adapter_version"))
    # The table of amounts says more about prices.
    is_weighed = bool(report["amounts"])
    rows.extend(
        ("evidence", line) for line in report["evidence"] if not (is_weighed and line.startswith("price: "))
    )
    return [(name, clean(str(value))) for name, value in rows]
