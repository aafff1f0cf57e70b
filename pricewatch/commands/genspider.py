"""`scrapy genspider` with the template `pricewatch`, for spiders whose items become offers."""

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
NEXT_STEPS = Template(
    """Change its selectors until this command shows what you see in a browser (it stores nothing):
  scrapy parse --spider $name $url
Then run the spider:
  scrapy crawl $name"""
)


class Command(genspider.Command):
    def long_desc(self) -> str:
        return (
            "Generate a spider from a template. With `-t pricewatch`, pricewatch checks, stores and charts "
            "the products of the spider. --list shows this template and Scrapy's."
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
        path = TEMPLATES / f"{template.removesuffix('.tmpl')}.tmpl"
        # As with Scrapy's templates, a file of this name takes precedence.
        if path.parent == TEMPLATES and path.exists() and not Path(template).is_file():
            return path
        found = super()._find_template(template)
        if found is None:
            self.exitcode = BAD_INPUT
        return found

    def _list_templates(self) -> None:
        super()._list_templates()
        for path in sorted(TEMPLATES.glob("*.tmpl")):
            print(f"  {path.stem}")

    def _spider_exists(self, name: str) -> bool:
        """Check the file that would be written, too: Scrapy only checks for a file of the spider's name."""
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
        """Remove the port of the domain: with one, Scrapy filters every page as offsite."""
        variables: dict[str, Any] = super()._generate_template_variables(module, name, url, template_name)
        return {**variables, "domain": urlsplit(url).hostname or variables["domain"]}

    def _genspider(
        self, module: str, name: str, url: str, template_name: str, template_file: str | os.PathLike[str]
    ) -> Path:
        path = super()._genspider(module, name, url, template_name, template_file)
        if Path(template_file).parent == TEMPLATES:
            print(NEXT_STEPS.substitute(name=name, url=url))
        return path


def _check(args: list[str]) -> None:
    from pricewatch.parsing.url import InvalidUrl, canonical_url

    if len(args) != 2:
        raise UserError(
            "Give a name and a domain. Example: scrapy genspider -t pricewatch teashop teashop.example"
        )
    name, domain = args
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r} is not a valid name: use letters, digits, '_', '-' and '.'.")
    try:
        canonical_url(genspider.verify_url_scheme(domain))
        is_valid = True
    except InvalidUrl:
        is_valid = False
    # The template puts it into a Python string literal.
    if not is_valid or set(domain) & set("\"'\\$\n "):
        raise UserError(f"{domain!r} is not a domain or a URL. Example: shop.example")
