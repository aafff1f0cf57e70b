"""`scrapy resolve`: what it changes is in the audit log."""

from __future__ import annotations

from tests.commands.test_people import run
from tests.databases import Database


def test_changes_leave_entries_in_the_audit_log(database: Database) -> None:
    entries = "SELECT action, subject, person FROM audit ORDER BY id"
    assert run(database, "resolve") == (0, "0 listings resolved.\n")
    assert database.rows(entries) == []
    for option in (("--trust", "bazaar"), ("--distrust", "bazaar"), ("--all",)):
        assert run(database, "resolve", *option)[0] == 0
    actions = [
        ("identifiers trusted", "bazaar"),
        ("identifiers not trusted", "bazaar"),
        ("products resolved again", "all listings"),
    ]
    found = database.rows(entries)
    assert [(entry.action, entry.subject) for entry in found] == actions
    assert all(entry.person for entry in found)


def test_an_unknown_source_leaves_no_entry(database: Database) -> None:
    code, shown = run(database, "resolve", "--trust", "nowhere")
    assert (code, "nowhere" in shown) == (2, True)
    assert database.rows("SELECT action FROM audit") == []
