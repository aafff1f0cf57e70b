"""Imported files and spider arguments with hostile content: every line is reported, nothing raises."""

from __future__ import annotations

import io
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.parsing.target_csv import read_csv
from pricewatch.rules.access.addresses import AllowedHosts
from pricewatch.services import target_import
from pricewatch.services.target_import import LineOutcome
from pricewatch.spiders.arguments import MarketArguments, TargetsArguments, parse_arguments
from pricewatch.store.queues import job_queue
from tests.databases import Database
from tests.hostile.texts import FORBIDDEN, hostile_texts

QUICK = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
URLS = st.builds("https://shop.example/{}".format, hostile_texts()) | hostile_texts()
CELLS = st.tuples(URLS, hostile_texts(), hostile_texts(), hostile_texts())


@QUICK
@given(lines=st.lists(CELLS, max_size=6), separator=st.sampled_from([",", ";", "\t"]))
def test_an_import_reports_every_line_and_raises_nothing(
    database: Database, lines: list[tuple[str, ...]], separator: str
) -> None:
    rows = [("url", "schedule", "price", "notes"), *lines]
    text = "\n".join(separator.join(row) for row in rows)
    file = read_csv(text.encode("utf-8", "surrogatepass"))
    with database.engine.connect() as connection:
        report = target_import.import_csv(connection, file, clock.now(), allowed=AllowedHosts(()))
        connection.rollback()
    assert len(report.lines) == len(file.lines)
    assert all(line.reason for line in report.lines if line.outcome is LineOutcome.REJECTED)
    report.write(io.StringIO())


@QUICK
@given(url=URLS, note=hostile_texts())
def test_accepted_urls_are_stored_without_forbidden_characters(
    database: Database, url: str, note: str
) -> None:
    try:
        target_import.check({"url": url, "notes": note}, AllowedHosts(()))
    except UserError:
        return
    quoted = '"' + url.replace('"', '""') + '","' + note.replace('"', '""') + '"'
    file = read_csv(f"url,notes\n{quoted}".encode("utf-8", "surrogatepass"))
    database.call(target_import.import_csv, file, clock.now(), allowed=AllowedHosts(()))
    for row in database.rows("SELECT url, canonical_url FROM targets"):
        assert not any(FORBIDDEN.search(url) for url in row)


@QUICK
@given(
    names=st.dictionaries(
        st.sampled_from(["market", "max_pages", "ids", "url", "x"]) | hostile_texts(), hostile_texts()
    )
)
def test_spider_arguments_are_accepted_or_refused_with_a_message(
    database: Database, names: dict[str, str]
) -> None:
    for model in (MarketArguments, TargetsArguments):
        with suppress(UserError):
            parse_arguments(model, "spider", names)
    database.call(job_queue.add, "pricewatch", "sweep", names)
