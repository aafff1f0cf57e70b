"""The HTML pages, one module per subject: query the store, render a template. JSON is in `web.api`."""

from __future__ import annotations

from fastapi import APIRouter

from pricewatch.web.routes import (
    account,
    adapters,
    alerts,
    audit,
    listings,
    login,
    markets,
    overview,
    people,
    price_drops,
    products,
    proxies,
    quarantine,
    runs,
    sources,
    targets,
    targets_add,
    tokens,
    watch,
)


def page_routers() -> list[APIRouter]:
    modules = (
        *(
            login,
            overview,
            runs,
            listings,
            price_drops,
            products,
            markets,
            targets_add,
            targets,
            adapters,
            sources,
        ),
        *(quarantine, proxies, alerts, watch, audit, people, tokens, account),
    )
    return [module.router for module in modules]
