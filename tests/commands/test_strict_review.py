"""`scrapy quarantine strict`: whose price changes wait for a person."""

from __future__ import annotations

from tests.conftest import Crawl
from tests.databases import Database


def run(crawl: Crawl, *words: str) -> tuple[int, str]:
    outcome = crawl.command("quarantine", "strict", *words).end()
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_strict_review_is_set_listed_and_ended(crawl: Crawl, database: Database) -> None:
    assert run(crawl) == (0, "Strict review is not in use.\n")
    done = (0, "source bazaar: strict review is on for changes over 20 %.\n")
    assert run(crawl, "source", "bazaar", "20", "--by", "Ada") == done
    code, listed = run(crawl)
    assert code == 0
    assert "bazaar" in listed
    assert "Ada" in listed
    assert database.value("SELECT count(*) FROM audit WHERE action = 'strict review'") == 1
    assert run(crawl, "source", "bazaar", "off") == (0, "source bazaar: strict review is off.\n")
    assert database.value("SELECT count(*) FROM strict_reviews") == 0


def test_mistakes_are_explained(crawl: Crawl, database: Database) -> None:
    for words, sentence in (
        (("source",), "Say for what, and the percentage"),
        (("source", "bazaar", "much"), "'much' is not a percentage. Example: 20"),
        (("source", "nowhere", "20"), "There is no source 'nowhere'."),
        (("shop", "bazaar", "20"), "Unknown kind 'shop'. Known: source, market, target."),
    ):
        code, said = run(crawl, *words)
        assert code != 0
        assert sentence in said
