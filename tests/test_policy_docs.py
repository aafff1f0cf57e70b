"""Policy: what the documentation names exists: files, tests, commands of make and sections of other pages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.source_files import tree

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
# A test in the table of security.md: `web/test_access.py` or `web/test_access.py::test_name`.
NAMED_TEST = re.compile(r"\b((?:[a-z_]+/)*test_[a-z0-9_]+\.py)(?:::(test_[a-z0-9_]+))?")
# A tutorial creates this file.
CREATED_BY_READERS = {"tests/adapters/test_mybooks.py"}
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MODULE = re.compile(r"python -m (tests(?:\.\w+)+)")
TARGET = re.compile(r"\bmake ([a-z]+)\b(?! sure)")


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)}


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page, as GitHub derives them from its headings."""
    headings = HEADING.findall(path.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_tests_exist(page: Path) -> None:
    for file, test in NAMED_TEST.findall(page.read_text()):
        if file in CREATED_BY_READERS:
            continue
        path = ROOT / "tests" / file.removeprefix("tests/")
        assert path.exists(), file
        assert not test or test in functions_of(path), f"{file}::{test}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path = page.parent / target if target else page
        assert path.exists(), target
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_commands_exist(page: Path) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = " ".join(re.findall(r"`[^`\n]+`|^ *make .+$", text, re.MULTILINE))
    assert set(TARGET.findall(code)) <= targets
    for module in MODULE.findall(text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
