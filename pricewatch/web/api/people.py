"""People who may log in, and the audit log of what they changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, StringConstraints

from pricewatch.services import people_admin
from pricewatch.services.people_admin import UnknownPerson
from pricewatch.store.engine.database import engine
from pricewatch.store.people import audit_log, person_rows, token_rows
from pricewatch.vocabulary import AccessRole
from pricewatch.web.api.common import ChangeContext, Limit, Name, Page, ResponseModel, ShortText, page_of
from pricewatch.web.form_fields import Before
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api", tags=["people"], responses=responses(404))
Password = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class PersonResponse(ResponseModel):
    name: str
    role: AccessRole
    enabled: bool
    sessions: int
    created_at: datetime
    created_by: str
    password_changed_at: datetime
    last_login_at: datetime | None


class NewPerson(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: ShortText
    role: AccessRole
    password: Password


class PersonChange(BaseModel):
    """Fields that are left out stay unchanged. The sessions of the person end."""

    model_config = ConfigDict(extra="forbid")

    role: AccessRole | None = None
    enabled: bool | None = None


class NewPassword(BaseModel):
    model_config = ConfigDict(extra="forbid")

    password: Password


class RemovedPerson(BaseModel):
    name: str
    # The tokens that the person has made, which stay valid.
    tokens: list[str]


class AuditEntry(ResponseModel):
    id: int
    at: datetime
    person: str
    address: str | None
    action: str
    subject: str
    details: dict[str, Any]


@router.get("/people", response_model=list[PersonResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return person_rows.find_people(connection)


@router.post("/people", response_model=PersonResponse, status_code=201)
def add(context: ChangeContext, body: NewPerson) -> Any:
    reserved = context.request.app.state.configuration.username
    with engine().begin() as connection:
        name = people_admin.add(
            connection,
            context.actor,
            name=body.name,
            role=body.role,
            password=body.password,
            reserved=reserved,
        )
        return _one(connection, name)


@router.put("/people/{name}", response_model=PersonResponse)
def change(context: ChangeContext, name: Name, body: PersonChange) -> Any:
    with engine().begin() as connection:
        person = _known(connection, name)
        if body.role is not None:
            people_admin.set_role(connection, context.actor, person, body.role)
        if body.enabled is not None:
            people_admin.set_enabled(connection, context.actor, person, body.enabled)
        return _one(connection, person)


@router.post("/people/{name}/password", response_model=PersonResponse)
def change_password(context: ChangeContext, name: Name, body: NewPassword) -> Any:
    with engine().begin() as connection:
        person = _known(connection, name)
        people_admin.set_password(connection, context.actor, person, body.password)
        return _one(connection, person)


@router.delete("/people/{name}", response_model=RemovedPerson)
def remove(context: ChangeContext, name: Name) -> Any:
    with engine().begin() as connection:
        person = _known(connection, name)
        people_admin.remove(connection, context.actor, person)
        return {"name": person, "tokens": token_rows.made_by(connection, person, context.actor.now)}


@router.get("/audit", response_model=Page[AuditEntry])
def audit(
    context: Context,
    person: Annotated[ShortText | None, Query()] = None,
    action: Annotated[ShortText | None, Query()] = None,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    """The audit log, the newest entry first."""
    with context.read() as connection:
        rows = audit_log.find_entries(
            connection, most=limit + 1, before_id=before, person=person, action=action
        )
        return page_of(rows, limit)


def _known(connection: Any, name: str) -> str:
    try:
        return str(people_admin.find(connection, name)["name"])
    except UnknownPerson as error:
        raise HTTPException(404, str(error)) from None


def _one(connection: Any, name: str) -> dict[str, Any]:
    return next(person for person in person_rows.find_people(connection) if person["name"] == name)
