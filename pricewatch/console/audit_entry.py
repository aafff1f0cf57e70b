"""What a command changed, in the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pricewatch import clock
from pricewatch.console.terminal_io import user_name

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_IDS = 1_000


def record(
    connection: Connection, action: str, subject: str, *, by: str | None = None, **details: Any
) -> None:
    """Record a change of the user of this machine in its transaction; `by` is who they say decided it."""
    from pricewatch.store.people import audit_log

    audit_log.record_action(
        connection,
        person=user_name(),
        address=None,
        action=action,
        subject=subject,
        now=clock.now(),
        details={**details, **({"by": by} if by else {})},
    )


def record_targets(connection: Connection, action: str, ids: list[int], **details: Any) -> None:
    record(connection, f"targets: {action}", f"{len(ids)} targets", ids=ids[:MOST_IDS], **details)
