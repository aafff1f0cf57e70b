"""Import of target files: each line is reported, valid lines are added, and a failure leaves no rows."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest

from pricewatch.parsing.target_csv import read_csv
from pricewatch.rules.access.addresses import AllowedHosts
from pricewatch.services import target_import
from pricewatch.services.target_import import BadTarget, ImportReport, LineOutcome, check, check_url
from pricewatch.store.queues import target_rows
from tests.databases import Database
from tests.store.sample_targets import NOW

ADDED, UPDATED, KNOWN, REPEATED, REJECTED = LineOutcome


def import_text(database: Database, text: str, **more: Any) -> ImportReport:
    report: ImportReport = database.call(
        target_import.import_csv, read_csv(text.encode()), NOW, allowed=AllowedHosts(), **more
    )
    return report


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "URL is missing"),
        ("javascript:alert(1)", "not a web address"),
        ("data:text/html,x", "not a web address"),
        ("ftp://a.example/x", "not a web address"),
        ("//a.example/x", "not a web address"),
        ("https://", "not a web address"),
        ("https://a.example:99999/", "not a web address"),
        ("https://[::1/", "not a web address"),
        ("http://127.0.0.1/x", "not a public address"),
        ("http://2130706433/x", "not a public address"),
        ("http://0x7f.1/x", "not a public address"),
        ("http://10.1.2.3/", "not a public address"),
        ("http://192.168.0.1:8080/", "not a public address"),
        ("http://169.254.169.254/latest/meta-data", "not a public address"),
        ("http://[::1]/", "not a public address"),
        ("http://[::ffff:10.0.0.1]/", "not a public address"),
        ("http://localhost/x", "not a public host name"),
        ("http://router.local/x", "not a public host name"),
        ("http://intranet/x", "not a public host name"),
        ("https://ada:secret@a.example/1", "password"),
        ("https://a.example/" + "x" * 2000, "longer than"),
    ],
)
def test_invalid_and_private_urls_are_refused(url: str, why: str) -> None:
    with pytest.raises(BadTarget, match=why):
        check_url(url, AllowedHosts())


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"schedule": "often"}, "schedule"),
        ({"priority": "high"}, "not a whole number"),
        ({"priority": "101"}, "between -100 and 100"),
        ({"adapter": "nobody"}, "unknown adapter"),
        ({"price": "a..b"}, "selector for price"),
        ({"title": "//["}, "selector for title"),
        ({"currency": "Euro"}, "currency code"),
        ({"render": "sometimes"}, "Unknown choice 'sometimes' for render"),
    ],
)
def test_invalid_values_are_refused_with_the_column(values: dict[str, str], why: str) -> None:
    with pytest.raises(BadTarget, match=why):
        check({"url": "https://a.example/1", **values}, AllowedHosts())


def test_allowed_private_addresses_are_accepted(database: Database) -> None:
    with database.engine.connect() as connection:
        allowed = target_import.allowed_hosts(connection, ["10.0.0.0/8"])
    assert check_url("http://10.1.2.3/x", allowed)
    # The sample marketplace is a source; its neighbours on the same machine are not.
    assert check_url("http://127.0.0.1:6880/item/1", allowed)
    with pytest.raises(BadTarget):
        check_url("http://127.0.0.1:22/", allowed)


def test_valid_lines_are_added_and_every_line_is_reported(database: Database) -> None:
    report = import_text(
        database,
        "\ufeffurl;schedule;priority;price;notes\n"
        'https://www.shop.example/1?utm_source=mail&b=2&a=1;0 6 * * *;7;.price;"semi;colon"\n'
        "http://shop.example/1;;;;\n"
        "https://www.shop.example/1/?a=1&b=2&fbclid=x#top;;;;\n"
        "javascript:alert(1);;;;\n"
        "http://192.168.1.1/;;;;\n"
        "https://other.example/x;not a schedule;;;\n"
        "https://other.example/y;;;;\n",
    )
    outcomes = [(line.number, line.outcome) for line in report.lines]
    assert outcomes == [
        *[(2, ADDED), (3, ADDED), (4, REPEATED), (5, REJECTED), (6, REJECTED), (7, REJECTED), (8, ADDED)]
    ]
    assert report.lines[2].reason == "the same page as line 2"
    row = database.row("SELECT * FROM targets WHERE canonical_url LIKE '%a=1&b=2'")
    assert (row.schedule, row.priority, row.selectors, row.notes) == (
        *("0 6 * * *", 7, {"price": ".price"}, "semi;colon"),
    )
    # A source for each registrable domain: invisible, untrusted, and not fetched until approved.
    made = database.rows("SELECT * FROM sources WHERE id LIKE '%.example' ORDER BY id")
    assert [(one.id, one.visibility, one.tos_approved_by, one.upc_trusted) for one in made] == [
        *[("other.example", "INELIGIBLE", None, False), ("shop.example", "INELIGIBLE", None, False)]
    ]
    assert report.unapproved == ["other.example", "shop.example"]
    assert database.value("SELECT count(next_due_at) FROM targets") == 0


def test_importing_known_urls_with_new_columns_changes_them(database: Database) -> None:
    import_text(database, "https://shop.example/1\nhttps://shop.example/2\nhttps://shop.example/3\n")
    database.do("UPDATE sources SET tos_approved_by = 'Ada' WHERE id = 'shop.example'")
    later = NOW + timedelta(days=3)
    database.do("UPDATE targets SET next_due_at = :later, notes = 'mine', priority = 3", later=later)
    database.do("UPDATE targets SET status = 'BROKEN', consecutive_failures = 5 WHERE url LIKE '%/1'")
    text = (
        "url,currency,priority,notes\n"
        "https://shop.example/1?utm_source=mail,JPY,,\n"
        "https://shop.example/2,,7,\n"
        "https://shop.example/3,,,\n"
        "https://shop.example/4,EUR,,\n"
    )
    report = import_text(database, text)
    assert [line.outcome for line in report.lines] == [UPDATED, UPDATED, KNOWN, ADDED]
    assert report.sentence == "4 lines: 1 new, 2 updated, 1 unchanged, 0 repeated, 0 rejected"
    columns = "selectors, priority, notes, status, next_due_at, consecutive_failures"
    rows = [tuple(row) for row in database.rows(f"SELECT {columns} FROM targets ORDER BY id")]
    # A target with changed selectors is due again like a new one; values that are not in the file stay.
    assert rows[0] == ({"currency": "JPY"}, 3, "mine", "ACTIVE", NOW, 0)
    assert rows[1] == ({}, 7, "mine", "ACTIVE", later, 0)
    assert rows[2] == ({}, 3, "mine", "ACTIVE", later, 0)
    assert import_text(database, text).counts == {KNOWN: 4}
    # A new selector does not remove the others.
    import_text(database, "url,price,schedule\nhttps://shop.example/1,.price,0 6 * * *\n")
    row = database.row("SELECT selectors, schedule FROM targets ORDER BY id LIMIT 1")
    assert tuple(row) == ({"currency": "JPY", "price": ".price"}, "0 6 * * *")


def test_rendering_is_imported(database: Database) -> None:
    text = (
        "url;render\nhttps://shop.example/1;Always\nhttps://shop.example/2;\nhttps://shop.example/3;inherit\n"
    )
    assert import_text(database, text).counts == {ADDED: 3}
    query = "SELECT render FROM targets ORDER BY id"
    assert [render for (render,) in database.rows(query)] == ["always", None, None]
    # An empty cell changes nothing; `inherit` removes the choice of the target.
    again = "url;render\nhttps://shop.example/1;\nhttps://shop.example/2;never\n"
    assert [line.outcome for line in import_text(database, again).lines] == [KNOWN, UPDATED]
    assert [render for (render,) in database.rows(query)] == ["always", "never", None]
    back = import_text(database, "url;render\nhttps://shop.example/1;inherit\n")
    assert [line.outcome for line in back.lines] == [UPDATED]
    assert [render for (render,) in database.rows(query)] == [None, "never", None]


def test_importing_the_same_file_again_adds_nothing(database: Database) -> None:
    text = "https://shop.example/1\nhttps://shop.example/2\n"
    assert import_text(database, text).counts == {ADDED: 2}
    assert import_text(database, text).counts == {KNOWN: 2}
    assert database.value("SELECT count(*) FROM targets") == 2


def test_rolled_back_import_leaves_no_rows(database: Database) -> None:
    with database.engine.connect() as connection, connection.begin() as transaction:
        file = read_csv(b"https://shop.example/1\n")
        report = target_import.import_csv(connection, file, NOW, allowed=AllowedHosts())
        transaction.rollback()
    assert report.counts == {ADDED: 1}
    assert database.value("SELECT count(*) FROM targets") == 0
    assert database.value("SELECT count(*) FROM sources WHERE id = 'shop.example'") == 0


def test_failure_in_the_middle_leaves_no_rows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_rows, "CHUNK", 10)
    database.do("ALTER TABLE targets ADD CONSTRAINT no_15 CHECK (url NOT LIKE '%/15')")
    with pytest.raises(Exception, match="no_15"):
        import_text(database, "".join(f"https://shop.example/{number}\n" for number in range(30)))
    assert database.value("SELECT count(*) FROM targets") == 0


@pytest.mark.proof
def test_100000_lines_are_imported(database: Database) -> None:
    lines = ["url;priority"]
    for number in range(100_000):
        url = f"https://shop{number % 50}.example/item/{number};"
        if number % 1000 == 1:
            url = "javascript:alert(1);"
        elif number % 1000 == 2:
            url = f"https://shop{(number - 2) % 50}.example/item/{number - 2}?utm_campaign=x;"
        lines.append(url)
    steps: list[int] = []
    report = import_text(database, "\n".join(lines), progress=steps.append)
    assert report.counts == {ADDED: 99_800, REJECTED: 100, REPEATED: 100}
    assert [line.number for line in report.lines] == list(range(2, 100_002))
    assert database.value("SELECT count(*) FROM targets") == 99_800
    assert database.value("SELECT count(*) FROM sources WHERE id LIKE 'shop%'") == 50
    assert steps == sorted(steps)
    assert steps[-1] == 100_000


def test_report_file_escapes_spreadsheet_formulas() -> None:
    report = ImportReport()
    for url in ("=HYPERLINK(1)", "+1", "-1", "@x", "https://a.example/1"):
        report.lines.append(target_import.LineReport(1, url, REJECTED, "no"))
    written = io.StringIO()
    report.write(written)
    cells = [line.split(",")[1] for line in written.getvalue().splitlines()[1:]]
    assert cells == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "https://a.example/1"]
