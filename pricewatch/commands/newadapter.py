"""`scrapy newadapter`: the skeleton of an adapter for another site, with a page to try it on and a test."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path
from string import Template

from pricewatch.console.project_command import ProjectCommand
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
        return "Make the skeleton of an adapter, with a page to try it on and a test"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--declarative", action="store_true", help="only a file of selectors: enough for most shops"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if len(args) != 2:
                raise UserError(
                    "Give a name and a domain, for example: scrapy newadapter teashop teashop.example."
                )
            made = make(Path.cwd(), args[0], args[1], declarative=opts.declarative)
        except UserError as error:
            print(f"pricewatch: {error}", file=sys.stderr)
            self.exitcode = 2
            return
        print(
            "\n".join(
                [
                    "Made:",
                    *(f"  {path}" for path in made),
                    "",
                    NEXT.substitute(
                        name=args[0],
                        file=made[-1],
                        host=args[1].lower(),
                        pages=f"tests/adapters/fixtures/{args[0]}",
                    ),
                ]
            )
        )


NEXT = Template(
    """Save an overview page and a product page of the site in place of the two page.html, and change the
selectors in $file until both are read right. What is right then goes into
both expected.json (--expected prints it), for tests/adapters/test_$name.py.
The next three commands:
  scrapy extract --adapter $name --overview --url https://$host/OVERVIEW $pages/overview/page.html
  scrapy extract --adapter $name --url https://$host/PRODUCT $pages/product/page.html
  scrapy markets add $name https://$host/OVERVIEW"""
)


def make(root: Path, name: str, domain: str, *, declarative: bool = False) -> list[Path]:
    """Write all files of a new adapter under the project's root, the adapter last; all of them or none."""
    from pricewatch.parsing.url import InvalidUrl, registrable_domain

    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UserError(f"{name!r} cannot be a name: use 2 to 40 of a-z, 0-9 and _, beginning with a letter.")
    try:
        site = registrable_domain(domain)
    except InvalidUrl:
        site = ""
    if "." not in site or not re.fullmatch(r"[a-z0-9.-]+", site) or "/" in domain:
        raise UserError(f"{domain!r} is no domain such as shop.example.")
    words = {"name": name, "domain": site, "host": domain.lower(), "class_name": _class_name(name)}
    folders = (TEMPLATES / "both", TEMPLATES / ("declarative" if declarative else "python"))
    templates = [(folder, path) for folder in folders for path in sorted(folder.rglob("*.tmpl"))]
    files = {root / _filled(path.relative_to(folder), words): path for folder, path in templates}
    home = root / "pricewatch" / "adapters"
    others = (home / f"{name}.py", home / "shops" / f"{name}.toml")
    taken = [path for path in (*files, *others) if path.exists()]
    if taken:
        raise UserError(f"There is already {taken[0].relative_to(root)}; choose another name.")
    registry = home / "__init__.py"
    # Checked for both kinds: a name belongs to one adapter.
    registered = _registered(registry, name, words["class_name"])
    for target, template in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text("utf-8")).substitute(words), "utf-8")
    if declarative:
        return [path.relative_to(root) for path in files]
    registry.write_text(registered, "utf-8")
    return [path.relative_to(root) for path in (registry, *files)]


def _registered(registry: Path, name: str, class_name: str) -> str:
    """The registry with one more line, in the order of the names."""
    try:
        source = registry.read_text("utf-8")
    except OSError:
        raise UserError("Run this in the folder of the project, where scrapy.cfg is.") from None
    found = REGISTRATION.search(source)
    if found is None:
        raise UserError(f"There is no table REGISTERED in {registry}.")
    if f'"{name}":' in found["lines"]:
        raise UserError(f"There is already an adapter {name!r}; choose another name.")
    line = f'    "{name}": "pricewatch.adapters.{name}:{class_name}",\n'
    lines = "".join(sorted([*found["lines"].splitlines(keepends=True), line]))
    return source[: found.start("lines")] + lines + source[found.end("lines") :]


def _filled(template: Path, words: dict[str, str]) -> Path:
    """Where a template's file goes: its own path, with NAME filled in."""
    return Path(str(template).removesuffix(".tmpl").replace("NAME", words["name"]))


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Adapter"
