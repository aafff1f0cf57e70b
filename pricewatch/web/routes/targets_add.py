"""Adding targets: one URL with a preview, or a CSV file with a report of its problems."""

from __future__ import annotations

import base64
from dataclasses import replace

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from scrapy.utils.project import get_project_settings
from sqlalchemy import Connection

from pricewatch.adapters.custom_selectors import SELECTOR_NAMES, check_selectors
from pricewatch.errors import UserError
from pricewatch.parsing.target_csv import read_csv
from pricewatch.rules.access.addresses import AllowedHosts
from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.services import target_import
from pricewatch.services.notifications import channels
from pricewatch.services.target_import import LineOutcome
from pricewatch.store.people import watch_rules
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from pricewatch.store.source_registry import source_rows
from pricewatch.web.form_fields import RENDER_CHOICES
from pricewatch.web.page_display import display
from pricewatch.web.page_previews import Preview, Previews
from pricewatch.web.page_rows import PreviewRow
from pricewatch.web.request_context import Context, Form, PostedForm, RequestContext
from pricewatch.web.routes.markets import approve_source
from pricewatch.web.routes.watch import rule_of
from pricewatch.web.server.request_limits import in_megabytes

router = APIRouter()
SCHEDULES = {
    DEFAULT_SCHEDULE: "every 4 hours",
    "0 * * * *": "every hour",
    "0 */12 * * *": "twice a day",
    "0 6 * * *": "once a day",
}
MOST_PROBLEMS = 200
IMPORTED = (LineOutcome.ADDED, LineOutcome.UPDATED)


@router.get("/targets/add")
def form_page(context: Context, url: str = "") -> Response:
    url, problem = url.strip()[:2000], None
    if url:
        try:
            _check_url(context, url)
        except UserError as error:
            problem = str(error)
    return _page(context, url, {}, None, problem)


@router.post("/targets/preview")
def preview(context: Context, form: PostedForm) -> Response:
    url, selectors = form.text("url"), _selectors(form)
    previews: Previews = context.request.app.state.previews
    try:
        _check_url(context, url)
        if problem := check_selectors(selectors):
            raise UserError(problem)
        cached = previews.get(form.text("preview"))
        if cached is not None and cached.url == url:
            result = previews.try_selectors(cached, selectors)
        else:
            result = previews.fetch(url, selectors)
    except UserError as error:
        return _page(context, url, selectors, None, str(error))
    return _page(context, url, selectors, result, None)


@router.post("/targets/add")
def add(context: Context, form: PostedForm) -> Response:
    values = {
        **_selectors(form),
        "url": form.text("url"),
        "schedule": form.text("schedule"),
        "priority": form.text("priority"),
        "render": form.text("render", 20),
        "notes": form.text("notes", 1000),
    }
    with context.change("target added", values["url"][:500]) as connection:
        new = target_import.check(values, _allowed_hosts(connection))
        # Unchanged defaults of the form must not overwrite the values of an existing target.
        new = replace(new, chosen=_changed_fields(new))
        added = target_rows.add(connection, [new], context.now, context.person)
        source = source_rows.load(connection).by_id[added.sources[0]]
        if form.flag("approve") and not source.is_approved:
            approve_source(connection, context, source.id)
        target_id = added.ids.get(0) or target_rows.find_url(connection, new.url)
        if form.text("kind"):
            watch_rules.add(connection, target_id=target_id, now=context.now, **rule_of(form))
    if added.updated:
        return context.redirect(
            "/targets", f"Target {target_id} already exists for this page and was updated."
        )
    if not added.ids:
        return context.redirect("/targets", "A target already exists for this page.", good=False)
    is_approved = source.is_approved or form.flag("approve")
    note = "" if is_approved else " It is not checked until its source is approved."
    return context.redirect("/targets", f"Target {target_id} is added.{note}")


@router.get("/targets/import")
def import_page(context: Context) -> Response:
    with context.read() as connection:
        return context.render(
            connection, "target_import.html", report=None, problems=[], content="", outcomes=[]
        )


@router.post("/targets/import")
def import_file(context: Context, form: PostedForm) -> Response:
    """Check the file first without importing it; the confirmation sends the same content again."""
    limit = form.limits.csv_file
    content = (
        form.upload("file")
        or _decoded(form.text("content", form.limits.csv))
        or form.text("pasted", limit).encode()
    )
    if not content:
        return context.redirect("/targets/import", "Choose a file, or paste some URLs.", good=False)
    if len(content) > limit:
        raise HTTPException(
            413, f"The file is larger than {in_megabytes(limit)}: use `scrapy targets import`."
        )
    file = read_csv(content)
    if form.text("action") == "import":
        with context.change("targets imported", f"{len(file.lines)} lines") as connection:
            report = target_import.import_csv(
                connection, file, context.now, allowed=_allowed_hosts(connection), created_by=context.person
            )
            if form.flag("approve"):
                for source_id in report.unapproved:
                    approve_source(connection, context, source_id)
        return context.redirect("/targets", f"{report.sentence}.")
    with context.read() as connection:
        savepoint = connection.begin_nested()
        report = target_import.import_csv(connection, file, context.now, allowed=_allowed_hosts(connection))
        savepoint.rollback()
        problems = [line for line in report.lines if line.outcome not in IMPORTED]
        return context.render(
            connection,
            "target_import.html",
            report=report,
            problems=problems[:MOST_PROBLEMS],
            content=base64.b64encode(content).decode(),
            outcomes=[(str(outcome), report.counts[outcome]) for outcome in LineOutcome],
        )


def _changed_fields(new: NewTarget) -> tuple[str, ...]:
    default = NewTarget(new.url, new.canonical_url)
    return tuple(name for name in new.chosen if getattr(new, name) != getattr(default, name))


def _check_url(context: RequestContext, url: str) -> None:
    with context.read() as connection:
        target_import.check_url(url, _allowed_hosts(connection))


def _page(
    context: RequestContext, url: str, selectors: dict[str, str], preview: Preview | None, problem: str | None
) -> Response:
    page = display(preview.page.encode("utf-8", "replace"), "utf-8") if preview and preview.page else None
    with context.read() as connection:
        source = None
        if url and problem is None:
            source = source_rows.load(connection).of(url)
        return context.render(
            connection,
            "target_add.html",
            url=url,
            selectors={name: selectors.get(name, "") for name in SELECTOR_NAMES},
            preview=preview,
            result=PreviewRow.of(preview.result) if preview else None,
            problem=problem,
            page=page,
            approved=source is not None and source.is_approved,
            schedules=SCHEDULES,
            render_choices=RENDER_CHOICES,
            channels=sorted(channels()),
        )


def _selectors(form: Form) -> dict[str, str]:
    return {name: text for name in SELECTOR_NAMES if (text := form.text(f"selector_{name}", 500))}


def _allowed_hosts(connection: Connection) -> AllowedHosts:
    return target_import.allowed_hosts(connection, get_project_settings().getlist("ALLOWED_PRIVATE_HOSTS"))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
