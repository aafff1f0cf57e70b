"""Sources: which source a URL belongs to, and whether a person has approved fetching from it.

There is one source per registrable domain, created on first use. On IP addresses and names like localhost,
every port is a separate source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch import adapters
from pricewatch.errors import RunRefused, UserError
from pricewatch.parsing.url import is_unregistered_host, registrable_domain, site_of
from pricewatch.store.models import Source

_START_TARGETS = text("""
UPDATE targets SET next_due_at = :now, updated_at = :now WHERE source_id = :source_id AND next_due_at IS NULL
""")
_STOP_TARGETS = text("""
UPDATE targets SET next_due_at = NULL, updated_at = :now,
                   queue_state = CASE WHEN queue_state = 'pending' THEN 'idle' ELSE queue_state END,
                   queued_at = CASE WHEN queue_state = 'pending' THEN NULL ELSE queued_at END
WHERE source_id = :source_id AND (next_due_at IS NOT NULL OR queue_state = 'pending')
""")


@dataclass(frozen=True, slots=True)
class SourceRecord:
    id: str
    domain: str
    base_url: str
    adapter_id: str
    tos_approved_by: str | None

    @property
    def is_approved(self) -> bool:
        return self.tos_approved_by is not None


class Sources:
    """All sources, to find the source of a URL by its host and port, or else by its domain."""

    def __init__(self, records: Iterable[SourceRecord]):
        self.by_id = {record.id: record for record in records}
        self._by_host: dict[tuple[str, int], SourceRecord] = {}
        self._by_domain: dict[str, SourceRecord] = {}
        for record in self.by_id.values():
            self._by_host.setdefault(_host_and_port(record.base_url), record)
            if not is_unregistered_host(record.domain):
                self._by_domain.setdefault(record.domain, record)

    def of(self, url: str) -> SourceRecord | None:
        return self._by_host.get(_host_and_port(url)) or self._by_domain.get(registrable_domain(url))

    def base_urls(self) -> list[str]:
        """Return the base URLs. Private addresses among them are allowed, because an operator set them."""
        return [record.base_url for record in self.by_id.values()]


def load(connection: Connection) -> Sources:
    rows = connection.execute(
        select(Source.id, Source.domain, Source.base_url, Source.adapter_id, Source.tos_approved_by).order_by(
            Source.id
        )
    )
    return Sources(SourceRecord(*row) for row in rows)


def created_at(connection: Connection, source_id: str) -> datetime:
    return connection.execute(select(Source.created_at).where(Source.id == source_id)).scalar_one()


def create_missing(connection: Connection, urls: Iterable[str]) -> Sources:
    """Create a source for every domain that has none: not visible, not trusted and not approved."""
    known = load(connection)
    new: dict[str, dict[str, str]] = {}
    for url in urls:
        site = site_of(url)
        if site not in new and known.of(url) is None:
            new[site] = new_source(url, site)
    if not new:
        return known
    connection.execute(insert(Source).values(list(new.values())).on_conflict_do_nothing())
    return load(connection)


def new_source(url: str, source_id: str) -> dict[str, str]:
    """Return the columns of a new source for this URL."""
    domain, parts = registrable_domain(url), urlsplit(url)
    return {
        "id": source_id,
        "name": source_id,
        "domain": domain,
        "base_url": f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}",
        "adapter_id": adapters.for_new_source(domain),
    }


def find(connection: Connection, name: str) -> SourceRecord:
    """Return a source by its id or its domain; raise `UserError` if there is none."""
    sources = load(connection)
    found = sources.by_id.get(name)
    if found is None:
        try:
            found = sources.of(name if "://" in name else f"https://{name}")
        except ValueError:
            # The name is not a URL either.
            found = None
    if found is None:
        known = ", ".join(sorted(sources.by_id)[:20]) or "none yet"
        raise UserError(f"There is no source {name!r}. Known sources: {known}.")
    return found


def not_approved_message(source_id: str) -> str:
    """Return the message for a source that is not approved."""
    return (
        f"Nobody has approved fetching from {source_id} yet: read its terms, then "
        f"`scrapy sources approve {source_id} --by NAME`."
    )


def check_approved(source: SourceRecord) -> None:
    if not source.is_approved:
        raise RunRefused(not_approved_message(source.id))


def approve(connection: Connection, source_id: str, by: str, now: datetime) -> int:
    """Approve a source whose terms a person has read; return how many targets become due."""
    connection.execute(
        update(Source).where(Source.id == source_id).values(tos_approved_by=by, tos_reviewed_at=now)
    )
    return connection.execute(_START_TARGETS, {"source_id": source_id, "now": now}).rowcount


def withdraw_approval(connection: Connection, source_id: str, now: datetime) -> int:
    """Withdraw the approval of a source; return how many targets are no longer scheduled."""
    connection.execute(
        update(Source).where(Source.id == source_id).values(tos_approved_by=None, tos_reviewed_at=now)
    )
    return connection.execute(_STOP_TARGETS, {"source_id": source_id, "now": now}).rowcount


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    port = parts.port or 443
    # The two standard ports are one site.
    return (parts.hostname or "").rstrip("."), 443 if port == 80 else port
