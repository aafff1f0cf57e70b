"""An adapter is thin: each module of it has under 60 lines, apart from imports and tables of names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pricewatch.adapters import REGISTERED
from tests.conftest import ROOT

ADAPTERS = ROOT / "pricewatch" / "adapters"
SITES = sorted(name for name in REGISTERED if name != "generic")
MOST_LINES = 60


def modules(name: str) -> list[Path]:
    """The adapter's module, and those that it alone uses: `mercari.py`, `mercari_item.py` and so on."""
    return [ADAPTERS / f"{name}.py", *sorted(ADAPTERS.glob(f"{name}_*.py"))]


def code_lines(source: str) -> int:
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            left_out |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
            left_out |= set(range(statement.lineno, (statement.end_lineno or 0) + 1))
    lines = enumerate((line.strip() for line in source.splitlines()), start=1)
    return sum(number not in left_out and bool(line) and not line.startswith("#") for number, line in lines)


@pytest.mark.parametrize("name", SITES)
def test_every_module_of_an_adapter_is_short(name: str) -> None:
    for path in modules(name):
        assert code_lines(path.read_text("utf-8")) < MOST_LINES, path.name


def test_what_counts() -> None:
    table = 'import re\n\nNAMES = {\n    "a": 1,\n}\n'
    function = 'def f():\n    """Doc."""\n    # why\n    return 1\n'
    assert code_lines(f'"""Doc."""\n{table}\n\n{function}') == 2
