"""`scrapy newadapter`, run in a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import Namespace

import pytest

from pricewatch.commands.newadapter import Command, create_adapter
from pricewatch.errors import UserError
from tests.conftest import ROOT


@pytest.fixture
def project(tmp_path):
    """The parts of the project that an adapter and its test need."""
    ignored = shutil.ignore_patterns("__pycache__", "var", ".*")
    shutil.copytree(ROOT / "pricewatch", tmp_path / "pricewatch", ignore=ignored)
    for name in ("scrapy.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tests" / "adapters").mkdir(parents=True)
    for name in (
        "__init__.py",
        "forked.py",
        "processes.py",
        "databases.py",
        "conftest.py",
        "adapters/__init__.py",
        "adapters/site_fixtures.py",
    ):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    return tmp_path


@pytest.fixture
def run(project):
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(project)}
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True
        )

    return run


@pytest.mark.slow
def test_created_adapter_works_unchanged(project, run):
    created = run("scrapy", "newadapter", "tea_shop", "www.teashop.example")
    assert (created.returncode, created.stderr) == (0, "")
    assert "tests/adapters/test_tea_shop.py" in created.stdout
    *_, overview, product, market = created.stdout.splitlines()
    assert overview.strip().startswith(
        "scrapy extract --adapter tea_shop --overview --url https://www.teashop"
    )
    assert product.strip().startswith("scrapy extract --adapter tea_shop --url https://www.teashop.example/P")
    assert market.strip() == "scrapy markets add tea_shop https://www.teashop.example/OVERVIEW"
    registry = (project / "pricewatch" / "adapters" / "__init__.py").read_text()
    assert '    "tea_shop": "pricewatch.adapters.tea_shop:TeaShopAdapter",\n' in registry
    tested = run("pytest", "-q", "-p", "no:cacheprovider", "tests/adapters/test_tea_shop.py")
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr
    url, page = "https://www.teashop.example/kettles", "tests/adapters/fixtures/tea_shop/overview/page.html"
    cards = run("scrapy", "extract", "--adapter", "tea_shop", "--overview", "--json", "--url", url, page)
    assert cards.stdout.count("\n") == 2
    linted = run("ruff", "check", "--no-cache", "pricewatch/adapters", "tests/adapters")
    assert linted.returncode == 0, linted.stdout
    with pytest.raises(UserError, match="already"):
        create_adapter(project, "tea_shop", "teashop.example")


@pytest.mark.slow
@pytest.mark.proof
def test_created_declared_shop_works_unchanged(project, run):
    created = create_adapter(project, "tea_shop", "www.teashop.example", declarative=True)
    assert str(created[-1]) == "pricewatch/declared_shops/shops/tea_shop.toml"
    assert not (project / "pricewatch" / "adapters" / "tea_shop.py").exists()
    tested = run("pytest", "-q", "-p", "no:cacheprovider", "tests/adapters/test_tea_shop.py")
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr
    for declarative in (False, True):
        with pytest.raises(UserError, match="already"):
            create_adapter(project, "tea_shop", "teashop.example", declarative=declarative)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give a name and a domain"),
        (["teashop"], "Give a name and a domain"),
        (["Tea-Shop", "teashop.example"], "not a valid name"),
        (["../tea", "teashop.example"], "not a valid name"),
        (["class", "teashop.example"], "not a valid name"),
        (["teashop", "nowhere"], "not a domain"),
        (["teashop", "https://teashop.example/x"], "not a domain"),
        (["teashop", 'tea"shop.example'], "not a domain"),
        (["generic", "teashop.example"], "already"),
        (["base", "teashop.example"], "already"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(project, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(project)
    before = sorted(path for path in project.rglob("*") if "__pycache__" not in path.parts)
    command = Command()
    command.run(arguments, Namespace(declarative="--declarative" in arguments))
    assert command.exitcode == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err
    assert sorted(path for path in project.rglob("*") if "__pycache__" not in path.parts) == before
