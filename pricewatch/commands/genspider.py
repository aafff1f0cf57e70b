"""`scrapy genspider` with one more template: `-t pricewatch`, for spiders whose items become offers."""

from __future__ import annotations

import argparse
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

from scrapy.commands import genspider

from pricewatch.console.project_command import BAD_INPUT
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError

TEMPLATES = Path(__file__).parent / "genspider_templates"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
NEXT = Template(
    """Change the selectors in it until this shows what you see in a browser; nothing is stored:
  scrapy parse --spider $name $url
Then let it run:
  scrapy crawl $name"""
)


class Command(genspider.Command):
    def long_desc(self) -> str:
        return (
            "Generate a spider from a template. `-t pricewatch` makes one whose products are checked, stored "
            "and charted by pricewatch; Scrapy's own templates are there too (--list)."
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        try:
            if not (opts.list or opts.dump):
                _check(args)
        except UserError as error:
            print_message(str(error))
            sys.exit(BAD_INPUT)

    def _find_template(self, template: str) -> Path | None:
        own = TEMPLATES / f"{template.removesuffix('.tmpl')}.tmpl"
        # A file of the person's own comes first, as with Scrapy's templates.
        if own.parent == TEMPLATES and own.exists() and not Path(template).is_file():
            return own
        found = super()._find_template(template)
        if found is None:
            self.exitcode = BAD_INPUT
        return found

    def _list_templates(self) -> None:
        super()._list_templates()
        for path in sorted(TEMPLATES.glob("*.tmpl")):
            print(f"  {path.stem}")

    def _spider_exists(self, name: str) -> bool:
        """Scrapy looks for a file of the spider's name; what it would write is named after the module."""
        exists = super()._spider_exists(name)
        if not exists and self.settings is not None:
            folder = Path(import_module(self.settings["NEWSPIDER_MODULE"]).__file__ or "").parent
            path = folder / f"{genspider.sanitize_module_name(name)}.py"
            if exists := path.exists():
                print(f"{path} already exists")
        if exists:
            self.exitcode = BAD_INPUT
        return exists

    def _generate_template_variables(
        self, module: str, name: str, url: str, template_name: str
    ) -> dict[str, Any]:
        """Without the port, with which Scrapy takes every page of an allowed domain for another site."""
        given: dict[str, Any] = super()._generate_template_variables(module, name, url, template_name)
        return {**given, "domain": urlsplit(url).hostname or given["domain"]}

    def _genspider(
        self, module: str, name: str, url: str, template_name: str, template_file: str | os.PathLike[str]
    ) -> Path:
        made = super()._genspider(module, name, url, template_name, template_file)
        if Path(template_file).parent == TEMPLATES:
            print(NEXT.substitute(name=name, url=url))
        return made


def _check(args: list[str]) -> None:
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    if len(args) != 2:
        raise UserError(
            "Give a name and a domain, for example: scrapy genspider -t pricewatch teashop teashop.example."
        )
    name, place = args
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r} cannot be a name: use letters, digits, '_', '-' and '.'.")
    try:
        canonical_url(genspider.verify_url_scheme(place))
    except InvalidUrl:
        place = ""
    # It becomes part of a Python text.
    if not place or set(place) & set("\"'\\$\n "):
        raise UserError(f"{args[1]!r} is not a domain or an address such as shop.example.")
