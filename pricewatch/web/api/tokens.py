"""Tokens of programs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from pricewatch.services import token_admin
from pricewatch.services.token_admin import MAX_DAYS, UnknownToken
from pricewatch.store.engine.database import engine
from pricewatch.store.people import token_rows
from pricewatch.vocabulary import AccessRole
from pricewatch.web.api.common import ChangeContext, ResponseModel, ShortText
from pricewatch.web.form_fields import Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/tokens", tags=["tokens"], responses=responses(404))


class TokenResponse(ResponseModel):
    """A token without its secret; `last_used_at` is at most a minute old."""

    id: int
    name: str
    role: AccessRole
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    last_used_from: str | None
    revoked_at: datetime | None
    revoked_by: str | None


class MadeToken(TokenResponse):
    token: Annotated[str, Field(description="Not stored: this response is the only one that has it.")]


class NewToken(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: ShortText
    role: AccessRole
    expires_days: Annotated[int | None, Field(ge=1, le=MAX_DAYS)] = None


class RevokedToken(BaseModel):
    id: int
    name: str


@router.get("", response_model=list[TokenResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return token_rows.find_tokens(connection)


@router.post("", response_model=MadeToken, status_code=201)
def make(context: ChangeContext, body: NewToken) -> Any:
    with engine().begin() as connection:
        token_id, token = token_admin.make(
            connection, context.actor, name=body.name, role=body.role, expires_days=body.expires_days
        )
        row = next(row for row in token_rows.find_tokens(connection) if row["id"] == token_id)
    return {**row, "token": token}


@router.delete("/{token_id}", response_model=RevokedToken)
def revoke(context: ChangeContext, token_id: Id) -> Any:
    try:
        with engine().begin() as connection:
            name = token_admin.revoke(connection, context.actor, token_id=token_id)
    except UnknownToken as error:
        raise HTTPException(404, str(error)) from None
    return {"id": token_id, "name": name}
