"""The rules of the house, as tests: which room may know which, and what may not be written at all."""

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
# A room may import itself, the common modules, and what is listed here; nothing else of ours.
COMMON = {"items", "queued_work", "vocabulary", "money", "clock", "errors"}
READERS = {"adapters", "generic_reader", "declared_shops"}
MAY_KNOW = {
    "parsing": {"parsing"},
    "rules": {"rules", "parsing"},
    "generic_reader": {"generic_reader", "adapters", "parsing"},
    "declared_shops": READERS | {"parsing"},
    "adapters": READERS | {"parsing", "rules"},
    "bazaar": {"bazaar"},
    "store": {"store", "rules", "parsing", "adapters"},
    "pipelines": {"pipelines", "adapters", "rules", "store", "runs", "extensions"},
}
MAY_NOT_KNOW = {
    "spiders": {"web", "commands", "console", "services", "scheduling", "pipelines"},
    "runs": {"web", "commands", "console", "services", "scheduling"},
    "extensions": {"web", "commands", "console", "services", "scheduling", "spiders"},
    "fetching": {"web", "commands", "console", "services", "scheduling", "pipelines", "spiders", *READERS},
    "middlewares": {"web", "commands", "console", "services", "scheduling", "pipelines", "spiders", *READERS},
    "services": {"web", "commands", "console", "spiders", "pipelines", "middlewares"},
}
# The audit of a simulation looks at the tables as a stranger would.
SQL_ROOMS = {"store", "simulation"}
# Each backend of the rate limiter is one file with all that it asks of its server.
SQL_FILES = {PACKAGE / "fetching/rate_limit/postgres.py"}
SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.DOTALL
)
# The sample marketplace has a clock of its own, and a simulation sets ours.
CLOCK_ROOMS = {"clock.py", "bazaar", "simulation"}
CLOCKS = {"now", "utcnow", "today"}
PURE = ("rules", "parsing", "adapters", "generic_reader", "declared_shops")
# Not socket: it also spells addresses.
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
# Large, and needed by few: asked for when it is used.
ASKED_FOR = {"pyarrow"}
FOR_LATER = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files_of(*rooms: str) -> list[Path]:
    return [path for path in FILES if room(path) in rooms]


def imported(path: Path) -> Iterator[str]:
    """The rooms and modules of ours that a file imports, wherever in it."""
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


def test_a_room_knows_only_what_it_may() -> None:
    for path in files_of(*MAY_KNOW):
        assert set(imported(path)) <= COMMON | MAY_KNOW[room(path)], name(path)


def test_dependencies_point_one_way() -> None:
    for path in files_of(*MAY_NOT_KNOW):
        assert not set(imported(path)) & MAY_NOT_KNOW[room(path)], name(path)


def test_common_modules_import_only_money_queued_work_and_vocabulary() -> None:
    allowed = {"money", "queued_work", "vocabulary"}
    for module in COMMON:
        assert set(imported(PACKAGE / f"{module}.py")) <= allowed - {module}, module


def test_sql_is_the_stores() -> None:
    for path in FILES:
        if room(path) not in SQL_ROOMS and path not in SQL_FILES:
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


def test_one_module_knows_what_time_it_is() -> None:
    kinds = {"datetime", "datetime.datetime", "date", "datetime.date"}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and node.attr in CLOCKS and ast.unparse(node.value) in kinds:
                assert room(path) in CLOCK_ROOMS, f"{name(path)}:{node.lineno}"


def test_decisions_have_no_effects() -> None:
    for path in files_of(*PURE):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                assert not EFFECTS & {alias.name for alias in node.names}, name(path)
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in EFFECTS, name(path)


def test_templates_name_what_is_there() -> None:
    """A row is typed, and what it does not have is an error; `.get(` would show nothing in its place."""
    for path in TEMPLATES:
        assert ".get(" not in path.read_text(), name(path)


def test_nothing_is_caught_in_silence() -> None:
    """No bare `except`, and no handler of everything that does nothing."""
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


def test_whatever_is_imported_is_required() -> None:
    """What comes along with something else today may not do so tomorrow."""
    to_run = required_by("requirements.txt")
    to_test = to_run | required_by("tests/requirements.txt")
    given_by = packages_distributions()
    for path in [*FILES, *(ROOT / "tests").rglob("*.py")]:
        required = to_run | ASKED_FOR if path in FILES else to_test
        for node in ast.walk(tree(path)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            for top in {module.split(".")[0] for module in modules} - {"pricewatch", "tests"}:
                if top not in sys.stdlib_module_names:
                    givers = {giver.lower().replace("_", "-") for giver in given_by.get(top, [top])}
                    assert givers & required, f"{name(path)} imports {top}"


def test_nothing_is_left_for_later() -> None:
    for path in FILES:
        assert not FOR_LATER.search(path.read_text()), name(path)


def test_every_room_says_what_lives_there() -> None:
    for folder in {path.parent for path in FILES if "migrations" not in path.parts}:
        assert ast.get_docstring(tree(folder / "__init__.py")), f"{name(folder)} has no docstring"


@pytest.mark.parametrize("adapter_id", adapters.known())
def test_every_adapter_can_be_used(adapter_id: str) -> None:
    adapter = adapters.get(adapter_id)
    assert isinstance(adapter, Adapter)
    assert adapter.id == adapter_id
    assert re.fullmatch(r"\d+\.\d+\.\d+", adapter.version)
    assert adapter.domain
    assert adapter.has_overview() or adapter.has_product()


def test_every_adapter_module_is_registered() -> None:
    """One that has an id of its own and is not listed would never run."""
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
