"""`scrapy genspider` with the template `pricewatch`, for spiders whose items become offers."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from scrapy.commands import genspider
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.template import string_camelcase

from pricewatch.console.project_command import BAD_INPUT, settings_of
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

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if opts.list:
                super().run(args, opts)
                print(*(f"  {path.stem}" for path in sorted(TEMPLATES.glob("*.tmpl"))), sep="\n")
            elif opts.dump:
                print(self.find_template(opts.dump).read_text(encoding="utf-8"))
            else:
                _check(args)
                self.generate(args[0], genspider.verify_url_scheme(args[1]), opts)
        except UserError as error:
            print_message(str(error))
            sys.exit(BAD_INPUT)

    def find_template(self, name: str) -> Path:
        filename = f"{name.removesuffix('.tmpl')}.tmpl"
        for path in (Path(filename), TEMPLATES / filename, Path(self.templates_dir, filename)):
            if path.exists():
                return path
        raise UserError(f"Unable to find template: {name}. `scrapy genspider --list` shows the templates.")

    def generate(self, name: str, url: str, opts: argparse.Namespace) -> None:
        """Write the module of the spider."""
        settings = settings_of(self)
        module, bot_name = genspider.sanitize_module_name(name), settings["BOT_NAME"]
        package = import_module(settings["NEWSPIDER_MODULE"])
        path = Path(package.__file__ or "").parent.resolve() / f"{module}.py"
        if module == bot_name:
            raise UserError("A spider cannot have the name of the project.")
        if not opts.force and (path.exists() or name in get_spider_loader(settings).list()):
            raise UserError(f"{path if path.exists() else f'Spider {name!r}'} already exists.")
        template = self.find_template(opts.template)
        source = Template(template.read_text(encoding="utf-8")).substitute(
            project_name=bot_name,
            ProjectName=string_camelcase(bot_name),
            module=module,
            name=name,
            url=url,
            # Without a port: with one, Scrapy filters every page as offsite.
            domain=urlsplit(url).hostname,
            classname="".join(part.capitalize() for part in module.split("_")) + "Spider",
        )
        path.write_text(source, encoding="utf-8")
        print(f"Created spider {name!r} using template {opts.template!r} in module:")
        print(f"  {package.__name__}.{module}")
        if template.parent == TEMPLATES:
            print(NEXT_STEPS.substitute(name=name, url=url))
        if opts.edit:
            self.exitcode = subprocess.call([*shlex.split(settings["EDITOR"]), path])


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
