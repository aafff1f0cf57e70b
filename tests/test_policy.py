"""Policy tests: which package may import which, and constructs that are not allowed."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from tests.conftest import ROOT

PACKAGE = ROOT / "pricewatch"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
TEMPLATES = sorted(PACKAGE.glob("web/templates/**/*.html"))
# A package may import only the common modules and the packages that are listed for it.
COMMON = {"items", "queued_work", "vocabulary", "money", "clock", "errors"}
READERS = {"adapters", "generic_reader", "declared_shops"}
MAY_IMPORT = {
    "parsing": {"parsing"},
    "rules": {"rules", "parsing"},
    "generic_reader": {"generic_reader", "adapters", "parsing"},
    "declared_shops": READERS | {"parsing"},
    "adapters": READERS | {"parsing", "rules"},
    "bazaar": {"bazaar"},
    "store": {"store", "rules", "parsing", "adapters"},
    "pipelines": {"pipelines", "adapters", "rules", "store", "runs", "extensions"},
}
MUST_NOT_IMPORT = {
    "spiders": {"web", "commands", "console", "services", "scheduling", "pipelines"},
    "runs": {"web", "commands", "console", "services", "scheduling"},
    "extensions": {"web", "commands", "console", "services", "scheduling", "spiders"},
    "fetching": {"web", "commands", "console", "services", "scheduling", "pipelines", "spiders", *READERS},
    "middlewares": {"web", "commands", "console", "services", "scheduling", "pipelines", "spiders", *READERS},
    "services": {"web", "commands", "console", "spiders", "pipelines", "middlewares"},
}
# The audit of a simulation reads the tables independently of the store.
SQL_PACKAGES = {"store", "simulation"}
# Each backend of the rate limiter is one file, with its queries.
SQL_FILES = {PACKAGE / "fetching/rate_limit/postgres.py"}
SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.DOTALL
)
# The sample marketplace has its own clock, and a simulation moves the clock.
CLOCK_PACKAGES = {"clock.py", "bazaar", "simulation"}
CLOCKS = {"now", "utcnow", "today"}
PURE = ("rules", "parsing", "adapters", "generic_reader", "declared_shops")
# Not socket: it also parses addresses.
EFFECTS = {
    "sqlalchemy",
    "psycopg2",
    "requests",
    "urllib.request",
    "http.client",
    "subprocess",
    "time",
    "random",
}
# Large and needed by few users: an error message asks to install it.
OPTIONAL = {"pyarrow"}
TODO_COMMENT = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def package(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files_of(*packages: str) -> list[Path]:
    return [path for path in FILES if package(path) in packages]


def imported(path: Path) -> Iterator[str]:
    """The packages and top-level modules of pricewatch that a file imports, also inside functions."""
    for node in ast.walk(tree(path)):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            place = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*place, *([node.module] if node.module else [])])
            modules = (
                [f"{module}.{alias.name}" for alias in node.names] if module == "pricewatch" else [module]
            )
        yield from (module.split(".")[1] for module in modules if module.startswith("pricewatch."))


def test_packages_import_only_allowed_packages() -> None:
    for path in files_of(*MAY_IMPORT):
        assert set(imported(path)) <= COMMON | MAY_IMPORT[package(path)], name(path)


def test_packages_do_not_import_forbidden_packages() -> None:
    for path in files_of(*MUST_NOT_IMPORT):
        assert not set(imported(path)) & MUST_NOT_IMPORT[package(path)], name(path)


def test_common_modules_import_only_money_queued_work_and_vocabulary() -> None:
    allowed = {"money", "queued_work", "vocabulary"}
    for module in COMMON:
        assert set(imported(PACKAGE / f"{module}.py")) <= allowed - {module}, module


def test_sql_is_only_in_the_store() -> None:
    for path in FILES:
        if package(path) not in SQL_PACKAGES and path not in SQL_FILES:
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    assert not SQL.search(node.value), f"{name(path)}:{node.lineno}"


def test_services_build_no_queries() -> None:
    """They get connections and pass them on; queries are in the store."""
    for path in files_of("services"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy"):
                names = {alias.name for alias in node.names}
                assert names <= {"Connection", "Engine", "DBAPIError"}, name(path)


def test_only_the_clock_module_reads_the_time() -> None:
    kinds = {"datetime", "datetime.datetime", "date", "datetime.date"}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and node.attr in CLOCKS and ast.unparse(node.value) in kinds:
                assert package(path) in CLOCK_PACKAGES, f"{name(path)}:{node.lineno}"


def test_pure_packages_have_no_side_effects() -> None:
    for path in files_of(*PURE):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                assert not EFFECTS & {alias.name for alias in node.names}, name(path)
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in EFFECTS, name(path)


def test_templates_do_not_hide_missing_values() -> None:
    """Rows are typed, and a missing field is an error; `.get(` would hide it."""
    for path in TEMPLATES:
        assert ".get(" not in path.read_text(), name(path)


def test_exceptions_are_not_silently_ignored() -> None:
    """No bare `except`, and no empty handler of `Exception`."""
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler):
                where = f"{name(path)}:{node.lineno}"
                assert node.type is not None, f"{where} catches everything"
                everything = ast.unparse(node.type) in ("Exception", "BaseException")
                empty = all(isinstance(step, ast.Pass) for step in node.body)
                assert not (everything and empty), f"{where} catches everything and does nothing"


def required_by(file: str) -> set[str]:
    lines = (ROOT / file).read_text().splitlines()
    return {
        re.split(r"[<>=; ]", line)[0].lower().replace("_", "-")
        for line in lines
        if line and not line.startswith("#")
    }


def test_imported_distributions_are_required() -> None:
    """A dependency of a dependency may be dropped by a later version of it."""
    to_run = required_by("requirements.txt")
    to_test = to_run | required_by("tests/requirements.txt")
    distributions = packages_distributions()
    for path in [*FILES, *(ROOT / "tests").rglob("*.py")]:
        required = to_run | OPTIONAL if path in FILES else to_test
        for node in ast.walk(tree(path)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            for top in {module.split(".")[0] for module in modules} - {"pricewatch", "tests"}:
                if top not in sys.stdlib_module_names:
                    names = {found.lower().replace("_", "-") for found in distributions.get(top, [top])}
                    assert names & required, f"{name(path)} imports {top}"


def test_no_todo_comments() -> None:
    for path in FILES:
        assert not TODO_COMMENT.search(path.read_text()), name(path)


def test_every_package_has_a_docstring() -> None:
    for folder in {path.parent for path in FILES if "migrations" not in path.parts}:
        assert ast.get_docstring(tree(folder / "__init__.py")), f"{name(folder)} has no docstring"


@pytest.mark.parametrize("adapter_id", adapters.known())
def test_registered_adapter_is_complete(adapter_id: str) -> None:
    adapter = adapters.get(adapter_id)
    assert isinstance(adapter, Adapter)
    assert adapter.id == adapter_id
    assert re.fullmatch(r"\d+\.\d+\.\d+", adapter.version)
    assert adapter.domain
    assert adapter.has_overview() or adapter.has_product()


def test_every_adapter_module_is_registered() -> None:
    """An adapter with an id that is not registered would never run."""
    registered = {place.partition(":")[0] for place in adapters.REGISTERED.values()}
    with_id = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in files_of(*READERS)
        for node in tree(path).body
        if isinstance(node, ast.ClassDef)
        for step in node.body
        if ast.unparse(step).startswith(("id = '", "id: ClassVar[str] = '", "id: ClassVar = '"))
    }
    assert with_id == registered
