"""The roles that scrapyd's services and pages need, and the audit log of what their callers change."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import Connection
from twisted.web.server import Request

from pricewatch import clock
from pricewatch.services.people_admin import AdminAction
from pricewatch.vocabulary import AccessRole
from pricewatch.web.server.checked_request import CheckedRequest

# By the first part of the path. A service that is not listed here deploys or deletes code for all we know.
SERVICE_ROLES = {
    b"listprojects.json": AccessRole.READ,
    b"listversions.json": AccessRole.READ,
    b"listspiders.json": AccessRole.READ,
    b"listjobs.json": AccessRole.READ,
    b"daemonstatus.json": AccessRole.READ,
    b"status.json": AccessRole.READ,
    b"jobs": AccessRole.READ,
    b"logs": AccessRole.READ,
    b"items": AccessRole.READ,
    b"scrapyd": AccessRole.READ,
    b"schedule.json": AccessRole.OPERATE,
    b"cancel.json": AccessRole.OPERATE,
    b"addversion.json": AccessRole.ADMIN,
    b"delversion.json": AccessRole.ADMIN,
    b"delproject.json": AccessRole.ADMIN,
}


def needed_role(path: bytes) -> AccessRole:
    return SERVICE_ROLES.get(path, AccessRole.ADMIN)


def record_change(
    connection: Connection, request: Request, action: str, subject: str, **details: Any
) -> None:
    """Record what a service changed, in the transaction of the change."""
    checked = cast("CheckedRequest", request)
    actor = AdminAction(checked.auth_result.person, clock.now(), checked.address)
    actor.record(connection, action, subject, **details)
