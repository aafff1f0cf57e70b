"""`scrapy simulate` for a week: the stored data must match the truth of the sample marketplace."""

from __future__ import annotations

import pytest

SEED, DAYS = 3, "7"
# `all`, `none`, or names of habits.
HABITS = "all"


def simulate(crawl, *options: str) -> tuple[int, str]:
    outcome = crawl.command("simulate", "--seed", str(SEED), "--listings", "800", *options).end(500)
    return outcome.returncode, outcome.stdout + outcome.stderr


@pytest.mark.proof
def test_week_with_all_habits_and_ten_percent_faults(crawl):
    code, output = simulate(crawl, "--days", DAYS, "--faults", "0.1", "--habits", HABITS)
    assert "responses failed by injected faults" in output, output
    assert code == 0, output


def test_bad_options_print_no_traceback(crawl):
    for options in (("--days", "0"), ("--faults", "1.5"), ("--habits", "shouting")):
        code, output = simulate(crawl, *options)
        assert code == 2
        assert "Traceback" not in output
