"""Quarantine: what is held, and what a program that knows better makes of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict

from pricewatch.services import quarantine_review
from pricewatch.store.writing import quarantine_rows
from pricewatch.store.writing.quarantine_rows import HeldWanted
from pricewatch.vocabulary import QuarantineReason
from pricewatch.web.api.common import AChange, Limit, Page, ResponseModel, Sentence, Word, page_of
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import AVisit

router = APIRouter(prefix="/api/quarantine", tags=["quarantine"], responses=responses(404))
Status = Literal["pending", "accepted", "rejected", "replayed"]


class Held(ResponseModel):
    id: int
    source_id: str
    run_id: int | None
    target_id: int | None
    listing_id: int | None
    adapter_id: str
    adapter_version: str
    url: str
    identity_key: str | None
    reason: QuarantineReason
    offer: dict[str, Any]
    details: dict[str, Any]
    page_hash: str | None
    status: Status
    times_seen: int
    first_seen_at: datetime
    observed_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str | None
    note: str | None


class Note(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Sentence | None = None


class Replay(BaseModel):
    model_config = ConfigDict(extra="forbid")

    apply: bool = False


class ReviewResponse(BaseModel):
    id: int
    outcome: str
    details: str = ""


@router.get("", response_model=Page[Held])
def find(
    visit: AVisit,
    status: Status | None = "pending",
    reason: QuarantineReason | None = None,
    adapter_id: Annotated[Word | None, Query()] = None,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    wanted = HeldWanted(status=status, reason=reason, adapter_id=adapter_id)
    with visit.read() as connection:
        return page_of(quarantine_rows.listed(connection, wanted, most=limit + 1, before=before), limit)


@router.get("/{held_id}", response_model=Held)
def one(visit: AVisit, held_id: Id) -> Any:
    with visit.read() as connection:
        return _known(connection, held_id)


@router.post("/{held_id}/accept", response_model=ReviewResponse)
def accept(visit: AChange, held_id: Id, given: Note) -> Any:
    with visit.change("offer accepted", f"offer {held_id}", note=given.note) as connection:
        _known(connection, held_id)
        done = quarantine_review.accept(connection, held_id, by=visit.person, note=given.note, now=visit.now)
    return {"id": held_id, "outcome": str(done.outcome), "details": done.details}


@router.post("/{held_id}/reject", response_model=ReviewResponse)
def reject(visit: AChange, held_id: Id, given: Note) -> Any:
    with visit.change("offers rejected", f"offer {held_id}", note=given.note) as connection:
        _known(connection, held_id)
        done = quarantine_rows.reject(connection, [held_id], by=visit.person, note=given.note, now=visit.now)
    return {"id": held_id, "outcome": "rejected" if done else "not waiting"}


@router.post("/{held_id}/replay", response_model=ReviewResponse)
def replay(visit: AChange, held_id: Id, given: Replay) -> Any:
    """Read the kept page again; nothing is stored unless `apply` says so."""
    with visit.change("offer replayed", f"offer {held_id}", apply=given.apply) as connection:
        _known(connection, held_id)
        done = quarantine_review.replay(
            connection, held_id, by=visit.person, now=visit.now, apply=given.apply
        )
    return {"id": held_id, "outcome": str(done.outcome), "details": done.details}


def _known(connection: Any, held_id: int) -> dict[str, Any]:
    rows = quarantine_rows.listed(connection, HeldWanted(ids=[held_id]), most=1)
    if not rows:
        raise HTTPException(404, f"There is no offer {held_id} in quarantine.")
    return rows[0]
