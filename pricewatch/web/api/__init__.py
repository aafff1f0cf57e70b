"""The JSON API, one module per subject, described in /api/openapi.json. HTML pages are in `web.routes`."""

from __future__ import annotations

from fastapi import APIRouter

from pricewatch.web.api import (
    adapters,
    alerts,
    crawl,
    exports,
    listings,
    markets,
    people,
    price_drops,
    quarantine,
    runs,
    sources,
    strict_reviews,
    targets,
    tokens,
    watch,
)


def api_routers() -> list[APIRouter]:
    modules = (
        *(listings, price_drops, exports, markets, crawl, targets, runs, quarantine, strict_reviews),
        *(adapters, sources, alerts, watch, people, tokens),
    )
    return [module.router for module in modules]
