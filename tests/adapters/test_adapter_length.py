"""Adapters are short: all modules that only one adapter uses have under 60 lines together, without tables."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pricewatch.adapters import REGISTERED
from tests.conftest import ROOT

# Not specific to one site: it reads pages of any shop, including declared ones.
GENERIC = "generic"
SITES = sorted(name for name in REGISTERED if name != GENERIC)
MAX_LINES = 60


def imports(root: Path) -> dict[str, set[str]]:
    """The modules of the package that each module imports, by dotted name."""
    paths = {path.relative_to(root).with_suffix("").parts: path for path in root.glob("pricewatch/**/*.py")}
    sources = {".".join(parts).removesuffix(".__init__"): path for parts, path in paths.items()}
    found: dict[str, set[str]] = {}
    for name, path in sources.items():
        home = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = home[: len(home) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                named |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        found[name] = (named & sources.keys()) - {name}
    return found


def modules_of_adapter(module: str, imported: dict[str, set[str]]) -> set[str]:
    """The module of an adapter, and all modules that only this adapter imports."""
    own = {module}
    while True:
        used = {name for one in own for name in imported[one]} - own
        more = {name for name in used if {one for one in imported if name in imported[one]} <= own}
        if not more:
            return own
        own |= more


def code_lines(source: str) -> int:
    """Count lines without blank lines, comments, docstrings, imports and constant tables."""
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            left_out |= _lines_of(node.body[0])
    for statement in tree.body:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        is_table = isinstance(value, (ast.Dict, ast.Tuple, ast.Constant))
        if is_table or isinstance(statement, (ast.Import, ast.ImportFrom)):
            left_out |= _lines_of(statement)
    lines = enumerate((line.strip() for line in source.splitlines()), start=1)
    return sum(number not in left_out and bool(line) and not line.startswith("#") for number, line in lines)


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def lines_of_adapter(module: str, root: Path = ROOT) -> dict[str, int]:
    """The code lines of each module that only this adapter uses."""
    own = modules_of_adapter(module, imports(root))
    return {name: code_lines(root.joinpath(*name.split(".")).with_suffix(".py").read_text()) for name in own}


@pytest.mark.parametrize("name", SITES)
def test_adapter_with_its_own_modules_is_short(name: str) -> None:
    lines = lines_of_adapter(REGISTERED[name].partition(":")[0])
    assert sum(lines.values()) < MAX_LINES, lines


def test_generic_adapter_is_shared() -> None:
    users = [name for name, named in imports(ROOT).items() if "pricewatch.generic_reader.adapter" in named]
    assert "pricewatch.declared_shops.declared_adapter" in users


def test_tables_and_comments_do_not_count() -> None:
    table = 'import re\n\nNAMES = {\n    "a": 1,\n}\n'
    function = 'def f():\n    """Doc."""\n    # why\n    return 1\n'
    assert code_lines(f'"""Doc."""\n{table}\n\n{function}') == 2
    assert code_lines("A = re.compile('a')\nB = {name: 1 for name in C}\n") == 2


def test_lines_in_private_helper_modules_count(tmp_path: Path) -> None:
    home = tmp_path / "pricewatch" / "adapters"
    home.mkdir(parents=True)
    (home / "one.py").write_text("from . import shared\nfrom .one_more import f\nf()\n")
    (home / "one_more.py").write_text("from pricewatch.adapters import shared, deeper\n" + "x()\n" * 70)
    (home / "deeper.py").write_text("y()\n")
    (home / "other.py").write_text("from pricewatch.adapters.shared import z\nz()\n")
    (home / "shared.py").write_text("z()\n" * 500)
    lines = lines_of_adapter("pricewatch.adapters.one", tmp_path)
    assert lines == {
        "pricewatch.adapters.one": 1,
        "pricewatch.adapters.one_more": 70,
        "pricewatch.adapters.deeper": 1,
    }
