"""The corpus of hostile pages: no exception, no page over a limit, no price that a page does not show."""

from __future__ import annotations

import pytest

from tests.hostile.corpus.__main__ import chosen_pages, main
from tests.hostile.corpus.hostile_page import KINDS, HostilePage
from tests.hostile.corpus.measuring import Measurement


def test_the_corpus_has_over_a_thousand_pages_of_many_kinds() -> None:
    pages = chosen_pages([], None)
    assert len(pages) > 1_000
    assert len({page.label for page in pages}) == len(pages)
    assert {page.kind for page in chosen_pages([], 60)} == set(KINDS)


def test_some_pages_of_every_kind_keep_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "60"]) == 0, capsys.readouterr().out


@pytest.mark.proof
@pytest.mark.timeout(2400)  # 6 minutes on two idle cores
def test_a_thousand_pages_keep_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "1100"]) == 0, capsys.readouterr().out
    assert "The slowest 10 pages" in capsys.readouterr().out


def test_broken_rules_are_reported() -> None:
    measured = Measurement(HostilePage("a page", str, shows=frozenset({"19.99 EUR"})))
    assert measured.broken_rules() == []
    measured.result.accepted = [("generic", "5.00 EUR")]
    measured.result.seconds = {"generic: extract": 2.5}
    measured.megabytes = 250
    assert [rule.split(",")[0] for rule in measured.broken_rules()] == [
        "generic: extract took 2.5 s of CPU time",
        "used 250 MB",
        "generic accepted 5.00 EUR",
    ]
