"""Quarantined offers next to their saved page: choose the price, accept, reject or extract again."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217
from pricewatch.rules.price_options import CHOOSABLE, page_marks
from pricewatch.services import candidate_choice, quarantine_review
from pricewatch.services.candidate_choice import ChoiceRequest
from pricewatch.store.engine.database import engine
from pricewatch.store.models.target_tables import REVIEW_STATUSES
from pricewatch.store.writing import quarantine_rows, strict_review_rows
from pricewatch.store.writing.quarantine_rows import QuarantineFilter
from pricewatch.vocabulary import QuarantineReason
from pricewatch.web.form_fields import Before, Id, percent
from pricewatch.web.page_display import display
from pricewatch.web.page_rows import QuarantineRow
from pricewatch.web.request_context import Context, Form, PostedForm, RequestContext

router = APIRouter()
MOST, MOST_AT_ONCE = 50, 200


@router.get("/quarantine")
def list_page(
    context: Context, status: str = "pending", reason: str = "", adapter: str = "", before: Before = None
) -> Response:
    filters = QuarantineFilter(
        status=status if status in REVIEW_STATUSES else None,
        reason=reason if reason in set(QuarantineReason) else None,
        adapter_id=adapter or None,
    )
    with context.read() as connection:
        rows = quarantine_rows.find_rows(connection, filters, most=MOST + 1, before=before)
        return context.render(
            connection,
            "quarantine.html",
            rows=[QuarantineRow.of(row) for row in rows[:MOST]],
            more=rows[MOST - 1]["id"] if len(rows) > MOST else None,
            filters={"status": status, "reason": reason, "adapter": adapter},
            statuses=REVIEW_STATUSES,
            reasons=[str(word) for word in QuarantineReason],
            strict=strict_review_rows.find(connection),
            strict_kinds=strict_review_rows.KINDS,
        )


@router.post("/quarantine/strict-review")
def strict_review(context: Context, form: PostedForm) -> Response:
    kind, subject, chosen = form.text("kind", 20), form.text("subject"), percent(form.text("percent"))
    with context.change("strict review", f"{kind} {subject}", percent=chosen) as connection:
        strict_review_rows.set_percent(connection, kind, subject, chosen, by=context.person, now=context.now)
    done = f"is on above {chosen:g} %" if chosen else "is off"
    return context.redirect("/quarantine", f"Strict review of {kind} {subject} {done}.")


@router.get("/quarantine/{quarantine_id}")
def detail_page(context: Context, quarantine_id: Id) -> Response:
    with context.read() as connection:
        row = quarantine_rows.get(connection, quarantine_id)
        if row is None:
            raise HTTPException(404, f"There is no offer {quarantine_id} in quarantine.")
        saved = row.pop("page")
        offer = QuarantineRow.of(row)
        page = None
        if saved is not None:
            page = display(saved, row["details"].get("encoding") or "utf-8", page_marks(offer.options))
        following = quarantine_rows.find_rows(
            connection, QuarantineFilter(status="pending"), most=1, before=quarantine_id
        )
        return context.render(
            connection,
            "quarantined_offer.html",
            offer=offer,
            page=page,
            choosable=[str(word) for word in CHOOSABLE],
            currencies=sorted(ISO_4217),
            no_page=quarantine_rows.why_no_page(row),
            can_replay=saved is not None and quarantine_rows.why_no_replay(row["adapter_id"]) is None,
            following=following[0]["id"] if following else None,
        )


@router.post("/quarantine/{quarantine_id}/choose")
def choose(context: Context, form: PostedForm, quarantine_id: Id) -> Response:
    """Store the price of one candidate."""
    number = form.number("number") or 0
    if not number:
        return context.redirect(f"/quarantine/{quarantine_id}", "Choose one of the candidates.", good=False)
    request = ChoiceRequest(
        number,
        expected=form.text(f"expected_{number}"),
        currency=form.text("currency"),
        availability=form.text("availability"),
        for_site=form.flag("for_site"),
    )
    try:
        with engine().begin() as connection:
            review = candidate_choice.choose(
                connection,
                quarantine_id,
                request,
                by=context.person,
                now=context.now,
                address=context.address,
            ).review
    except UserError as error:
        return context.redirect(f"/quarantine/{quarantine_id}", str(error), good=False)
    price = review.offer.price if review.offer else None
    message = f"{price or f'Offer {quarantine_id}'}: {review.outcome}."
    if review.details:
        message += f" {_sentence(review.details)}"
    return context.redirect(_back(form), message, good=review.would_store)


@router.post("/quarantine")
def act(context: Context, form: PostedForm) -> Response:
    """Apply an action to offers, each in its own transaction, so that one failure does not affect others."""
    ids, action = form.numbers("id")[:MOST_AT_ONCE], form.text("action")
    if not ids:
        return context.redirect("/quarantine", "Choose at least one offer.", good=False)
    if action not in ("accept", "reject", "replay", "replay_apply"):
        raise HTTPException(400, "Unknown action. Known: accept, reject, replay, replay_apply.")
    message = _act(context, action, ids, form.text("note", 500) or None)
    return context.redirect(_back(form), message)


def _act(context: RequestContext, action: str, ids: list[int], note: str | None) -> str:
    if action == "reject":
        with context.change("offers rejected", _subject(ids), ids=ids, note=note) as connection:
            rejected = quarantine_rows.reject(connection, ids, by=context.person, note=note, now=context.now)
        return f"{len(rejected)} of {len(ids)} rejected."
    outcomes: Counter[str] = Counter()
    details = ""
    for quarantine_id in ids:
        if action == "replay":
            # A dry run: nothing is stored, so nothing goes to the audit log.
            with engine().connect() as connection:
                review = quarantine_review.replay(
                    connection, quarantine_id, by=context.person, now=context.now, apply=False
                )
        else:
            with context.change(
                f"offer {action}ed".replace("applyed", "applied"), f"offer {quarantine_id}"
            ) as connection:
                if action == "accept":
                    review = quarantine_review.accept(
                        connection, quarantine_id, by=context.person, note=note, now=context.now
                    )
                else:
                    review = quarantine_review.replay(
                        connection, quarantine_id, by=context.person, now=context.now, apply=True
                    )
        outcomes[str(review.outcome)] += 1
        details = review.details
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    verb = {"accept": "Accepted", "replay": "Dry run", "replay_apply": "Read again"}[action]
    if len(ids) > 1 or not details:
        return f"{verb}: {counts}."
    return f"{verb}: {counts}. {_sentence(details)}"


def _sentence(details: str) -> str:
    return f"{details[0].upper()}{details[1:].rstrip('.')}."


def _back(form: Form) -> str:
    path = form.text("back")
    return path if path.startswith("/quarantine") else "/quarantine"


def _subject(ids: list[int]) -> str:
    return f"offer {ids[0]}" if len(ids) == 1 else f"{len(ids)} offers"
