"""Pages: templates of this package, in which everything is escaped unless it is our own."""

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
    made = Environment(
        loader=PackageLoader("pricewatch.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(template_filters.FILTERS)
    made.globals.update(asset=asset, charts=charts, with_query=with_query)
    return made


@cache
def static_file(name: str) -> bytes | None:
    """A file of the package, whether that is a folder or an egg; nothing outside of it can be named."""
    if name not in {entry.name for entry in (files("pricewatch.web") / "static").iterdir()}:
        return None
    return (files("pricewatch.web") / "static" / name).read_bytes()


@cache
def asset(name: str) -> str:
    """The address of a static file; it changes with the file, so that browsers may keep it for ever."""
    content = static_file(name)
    if content is None:
        raise FileNotFoundError(name)
    return f"/static/{hashlib.sha256(content).hexdigest()[:12]}/{name}"


def with_query(path: str, **values: Any) -> str:
    """A path with those of the values that say something."""
    given = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def render(
    request: Request,
    template: str,
    *,
    code: int = 200,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    passage = request.scope.get("state", {}).get("passage")
    given = {
        "path": request.url.path,
        "person": passage.person if passage and passage.status == 200 else "",
        "token": passage.token if passage else "",
        "is_open": request.app.state.configuration.is_open,
        "nav_counts": WaitingWork(),
        "flash": None,
        **values,
    }
    text = environment().get_template(template).render(given)
    return HTMLResponse(text, code, headers=headers)
