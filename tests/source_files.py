"""The source files of the package, as the policy tests read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "pricewatch"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
TEST_FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if "__pycache__" not in path.parts)
TEMPLATES = sorted(PACKAGE.glob("web/templates/**/*.html"))
# The rooms that read pages.
READERS = {"adapters", "generic_reader", "declared_shops"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room(path: Path) -> str:
    """Return the folder or module directly in the package."""
    return path.relative_to(PACKAGE).parts[0]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files_of(*rooms: str) -> list[Path]:
    return [path for path in FILES if room(path) in rooms]


def imported(path: Path) -> Iterator[str]:
    """Yield the rooms of the package that a file imports, at any level."""
    for node in ast.walk(tree(path)):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*folder, *([node.module] if node.module else [])])
            modules = (
                [f"{module}.{alias.name}" for alias in node.names] if module == "pricewatch" else [module]
            )
        yield from (module.split(".")[1] for module in modules if module.startswith("pricewatch."))
