"""A week of the sample marketplace, lived through and compared with its truth."""

from __future__ import annotations

import pytest

SEED, DAYS = 3, "7"
# `all`, `none`, or the names of those that come.
HABITS = "all"


def simulate(crawl, *options: str) -> tuple[int, str]:
    outcome = crawl.command("simulate", "--seed", str(SEED), "--listings", "800", *options).end(500)
    return outcome.returncode, outcome.stdout + outcome.stderr


@pytest.mark.proof
def test_a_week_in_which_a_tenth_of_all_answers_fail(crawl):
    """Everything known, every price in order and once, nothing wrongly gone, nothing forgotten."""
    code, told = simulate(crawl, "--days", DAYS, "--faults", "0.1", "--habits", HABITS)
    assert "answers failed on order" in told, told
    assert code == 0, told


def test_bad_options_are_told_in_one_sentence(crawl):
    for options in (("--days", "0"), ("--faults", "1.5"), ("--habits", "shouting")):
        code, told = simulate(crawl, *options)
        assert code == 2
        assert "Traceback" not in told
