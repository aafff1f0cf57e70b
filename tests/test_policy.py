"""Policy: which room may import which, how things are named, and how long and how often code is written."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.source_files import (
    FILES,
    PACKAGE,
    READERS,
    TEMPLATES,
    TEST_FILES,
    files_of,
    imported,
    name,
    room,
    tree,
)

# A room may import itself, the common modules, and what is listed here; nothing else of ours.
COMMON = {"items", "queued_work", "vocabulary", "money", "clock", "errors", "redaction"}
MAY_KNOW = {
    "parsing": {"parsing"},
    "rules": {"rules", "parsing"},
    "generic_reader": {"generic_reader", "adapters", "parsing"},
    "declared_shops": READERS | {"parsing"},
    "adapters": READERS | {"parsing", "rules"},
    "reading": {"reading", "adapters", "declared_shops", "parsing", "rules"},
    "bazaar": {"bazaar"},
    "store": {"store", "rules", "parsing", "adapters"},
    "pipelines": {"pipelines", "adapters", "rules", "store", "runs", "extensions"},
}
MAY_NOT_KNOW = {
    "spiders": {"web", "commands", "console", "services", "scheduling", "pipelines"},
    "runs": {"web", "commands", "console", "services", "scheduling"},
    "extensions": {"web", "commands", "console", "services", "scheduling", "spiders"},
    "middlewares": {"web", "commands", "console", "services", "scheduling", "pipelines", "spiders", *READERS},
    "fetching": {
        "web",
        "commands",
        "console",
        "services",
        "scheduling",
        "pipelines",
        "spiders",
        "middlewares",
    }
    | READERS,
    "services": {"web", "commands", "console", "spiders", "pipelines", "middlewares"},
}
# A component is named after its subject, and several components may serve one subject.
COMPONENTS = ("spiders", "commands", "pipelines", "middlewares", "extensions", "web/api", "web/routes")
# The sample marketplace has a skin for each site that has an adapter.
SITE_ROOMS = ("adapters", "bazaar/skins")
MAX_LINES = 300
MAX_FILES_PER_ROOM = 31
DUPLICATE_LINES = 10
# Private names of Scrapy and Twisted; each place says why there is no public way.
PRIVATE_PLACES = 2

# Modules and classes that were renamed. Neither the old paths nor the old names may come back.
OLD_MODULES = """
adapters.candidates adapters.data adapters.declaration adapters.declared adapters.generic adapters.markup
adapters.own_items adapters.page_facts adapters.page_tree adapters.price_choice adapters.reading
adapters.selected adapters.shop_files adapters.site adapters.site_page adapters.site_structured
adapters.stock_choice adapters.verdict closed_pipe commands.extract_cards commands.extract_expected
commands.extract_pages commands.parse_page commands.targets_options extensions.current_run
extensions.figures extensions.long_lived extensions.own_spider lookout middlewares.blocked
middlewares.book_clock middlewares.browser middlewares.browser_data middlewares.browser_gate
middlewares.browser_pages middlewares.browser_size middlewares.chromium middlewares.domain_queue
middlewares.downloader middlewares.failures middlewares.handler middlewares.limits middlewares.own_pages
middlewares.patience middlewares.policies middlewares.proxy_pool middlewares.punctual
middlewares.redis_turns middlewares.resolver middlewares.shared middlewares.store_thread
middlewares.turn_book middlewares.turns middlewares.wanted_status notify page_command parsing.agreement
parsing.availability parsing.blocked parsing.cards parsing.class_names parsing.currency parsing.gone
parsing.harmless parsing.jsonld parsing.marks parsing.meta parsing.microdata parsing.money_text
parsing.not_money parsing.numbers parsing.offers parsing.one_price parsing.price parsing.roles
parsing.shown_price parsing.state parsing.structured parsing.tiers parsing.tree parsing.typed_amount
parsing.visible rules.details rules.drift rules.figures rules.jump rules.limits rules.login rules.market
rules.moves rules.own_spiders rules.proxies rules.resolver rules.robots rules.schedule rules.sweep
rules.targets rules.verification rules.watch scheduling.keeper scheduling.plan scheduling.tick shell
simulation.audit simulation.chaos simulation.month simulation.place simulation.smoke simulation.stored
spiders.last_page spiders.start_page spiders.target_plan spiders.target_report store.access
store.adapter_list store.alert_list store.alerts store.audit store.batch store.browse store.collection
store.commits store.conditions store.database store.details store.dispatch store.distinct store.drift
store.eggs store.embedded store.feed_rows store.fetch_policies store.figures store.gauges store.history
store.incoming store.job_leases store.job_lists store.job_runs store.jobs store.listings store.looks
store.maintenance store.market_list store.market_sync store.markets store.messages store.models.base
store.models.listings store.models.operations store.models.people store.models.runs store.models.scheduling
store.models.sources store.models.targets store.moves store.new_markets store.nodes store.overdue
store.overview store.plain store.price_jump store.proxy_blocks store.proxy_list store.quarantine
store.rate_limits store.reports store.resolver store.review store.robots store.run_list store.runs
store.schema store.seeds store.source_list store.spider_sources store.sweeps store.target_import
store.target_leases store.target_looks store.target_queue store.target_sources store.targets store.upkeep
store.verification store.visible store.watch store.words store.writer web.access web.fields web.gate
web.metrics web.pages web.preview web.rows web.shown web.site web.visit
"""
OLD_CLASSES = """
Access Added BookClock BrowserPages Candidate Check Claim Commits Conductor DataAdapter EarlierLooks
FetchHandler Fields FiguresExtension Gate HeldWanted Keeper LimitsMiddleware ListingsWanted
LongLivedExtension Look LookResult MarkupAdapter Month NoTurn OwnPagesMiddleware Passage Patience
PatientConnection PatientCursor PatientDownloader Place Policies PostgresTurns PunctualProtocol Raced
Reading RedisTurns Report Row Rule Searched SelectedAdapter StoreThread Tally TargetLooks Tick Turn TurnBook
Turns Verdict Visit Waiting Wish
"""
FIGURES_OF_SPEECH = re.compile(
    r"patien|punctual|keeper|lookout|passage|raced|tally|upkeep|overdue|harmless|book_?clock|turn_?book",
    re.IGNORECASE,
)


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


def test_every_room_says_what_lives_there() -> None:
    for folder in {path.parent for path in FILES if "migrations" not in path.parts}:
        assert ast.get_docstring(tree(folder / "__init__.py")), f"{name(folder)} has no docstring"


def test_rooms_are_not_crowded() -> None:
    counts = Counter(path.parent for path in FILES if "migrations" not in path.parts)
    crowded = {name(folder): count for folder, count in counts.items() if count > MAX_FILES_PER_ROOM}
    assert crowded == {}


def test_old_modules_are_gone() -> None:
    modules = OLD_MODULES.split()
    for module in modules:
        path = PACKAGE / module.replace(".", "/")
        assert not path.with_suffix(".py").exists(), module
        assert not (path / "__init__.py").exists(), module
    names = "|".join(re.escape(module) for module in modules)
    mentioned = re.compile(rf"pricewatch\.({names})(?![\w.])")
    for path in [*FILES, *TEST_FILES, *ROOT.glob("*.*"), *ROOT.glob("docs/*.md")]:
        if path.is_file() and path != Path(__file__):
            text = path.read_text().replace("pricewatch/", "pricewatch.")
            assert not mentioned.search(text), f"{name(path)}: {mentioned.findall(text)}"


def definitions(path: Path) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_old_names_are_gone() -> None:
    old = set(OLD_CLASSES.split())
    for path in FILES:
        names = {node.name for node in definitions(path) if isinstance(node, ast.ClassDef)}
        assert not names & old, name(path)


def test_names_are_not_figures_of_speech() -> None:
    for path in FILES:
        assert not FIGURES_OF_SPEECH.search(path.stem), name(path)
        for node in definitions(path):
            assert not FIGURES_OF_SPEECH.search(node.name), f"{name(path)}:{node.lineno} {node.name}"


def test_module_names_have_one_meaning() -> None:
    """Components may share the name of their subject; every other module has a name of its own."""
    places = defaultdict(list)
    for path in FILES:
        if path.stem not in ("__init__", "base") and "migrations" not in path.parts:
            places[path.stem].append(str(path.parent.relative_to(PACKAGE)))
    clashes = {
        stem: rooms
        for stem, rooms in places.items()
        if len(rooms) > 1 and not set(rooms) <= set(COMPONENTS) and not set(rooms) <= set(SITE_ROOMS)
    }
    assert clashes == {}


def test_class_names_have_one_meaning() -> None:
    places = defaultdict(list)
    for path in FILES:
        for node in tree(path).body:
            # Every command of Scrapy is a class `Command`.
            if isinstance(node, ast.ClassDef) and node.name != "Command":
                places[node.name].append(name(path))
    assert {each: where for each, where in places.items() if len(where) > 1} == {}


def test_no_file_is_too_long() -> None:
    scripts_and_styles = [path for kind in ("*.js", "*.css") for path in PACKAGE.rglob(kind)]
    for path in [*FILES, *TEST_FILES, *TEMPLATES, *scripts_and_styles]:
        if "migrations" not in path.parts:
            assert len(path.read_text().splitlines()) <= MAX_LINES, name(path)


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a file that are compared: without blank lines, comments and imports."""
    skipped: set[int] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    numbered = enumerate(path.read_text().splitlines(), start=1)
    return [
        (number, line.strip())
        for number, line in numbered
        if number not in skipped and line.strip() and not line.strip().startswith("#")
    ]


def duplicates(files: list[Path]) -> list[str]:
    seen: dict[tuple[str, ...], tuple[Path, int]] = {}
    found = []
    for path in files:
        lines = code_lines(path)
        for start in range(len(lines) - DUPLICATE_LINES + 1):
            window = tuple(text for _, text in lines[start : start + DUPLICATE_LINES])
            first, line = seen.setdefault(window, (path, lines[start][0]))
            if (first, line) != (path, lines[start][0]):
                found.append(f"{name(first)}:{line} and {name(path)}:{lines[start][0]}")
    return found


def test_nothing_is_written_twice() -> None:
    assert duplicates([*FILES, *TEST_FILES]) == []


def test_private_names_of_scrapy_are_used_in_two_places() -> None:
    """ruff marks every use of a private name."""
    places = {name(path) for path in FILES if "noqa: SLF001" in path.read_text()}
    assert len(places) <= PRIVATE_PLACES
