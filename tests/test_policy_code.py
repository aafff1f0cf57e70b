"""Policy: what code may do in which room."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions

import pytest

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from tests.conftest import ROOT
from tests.source_files import FILES, PACKAGE, READERS, TEMPLATES, TEST_FILES, files_of, name, room, tree

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
# What reads a page: methods of adapters and responses, and parsers.
PAGE_METHODS = {"extract", "read_overview", "presence", "explain", "css", "xpath", "jmespath"}
PAGE_PARSERS = {"lxml", "parsel", "extruct", "sanitized_page", "parse_html", "run_task", "run_within"}
# Large, and needed by few: asked for when it is used.
ASKED_FOR = {"pyarrow"}
FOR_LATER = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")


def test_only_the_store_contains_sql() -> None:
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


def test_only_the_clock_module_reads_the_time() -> None:
    kinds = {"datetime", "datetime.datetime", "date", "datetime.date"}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and node.attr in CLOCKS and ast.unparse(node.value) in kinds:
                assert room(path) in CLOCK_ROOMS, f"{name(path)}:{node.lineno}"


def test_rules_and_readers_do_no_io() -> None:
    for path in files_of(*PURE):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                assert not EFFECTS & {alias.name for alias in node.names}, name(path)
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in EFFECTS, name(path)


def test_the_daemon_reads_no_pages() -> None:
    """Pages of sites are read in reader processes, whatever a web page, a service or the scheduler needs."""
    for path in files_of("web", "services", "scheduling"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                words = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not PAGE_PARSERS & {word.split(".")[0] for word in words}, name(path)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in PAGE_METHODS, f"{name(path)}:{node.lineno}"


def test_templates_never_hide_missing_fields() -> None:
    """A row is typed, and what it does not have is an error; `.get(` would show nothing in its place."""
    for path in TEMPLATES:
        assert ".get(" not in path.read_text(), name(path)


def test_no_exception_is_silently_ignored() -> None:
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


def test_every_imported_package_is_in_the_requirements() -> None:
    """What comes along with something else today may not do so tomorrow."""
    to_run = required_by("requirements.txt")
    to_test = to_run | required_by("tests/requirements.txt")
    given_by = packages_distributions()
    for path in [*FILES, *TEST_FILES]:
        required = to_run | ASKED_FOR if path in FILES else to_test
        for node in ast.walk(tree(path)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            for top in {module.split(".")[0] for module in modules} - {"pricewatch", "tests"}:
                if top not in sys.stdlib_module_names:
                    givers = {giver.lower().replace("_", "-") for giver in given_by.get(top, [top])}
                    assert givers & required, f"{name(path)} imports {top}"


def test_no_todo_comments() -> None:
    for path in FILES:
        assert not FOR_LATER.search(path.read_text()), name(path)


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
