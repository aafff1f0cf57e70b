"""The source of a custom spider: a known one, or one that is created when the spider first runs.

A new source is not approved. Commit it before the run is refused, so that a person can approve it.
"""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import UserError
from pricewatch.parsing.url import (
    InvalidUrl,
    canonical_url,
    is_unregistered_host,
    registrable_domain,
    site_of,
)
from pricewatch.store.models import Source
from pricewatch.store.source_registry import source_rows
from pricewatch.store.source_registry.source_rows import SourceRecord

SOURCE_ID = r"[A-Za-z0-9_\[][A-Za-z0-9_.:\[\]-]{0,99}"


def source_for(
    connection: Connection, spider: str, source_id: str | None, site: str, now: datetime
) -> SourceRecord:
    """Return the source by its id, or that of the spider's site, or a new one.

    `site` is the first of the spider's `allowed_domains`, or its first start URL, or empty.
    """
    known = source_rows.load(connection)
    if source_id is not None and source_id in known.by_id:
        return known.by_id[source_id]
    url = _site_url(spider, site)
    if (found := known.of(url)) is not None:
        return found
    values = source_rows.new_source(url, _checked_id(spider, source_id or site_of(url)))
    new = insert(Source).values(created_at=now, **values)
    connection.execute(new.on_conflict_do_nothing())
    return source_rows.load(connection).by_id[values["id"]]


def _site_url(spider: str, site: str) -> str:
    """Return the site as a URL: https for a domain, http for a machine such as localhost:8000."""
    if not site:
        raise UserError(
            f"The spider {spider} does not define its site: set `allowed_domains`, `start_urls`, or "
            "`source`, the id of a known source."
        )
    try:
        url = site
        if "://" not in site:
            url = f"{'http' if is_unregistered_host(registrable_domain(site)) else 'https'}://{site}"
        canonical_url(url)
        site_of(url)
    except InvalidUrl:
        raise UserError(f"The site {site[:200]!r} of the spider {spider} is not a valid URL.") from None
    return url


def _checked_id(spider: str, source_id: str) -> str:
    if not re.fullmatch(SOURCE_ID, source_id):
        raise UserError(
            f"The source {source_id[:120]!r} of the spider {spider} is not a valid id: use at most 100 "
            "letters, digits, '.', '_', ':' and '-'. Example: shop.example."
        )
    return source_id
