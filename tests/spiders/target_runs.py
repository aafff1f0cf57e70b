"""Targets on the sample marketplace, and runs of the targets spider, for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pricewatch.parsing.url import canonical_url
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget


def watch(world: Any, listings: list[Any], **fields: Any) -> list[int]:
    """Add these listings of the marketplace as targets; return their ids in order."""
    urls = [world.bazaar.url + true.url for true in listings]
    new = [NewTarget(url, canonical_url(url), **fields) for url in urls]
    added = world.database.call(target_rows.add, new, world.bazaar.now())
    return [added.ids[place] for place in range(len(new))]


def fetch(world: Any, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
    """Run the targets spider once, at the marketplace's time."""
    world.advance(seconds=30)
    return world.crawler(
        "targets",
        database_url=world.database.url,
        ahead=world.bazaar.now() - datetime.now(UTC),
        settings=settings,
        **arguments,
    )


def target(world: Any, target_id: int) -> Any:
    return world.database.row("SELECT * FROM targets WHERE id = :id", id=target_id)


def readable(world: Any, count: int) -> list[Any]:
    """Return some listings that are on sale, with pages that need no browser."""
    found: list[Any] = world.on_sale()[:count]
    return found


def attempts(world: Any, listing_id: int) -> list[Any]:
    return list(
        world.database.rows(
            "SELECT * FROM verification_attempts WHERE listing_id = :id ORDER BY id", id=listing_id
        )
    )


def known(world: Any, count: int = 1) -> tuple[list[Any], list[int]]:
    """Return listings and targets that were read once."""
    trues = readable(world, count)
    ids = watch(world, trues)
    fetch(world)
    return trues, ids
