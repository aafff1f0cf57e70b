"""Adding targets: one URL with a preview of what it says, or a file of many with what is wrong in it."""

from __future__ import annotations

import base64
from dataclasses import replace

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from scrapy.utils.project import get_project_settings
from sqlalchemy import Connection

from pricewatch.adapters.custom_selectors import NAMES, check_selectors
from pricewatch.errors import UserError
from pricewatch.parsing.pages.sanitized_html import sanitized_page
from pricewatch.parsing.target_csv import read_csv
from pricewatch.rules.addresses import AllowedHosts
from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.services import target_import
from pricewatch.services.notifications import channels
from pricewatch.services.target_import import LineOutcome
from pricewatch.store.people import watch_rules
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.writing import source_rows
from pricewatch.web.page_previews import Preview, Previews
from pricewatch.web.page_rows import LookedAt
from pricewatch.web.request_context import AForm, AVisit, Form, RequestContext
from pricewatch.web.routes.watch import rule_of
from pricewatch.web.templating import asset

router = APIRouter()
SCHEDULES = {
    DEFAULT_SCHEDULE: "every 4 hours",
    "0 * * * *": "every hour",
    "0 */12 * * *": "twice a day",
    "0 6 * * *": "once a day",
}
LARGEST_FILE = 5 * 2**20
MOST_PROBLEMS = 200
IMPORTED = (LineOutcome.ADDED, LineOutcome.UPDATED)


@router.get("/targets/add")
def form_page(visit: AVisit, url: str = "") -> Response:
    url, problem = url.strip()[:2000], None
    if url:
        try:
            _check_url(visit, url)
        except UserError as error:
            problem = str(error)
    return _page(visit, url, {}, None, problem)


@router.post("/targets/preview")
def preview(visit: AVisit, form: AForm) -> Response:
    url, selectors = form.text("url"), _selectors(form)
    previews: Previews = visit.request.app.state.previews
    try:
        _check_url(visit, url)
        if problem := check_selectors(selectors):
            raise UserError(problem)
        kept = previews.get(form.text("preview"))
        if kept is not None and kept.url == url:
            found = previews.try_selectors(kept, selectors)
        else:
            found = previews.fetch(url, selectors)
    except UserError as error:
        return _page(visit, url, selectors, None, str(error))
    return _page(visit, url, selectors, found, None)


@router.post("/targets/add")
def add(visit: AVisit, form: AForm) -> Response:
    values = {
        **_selectors(form),
        "url": form.text("url"),
        "schedule": form.text("schedule"),
        "priority": form.text("priority"),
        "notes": form.text("notes", 1000),
    }
    with visit.change("target added", values["url"][:500]) as connection:
        new = target_import.check(values, _allowed(connection))
        # What the form proposes was not chosen: a known target keeps its own.
        new = replace(new, given=_chosen(new))
        added = target_rows.add(connection, [new], visit.now, visit.person)
        source = source_rows.load(connection).by_id[added.sources[0]]
        if form.flag("approve") and not source.is_approved:
            source_rows.approve(connection, source.id, visit.person, visit.now)
        target_id = added.ids.get(0) or target_rows.find_url(connection, new.url)
        if form.text("kind"):
            watch_rules.add(connection, target_id=target_id, now=visit.now, **rule_of(form))
    if added.updated:
        return visit.back("/targets", f"Target {target_id} watched this page already, and is changed.")
    if not added.ids:
        return visit.back("/targets", "This page is watched already.", good=False)
    waits = (
        "" if source.is_approved or form.flag("approve") else " It waits until somebody approves its source."
    )
    return visit.back("/targets", f"Target {target_id} is added.{waits}")


@router.get("/targets/import")
def import_page(visit: AVisit) -> Response:
    with visit.read() as connection:
        return visit.render(
            connection, "target_import.html", report=None, problems=[], content="", outcomes=[]
        )


@router.post("/targets/import")
def import_file(visit: AVisit, form: AForm) -> Response:
    """The first time only looked at; what is then confirmed is the very same content."""
    content = (
        form.upload("file")
        or _kept(form.text("content", 2 * LARGEST_FILE))
        or form.text("pasted", LARGEST_FILE).encode()
    )
    if not content:
        return visit.back("/targets/import", "Choose a file, or paste some URLs.", good=False)
    if len(content) > LARGEST_FILE:
        raise HTTPException(413, "More than 5 MB: use `scrapy targets import` for such a file.")
    file = read_csv(content)
    if form.text("action") == "import":
        with visit.change("targets imported", f"{len(file.lines)} lines") as connection:
            report = target_import.import_csv(
                connection, file, visit.now, allowed=_allowed(connection), created_by=visit.person
            )
            if form.flag("approve"):
                for source_id in report.unapproved:
                    source_rows.approve(connection, source_id, visit.person, visit.now)
        return visit.back("/targets", f"{report.sentence}.")
    with visit.read() as connection:
        trial = connection.begin_nested()
        report = target_import.import_csv(connection, file, visit.now, allowed=_allowed(connection))
        trial.rollback()
        problems = [line for line in report.lines if line.outcome not in IMPORTED]
        return visit.render(
            connection,
            "target_import.html",
            report=report,
            problems=problems[:MOST_PROBLEMS],
            content=base64.b64encode(content).decode(),
            outcomes=[(str(outcome), report.counts[outcome]) for outcome in LineOutcome],
        )


def _chosen(new: NewTarget) -> tuple[str, ...]:
    proposed = NewTarget(new.url, new.canonical_url)
    return tuple(name for name in new.given if getattr(new, name) != getattr(proposed, name))


def _check_url(visit: RequestContext, url: str) -> None:
    with visit.read() as connection:
        target_import.check_url(url, _allowed(connection))


def _page(
    visit: RequestContext, url: str, selectors: dict[str, str], preview: Preview | None, problem: str | None
) -> Response:
    with visit.read() as connection:
        source = None
        if url and problem is None:
            source = source_rows.load(connection).of(url)
        return visit.render(
            connection,
            "target_add.html",
            url=url,
            selectors={name: selectors.get(name, "") for name in NAMES},
            preview=preview,
            result=LookedAt.of(preview.result) if preview else None,
            problem=problem,
            page=sanitized_page(preview.page, asset("page.css")) if preview and preview.page else None,
            approved=source is not None and source.is_approved,
            schedules=SCHEDULES,
            channels=sorted(channels()),
        )


def _selectors(form: Form) -> dict[str, str]:
    return {name: text for name in NAMES if (text := form.text(f"selector_{name}", 500))}


def _allowed(connection: Connection) -> AllowedHosts:
    return target_import.allowed_hosts(connection, get_project_settings().getlist("ALLOWED_PRIVATE_HOSTS"))


def _kept(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
