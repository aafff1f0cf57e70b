"""Jinja templates of this package, with autoescaping, and static files."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from pricewatch.store.views.dashboard import WaitingWork
from pricewatch.web import charts, template_filters

MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    jinja = Environment(
        loader=PackageLoader("pricewatch.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters.update(template_filters.FILTERS)
    jinja.globals.update(asset=asset, charts=charts, with_query=with_query)
    return jinja


@cache
def static_file(name: str) -> bytes | None:
    """The content of a static file, in a directory or an egg; None for any other name or path."""
    if name not in {entry.name for entry in (files("pricewatch.web") / "static").iterdir()}:
        return None
    return (files("pricewatch.web") / "static" / name).read_bytes()


@cache
def asset(name: str) -> str:
    """The address of a static file, with a hash of its content, so that browsers can cache it forever."""
    content = static_file(name)
    if content is None:
        raise FileNotFoundError(name)
    return f"/static/{hashlib.sha256(content).hexdigest()[:12]}/{name}"


def with_query(path: str, **values: Any) -> str:
    """A path with a query of the values that are not empty."""
    query = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(query)}" if query else path


def render(
    request: Request,
    template: str,
    *,
    code: int = 200,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    result = request.scope.get("state", {}).get("auth_result")
    variables = {
        "path": request.url.path,
        "person": result.person if result and result.status == 200 else "",
        "token": result.token if result else "",
        "may": result.may if result else lambda _: False,
        "is_open": request.app.state.configuration.is_open,
        "nav_counts": WaitingWork(),
        "flash": None,
        **values,
    }
    text = environment().get_template(template).render(variables)
    return HTMLResponse(text, code, headers=headers)
