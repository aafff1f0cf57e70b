"""The role that each page, form and endpoint needs. A route that is not listed here is always refused."""

from __future__ import annotations

from fastapi import HTTPException, Request
from starlette.routing import Route

from pricewatch.vocabulary import AccessRole
from pricewatch.web.auth import AuthResult, missing_role

_WITHOUT_LOGIN = """
GET /static/{fingerprint}/{name}
GET /favicon.ico
GET /login
POST /login
"""
_READ = """
GET /
GET /account
POST /account/password
POST /account/sessions/end-others
POST /account/sessions/{session_id}/end
GET /adapters
GET /adapters/{adapter_id:path}
GET /admin/scraper
GET /admin/scraper/{spider:path}
GET /alerts
GET /fragments/running
GET /fragments/runs/{run_id}
GET /listings
GET /listings/{listing_id}
POST /logout
GET /markets
GET /metrics
GET /price-drops
GET /products
GET /products/{product_id}
GET /proxies
GET /quarantine
GET /quarantine/{quarantine_id}
GET /runbooks
GET /runs/{run_id}
GET /targets
GET /watch
GET /api/adapters
GET /api/admin/markets
GET /api/admin/markets/{market_id}
GET /api/alerts
GET /api/crawl/results/{market_id}
GET /api/export/listings.{form}
GET /api/export/listings/{listing_id}/history.{form}
GET /api/listings
GET /api/listings/{listing_id}
GET /api/listings/{listing_id}/history
GET /api/openapi.json
GET /api/price-drops
GET /api/quarantine
GET /api/quarantine/{quarantine_id}
GET /api/runs
GET /api/runs/{run_id}
GET /api/runs/{run_id}/pages
GET /api/sources
GET /api/targets
GET /api/targets/{target_id}
GET /api/strict-reviews
GET /api/watch-rules
"""
_OPERATE = """
POST /alerts/{alert_id}/resolve
GET /markets/add
POST /markets/add
POST /markets/{market_id}
POST /markets/{market_id}/believe
POST /markets/{market_id}/scrape
POST /quarantine
POST /quarantine/{quarantine_id}/choose
POST /targets
GET /targets/add
POST /targets/add
GET /targets/import
POST /targets/import
POST /targets/preview
POST /quarantine/strict-review
POST /watch
GET /watch/{rule_id}
POST /watch/{rule_id}
POST /watch/{rule_id}/pause
POST /watch/{rule_id}/remove
POST /watch/{rule_id}/resume
POST /api/admin/markets
PUT /api/admin/markets/{market_id}
POST /api/admin/markets/{market_id}/believe
POST /api/admin/markets/{market_id}/scrape
POST /api/alerts/{alert_id}/resolve
POST /api/crawl/execute
POST /api/quarantine/{quarantine_id}/accept
POST /api/quarantine/{quarantine_id}/choose
POST /api/quarantine/{quarantine_id}/reject
POST /api/quarantine/{quarantine_id}/replay
POST /api/targets
DELETE /api/targets/{target_id}
POST /api/targets/{target_id}/pause
POST /api/targets/{target_id}/render
POST /api/targets/{target_id}/resume
PUT /api/strict-reviews
POST /api/watch-rules
DELETE /api/watch-rules/{rule_id}
PUT /api/watch-rules/{rule_id}
"""
_ADMIN = """
POST /adapters/{adapter_id:path}/disable
POST /adapters/{adapter_id:path}/enable
GET /audit
GET /people
POST /people
POST /people/{name}/enabled
POST /people/{name}/password
POST /people/{name}/remove
POST /people/{name}/role
POST /proxies/unblock
POST /sources/{source_id}/approve
POST /sources/{source_id}/forget-price-place
POST /sources/{source_id}/render
POST /sources/{source_id}/visibility
GET /tokens
POST /tokens
POST /tokens/{token_id}/revoke
POST /api/adapters/{adapter_id:path}/disable
POST /api/adapters/{adapter_id:path}/enable
GET /api/audit
GET /api/people
POST /api/people
PUT /api/people/{name}
DELETE /api/people/{name}
POST /api/people/{name}/password
DELETE /api/sources/{source_id}/price-place
POST /api/sources/{source_id}/render
GET /api/tokens
POST /api/tokens
DELETE /api/tokens/{token_id}
"""
# None: no login is needed.
ROUTE_ROLES: dict[str, AccessRole | None] = {
    route: role
    for routes, role in (
        (_WITHOUT_LOGIN, None),
        (_READ, AccessRole.READ),
        (_OPERATE, AccessRole.OPERATE),
        (_ADMIN, AccessRole.ADMIN),
    )
    for route in routes.strip().splitlines()
}


async def check_role(request: Request) -> None:
    """Refuse a request whose account does not have the role of the route; a dependency of every route."""
    result: AuthResult = request.scope["state"]["auth_result"]
    route: Route = request.scope["route"]
    name = f"{request.method} {route.path}"
    if name not in ROUTE_ROLES:
        raise HTTPException(403, "No role is declared for this address.")
    needed = ROUTE_ROLES[name]
    if needed is not None and not result.may(needed):
        raise HTTPException(403, missing_role(result, needed))
