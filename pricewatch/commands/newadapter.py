"""`scrapy newadapter`: create an adapter for another site, with sample pages and a test."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path
from string import Template

from pricewatch.console.project_command import BAD_INPUT, ProjectCommand
from pricewatch.console.terminal_io import print_message
from pricewatch.errors import UserError

TEMPLATES = Path(__file__).parent / "newadapter_templates"
NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
REGISTRATION = re.compile(
    r"(?P<opening>^REGISTERED = \{\n)(?P<lines>(?:    .*\n)*)(?P<closing>\}\n)", re.MULTILINE
)


class Command(ProjectCommand):
    def syntax(self) -> str:
        return "NAME DOMAIN [--declarative]"

    def short_desc(self) -> str:
        return "Create an adapter from a template, with sample pages and a test"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--declarative",
            action="store_true",
            help="create a TOML file of selectors: enough for most shops",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if len(args) != 2:
                raise UserError(
                    "Give a name and a domain. Example: scrapy newadapter teashop teashop.example"
                )
            created = create_adapter(Path.cwd(), args[0], args[1], declarative=opts.declarative)
        except UserError as error:
            print_message(str(error))
            self.exitcode = BAD_INPUT
            return
        print(
            "\n".join(
                [
                    "Created:",
                    *(f"  {path}" for path in created),
                    "",
                    NEXT_STEPS.substitute(
                        name=args[0],
                        file=created[-1],
                        host=args[1].lower(),
                        pages=f"tests/adapters/fixtures/{args[0]}",
                    ),
                ]
            )
        )


NEXT_STEPS = Template(
    """Replace both page.html files with an overview page and a product page of the site. Change the
selectors in $file until the commands below print the right values.
Then write these values to both expected.json files (--expected prints them) for
tests/adapters/test_$name.py. The next commands:
  scrapy extract --adapter $name --overview --url https://$host/OVERVIEW $pages/overview/page.html
  scrapy extract --adapter $name --url https://$host/PRODUCT $pages/product/page.html
  scrapy markets add $name https://$host/OVERVIEW"""
)


def create_adapter(root: Path, name: str, domain: str, *, declarative: bool = False) -> list[Path]:
    """Write all files of a new adapter, or none, and return their paths: the adapter is the last one."""
    from pricewatch.parsing.url import InvalidUrl, registrable_domain

    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} is not a valid name: use 2 to 40 characters of a-z, 0-9 and _, starting with a letter."
        )
    try:
        site = registrable_domain(domain)
    except InvalidUrl:
        site = ""
    if "." not in site or not re.fullmatch(r"[a-z0-9.-]+", site) or "/" in domain:
        raise UserError(f"{domain!r} is not a domain. Example: shop.example")
    variables = {"name": name, "domain": site, "host": domain.lower(), "class_name": _class_name(name)}
    folders = (TEMPLATES / "both", TEMPLATES / ("declarative" if declarative else "python"))
    templates = [(folder, path) for folder in folders for path in sorted(folder.rglob("*.tmpl"))]
    files = {root / _target_path(path.relative_to(folder), name): path for folder, path in templates}
    adapters = root / "pricewatch" / "adapters"
    shops = root / "pricewatch" / "declared_shops" / "shops"
    others = (adapters / f"{name}.py", shops / f"{name}.toml")
    existing = [path for path in (*files, *others) if path.exists()]
    if existing:
        raise UserError(f"{existing[0].relative_to(root)} already exists; choose another name.")
    registry = adapters / "__init__.py"
    # Checked for both kinds, because both share the names of adapters.
    registered = _registered(registry, name, variables["class_name"])
    for target, template in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text("utf-8")).substitute(variables), "utf-8")
    if declarative:
        return [path.relative_to(root) for path in files]
    registry.write_text(registered, "utf-8")
    return [path.relative_to(root) for path in (registry, *files)]


def _registered(registry: Path, name: str, class_name: str) -> str:
    """Return the source of the registry with a line for the new adapter, sorted by name."""
    try:
        source = registry.read_text("utf-8")
    except OSError:
        raise UserError("Run this in the root folder of the project, where scrapy.cfg is.") from None
    found = REGISTRATION.search(source)
    if found is None:
        raise UserError(f"{registry} has no dict REGISTERED.")
    if f'"{name}":' in found["lines"]:
        raise UserError(f"There is already an adapter {name!r}; choose another name.")
    line = f'    "{name}": "pricewatch.adapters.{name}:{class_name}",\n'
    lines = "".join(sorted([*found["lines"].splitlines(keepends=True), line]))
    return source[: found.start("lines")] + lines + source[found.end("lines") :]


def _target_path(template: Path, name: str) -> Path:
    """Return the path of the file that a template creates."""
    return Path(str(template).removesuffix(".tmpl").replace("NAME", name))


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Adapter"
