"""Proxies: the configured pools, and which proxies are blocked for which site."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from scrapy.utils.project import get_project_settings

from pricewatch.rules.proxy_config import STRATEGIES, parse_proxies
from pricewatch.store.views import proxy_list
from pricewatch.web.request_context import Context, PostedForm

router = APIRouter()


@router.get("/proxies")
def list_page(context: Context) -> Response:
    settings = get_project_settings()
    pools = {
        kind: [proxy.name for proxy in parse_proxies(settings.get(name) or ())]
        for kind, name in STRATEGIES.items()
    }
    with context.read() as connection:
        return context.render(
            connection,
            "proxies.html",
            pools=pools,
            settings=STRATEGIES,
            blocks=proxy_list.blocks(connection, most=500),
            sources=proxy_list.sources(connection),
        )


@router.post("/proxies/unblock")
def unblock(context: Context, form: PostedForm) -> Response:
    domain, proxy = form.text("domain"), form.text("proxy")
    with context.change("proxy unblocked", f"{proxy} for {domain}") as connection:
        proxy_list.unblock(connection, domain, proxy, context.now)
    return context.redirect("/proxies", f"{proxy} may be used for {domain} again.")
