"""Quarantine: what is held beside the page it came from; accepted, rejected, or read again."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.parsing.pages.sanitized_html import sanitized_page
from pricewatch.services import quarantine_review
from pricewatch.store.engine.database import engine
from pricewatch.store.models.target_tables import REVIEW_STATUSES
from pricewatch.store.writing import quarantine_rows
from pricewatch.store.writing.quarantine_rows import HeldWanted
from pricewatch.vocabulary import QuarantineReason
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.page_rows import HeldRow
from pricewatch.web.request_context import AForm, AVisit, RequestContext
from pricewatch.web.templating import asset

router = APIRouter()
MOST, MOST_AT_ONCE = 50, 200


@router.get("/quarantine")
def found(
    visit: AVisit, status: str = "pending", reason: str = "", adapter: str = "", before: Before = None
) -> Response:
    wanted = HeldWanted(
        status=status if status in REVIEW_STATUSES else None,
        reason=reason if reason in set(QuarantineReason) else None,
        adapter_id=adapter or None,
    )
    with visit.read() as connection:
        rows = quarantine_rows.listed(connection, wanted, most=MOST + 1, before=before)
        return visit.render(
            connection,
            "quarantine.html",
            rows=[HeldRow.of(row) for row in rows[:MOST]],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
            asked={"status": status, "reason": reason, "adapter": adapter},
            statuses=REVIEW_STATUSES,
            reasons=[str(word) for word in QuarantineReason],
        )


@router.get("/quarantine/{held_id}")
def one(visit: AVisit, held_id: Id) -> Response:
    with visit.read() as connection:
        held = quarantine_rows.get(connection, held_id)
        if held is None:
            raise HTTPException(404, f"There is no offer {held_id} in quarantine.")
        page = held.pop("page")
        shown = None
        if page is not None:
            encoding = held["details"].get("encoding") or "utf-8"
            shown = sanitized_page(_decoded(page, encoding), asset("page.css"))
        beside = quarantine_rows.listed(connection, HeldWanted(status="pending"), most=1, before=held_id)
        return visit.render(
            connection,
            "held.html",
            held=HeldRow.of(held),
            page=shown,
            no_page=quarantine_rows.no_page(held),
            can_replay=page is not None and quarantine_rows.no_replay(held["adapter_id"]) is None,
            following=beside[0]["id"] if beside else None,
        )


@router.post("/quarantine")
def act(visit: AVisit, form: AForm) -> Response:
    """One or many at once; each in a transaction of its own, so that one that fails keeps none back."""
    ids, action = form.numbers("id")[:MOST_AT_ONCE], form.text("action")
    if not ids:
        return visit.back("/quarantine", "Choose at least one offer.", good=False)
    if action not in ("accept", "reject", "replay", "replay_apply"):
        raise HTTPException(400, "There is no such action.")
    told = _act(visit, action, ids, form.text("note", 500) or None)
    path = form.text("back") if form.text("back").startswith("/quarantine") else "/quarantine"
    return visit.back(path, told)


def _act(visit: RequestContext, action: str, ids: list[int], note: str | None) -> str:
    if action == "reject":
        with visit.change("offers rejected", _subject(ids), ids=ids, note=note) as connection:
            done = quarantine_rows.reject(connection, ids, by=visit.person, note=note, now=visit.now)
        return f"{len(done)} of {len(ids)} rejected."
    outcomes: Counter[str] = Counter()
    details = ""
    for held_id in ids:
        if action == "replay":
            # Only looked at: nothing is stored, nobody changed anything.
            with engine().connect() as connection:
                done_one = quarantine_review.replay(
                    connection, held_id, by=visit.person, now=visit.now, apply=False
                )
        else:
            with visit.change(
                f"offer {action}ed".replace("applyed", "applied"), f"offer {held_id}"
            ) as connection:
                if action == "accept":
                    done_one = quarantine_review.accept(
                        connection, held_id, by=visit.person, note=note, now=visit.now
                    )
                else:
                    done_one = quarantine_review.replay(
                        connection, held_id, by=visit.person, now=visit.now, apply=True
                    )
        outcomes[str(done_one.outcome)] += 1
        details = done_one.details
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    verb = {"accept": "Accepted", "replay": "Would be read again", "replay_apply": "Read again"}[action]
    if len(ids) > 1 or not details:
        return f"{verb}: {told}."
    return f"{verb}: {told}. {details[0].upper()}{details[1:].rstrip('.')}."


def _subject(ids: list[int]) -> str:
    return f"offer {ids[0]}" if len(ids) == 1 else f"{len(ids)} offers"


def _decoded(page: bytes, encoding: str) -> str:
    try:
        return page.decode(encoding, "replace")
    except LookupError:
        return page.decode("utf-8", "replace")
