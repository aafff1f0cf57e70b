"""The FastAPI application: pages, API and metrics behind one login."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi

from pricewatch.store.engine.database import engine
from pricewatch.web import problems, prometheus
from pricewatch.web.api import api_routers
from pricewatch.web.auth import Auth
from pricewatch.web.auth_middleware import AuthMiddleware
from pricewatch.web.configuration import Configuration
from pricewatch.web.export_response import ExportSlots
from pricewatch.web.headers import SecurityHeaders
from pricewatch.web.page_previews import Previews
from pricewatch.web.route_roles import check_role
from pricewatch.web.routes import page_routers

DESCRIPTION = (
    "Listings, their prices, and the crawls that collect them. Programs send a token: as a bearer token, or "
    "as the password of basic authentication. Its role decides what they may do: read, operate or admin."
)


def create_app(configuration: Configuration) -> FastAPI:
    app = FastAPI(
        title="pricewatch",
        version="0.9.0",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(check_role)],
    )
    app.state.configuration = configuration
    app.state.auth = Auth(configuration, engine())
    app.state.previews = Previews(configuration.previews)
    app.state.export_slots = ExportSlots()
    problems.install(app)
    for router in (*page_routers(), prometheus.router):
        app.include_router(router, include_in_schema=False)
    for router in api_routers():
        app.include_router(router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    app.add_middleware(AuthMiddleware)
    app.add_middleware(SecurityHeaders, configuration=configuration)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The schema with `Problem` in place of FastAPI's error models."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
        schemas = schema.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = problems.Problem.model_json_schema()
        schema["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A token, which begins with pw_"},
            "basic": {
                "type": "http",
                "scheme": "basic",
                "description": "A name and password, or a token as the password",
            },
        }
        schema["security"] = [{"bearer": []}, {"basic": []}, {}]
        app.openapi_schema = schema
    return app.openapi_schema
