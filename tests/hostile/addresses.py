"""Every address of a daemon, from the application and from scrapyd.conf, so that new ones are tested too."""

from __future__ import annotations

import re
from configparser import ConfigParser
from functools import cache
from typing import Any

from fastapi.routing import APIRoute
from scrapy.utils.misc import load_object

from pricewatch.web import prometheus
from pricewatch.web.api import api_routers
from pricewatch.web.routes import page_routers
from tests.conftest import ROOT
from tests.hostile.calls import as_path, as_query

# Valid values, so that a request gets far enough for the hostile ones to matter.
VALID = {
    **dict.fromkeys(("listing_id", "run_id", "quarantine_id", "alert_id", "rule_id", "target_id"), "1"),
    **dict.fromkeys(("product_id", "priority", "limit", "threshold", "job", "version"), "1"),
    "market_id": "bazaar-bikes",
    "source_id": "bazaar",
    "adapter_id": "generic",
    "project": "test",
    "spider": "sweep",
    "kind": "sweep",
    "form": "json",
    "name": "style.css",
    "url": "https://10.0.0.1/x",
    "id": "new-one",
    "schedule": "0 6 * * *",
}
# Pages of scrapyd beside its services.
CONSOLE = ("/jobs", "/scrapyd/", "/scrapyd/jobs", "/logs/", "/logs/test", "/logs/nothing", "/scrapyd/nothing")


def filled_path(path: str, values: dict[str, Any], query: list[str], twice: bool) -> str:
    """The path with its parameters and query filled in; `twice` repeats the query."""
    parameter = re.compile(r"\{(\w+)(?::path)?\}")
    filled = parameter.sub(lambda name: as_path(values.get(name[1], VALID.get(name[1], "x"))), path)
    pairs = [(name, values[name]) for name in query if name in values] * (2 if twice else 1)
    return f"{filled}?{as_query(pairs)}" if pairs else filled


def routes(method: str) -> list[APIRoute]:
    found = [route for router in page_routers() for route in router.routes if isinstance(route, APIRoute)]
    return [route for route in found if method in (route.methods or ())]


@cache
def service_methods() -> dict[str, str]:
    """The method of each of scrapyd's services, by its path."""
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    return {
        f"/{service}": "POST" if hasattr(load_object(implementation), "render_POST") else "GET"
        for service, implementation in configuration["services"].items()
    }


def addresses(*, changing: bool) -> list[tuple[str, str]]:
    """The method and path of every page, endpoint and service; those that change something, or the others."""
    routers = (*page_routers(), *api_routers(), prometheus.router)
    found = [
        (method, filled_path(route.path, {}, [], False))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]
    found += [(method, path) for path, method in service_methods().items()]
    found += [("GET", path) for path in (*CONSOLE, "/nothing", "/api/openapi.json")]
    return [(method, path) for method, path in found if (method != "GET") == changing]
