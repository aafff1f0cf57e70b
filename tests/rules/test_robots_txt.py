"""Parsing of robots.txt; tests against a real site are in tests/middlewares/test_robots.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from pricewatch.rules.robots_txt import (
    PARSED_LENGTH,
    PARSED_LINES,
    RobotsOutcome,
    crawl_delay,
    read_robots,
    read_rules,
    rules_for,
    unavailable,
)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, RobotsOutcome.RULES),
        (301, RobotsOutcome.UNAVAILABLE),
        (400, RobotsOutcome.NO_RULES),
        (401, RobotsOutcome.UNAVAILABLE),
        (403, RobotsOutcome.UNAVAILABLE),
        (404, RobotsOutcome.NO_RULES),
        (407, RobotsOutcome.UNAVAILABLE),
        (410, RobotsOutcome.NO_RULES),
        (429, RobotsOutcome.UNAVAILABLE),
        (451, RobotsOutcome.NO_RULES),
        (500, RobotsOutcome.UNAVAILABLE),
        (503, RobotsOutcome.UNAVAILABLE),
    ],
)
def test_status_decides_whether_rules_are_available(status: int, outcome: RobotsOutcome) -> None:
    assert read_robots(status, b"User-agent: *\nDisallow: /x\n").outcome is outcome


@pytest.mark.parametrize(
    ("body", "allowed", "forbidden"),
    [
        (b"User-agent: *\nDisallow: /a\n", "/b", "/a"),
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "/b", "/a"),
        (b"User-agent: *\rDisallow: /a\r", "/b", "/a"),
        (b"USER-AGENT: *\nDISALLOW: /a\n", "/b", "/a"),
        (b"Disallow: /a\n", "/b", "/a"),
        (b"Disallow: /a\nUser-agent: *\nDisallow: /c\n", "/b", "/c"),
        (b"Disallow: /a\nUser-agent: *\nDisallow: /c\n", "/b", "/a"),
        # An Allow without a group allows nothing.
        (b"Allow: /a\nUser-agent: *\nDisallow: /a\n", "/b", "/a"),
        # Ambiguous lines get the stricter meaning.
        (b"User-agent: *\nDisallow: /caf\xe9\n", "/b", "/cafeteria"),
        (b"User-agent: *\nDisallow: \xff\xfe\n", "/robots.txt", "/anything"),
        (b"User-agent: *\nDisallow: /\nAllow: /caf\xe9\n", "/robots.txt", "/cafeteria"),
        (b"User-agent: pricewatch\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n", "/b", "/a"),
        # Our name with its version, or our full user agent, is our name.
        (b"User-agent: Pricewatch/1.0\nDisallow: /a\n\nUser-agent: *\nDisallow:\n", "/b", "/a"),
        (b"User-agent: pricewatch (+https://example.com)\nDisallow: /a\n", "/b", "/a"),
        (b"User-agent: Mozilla/5.0 (pricewatch)\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n", "/b", "/a"),
    ],
)
def test_rules_are_parsed(body: bytes, allowed: str, forbidden: str) -> None:
    file = read_rules(body)
    assert file.outcome is RobotsOutcome.RULES
    rules = Protego.parse(file.text)
    assert rules.can_fetch(f"https://shop.com{allowed}", "pricewatch")
    assert not rules.can_fetch(f"https://shop.com{forbidden}", "pricewatch")


LONG = b"/x" * 9000


@pytest.mark.parametrize(
    ("body", "forbidden"),
    [
        # An agent name ends at the first other character.
        (b"User-agent: pricewatch bot\nDisallow: /a\n\nUser-agent: *\nAllow: /\n", "/a"),
        (b"User-agent: PRICEWATCH\tbot\nDisallow: /a\n\nUser-agent: *\nAllow: /\n", "/a"),
        (b"User-agent: pricewatch*\nDisallow: /a\n", "/a"),
        (b"User-agent: * everybody\nDisallow: /a\n", "/a"),
        # Bytes that are not text are ignored.
        (b"User-agent: *\xa0\nDisallow: /a\n", "/a"),
        (b"User-agent: *\xc2\xa0\nDisallow: /a\n", "/a"),
        (b"\xef\xbbUser-agent: *\nDisallow: /a\n", "/a"),
        (b"User-agent\xa0: pricewatch\nDisallow: /a\n", "/a"),
        # A group ends at the first User-agent line after a rule, whatever lies between.
        (b"User-agent: pricewatch\nNo-such-line: 1\nUser-agent: other\nDisallow: /a\n", "/a"),
        (b"User-agent: pricewatch\nSitemap: https://shop.com/map.xml\nUser-agent: x\nDisallow: /a\n", "/a"),
        (b"User-agent: pricewatch\nCrawl-delay: 5\n\nUser-agent: other\nDisallow: /a\n", "/a"),
        (b"User-agent: pricewatch\nwelcome, robots\nUser-agent: other\nDisallow: /a\n", "/a"),
        # Prose does not start a group.
        (b"User-agent: *\nDisallow: /b\nuser-agent of good manners\nDisallow: /a\n", "/a"),
        # Rules without a group apply to everybody.
        (b"User-agent:\nDisallow: /a\n", "/a"),
        (b"User-agent: \xe4\xbd\xa0\nDisallow: /a\n", "/a"),
        # Misspelt, without a colon, or with extra characters in the name.
        (b"User-agent: *\nDissalow: /a\n", "/a"),
        (b"user-agent pricewatch\ndisallow /a\n", "/a"),
        (b"User-agent: *\nDisallow /a b\n", "/a"),
        (b"User-agent: *\nDisallowed: /a\n", "/a"),
        # Characters that only protego treats as a line end.
        ("User-agent: *\nDisallow: /a\u2028Allow: /a\n".encode(), "/a"),
        ("User-agent: *\nDisallow: /a\x85Allow: /a\n".encode(), "/a"),
        (b"User-agent: *\nDisallow: /a\x0cAllow: /a\n", "/a"),
        # An Allow for one spelling does not apply to another.
        (b"User-agent: *\nDisallow: /\nAllow: /%61\n", "/a"),
        (b"User-agent: *\nDisallow: /\nAllow: /a%3Fb=1\n", "/a?b=1"),
        (b"User-agent: *\nAllow: /%61\nUser-agent: x\nAllow: /a\nUser-agent: *\nDisallow: /\n", "/a"),
        # A line that is too long is truncated.
        (b"User-agent: *\nDisallow: " + LONG + b"/more\n", LONG.decode()),
        # A prefix of our name is another agent.
        (b"User-agent: price\nAllow: /\n\nUser-agent: *\nDisallow: /a\n", "/a"),
    ],
)
def test_never_more_permissive_than_other_parsers(body: bytes, forbidden: str) -> None:
    text = read_rules(body).text
    rules = Protego.parse(rules_for(text, "pricewatch"))
    assert not rules.can_fetch(f"https://shop.com{forbidden}", "pricewatch")
    # Parsing the result again gives the same rules.
    assert rules_for(read_rules(text.encode()).text, "pricewatch") == rules_for(text, "pricewatch")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: /\n\nUser-agent: Pricewatch\nDisallow:\n",
        b"User-agent: *\nDisallow: /\nAllow: /a%20b\n",
        "User-agent: *\nDisallow: /\nAllow: /a%20b/ツ\nAllow: /a%20b$\n".encode(),
        b"User-agent: *\nDisallow: /a$\n",
        b"User-agent: other\nDisallow: /\n",
    ],
)
def test_allowed_paths_stay_allowed(body: bytes) -> None:
    rules = Protego.parse(rules_for(read_rules(body).text, "pricewatch"))
    assert rules.can_fetch("https://shop.com/a%20b", "pricewatch")


def test_only_our_group_applies_with_its_longest_delay() -> None:
    own = b"User-agent: pricewatch\nCrawl-delay: 7\nCrawl-delay: 3\nUser-agent: b\nDisallow: /x\n"
    text = read_rules(b"User-agent: *\nCrawl-delay: 9\nDisallow: /y\n\n" + own).text
    assert Protego.parse(rules_for(text, "pricewatch")).crawl_delay("pricewatch") == 7
    assert Protego.parse(rules_for(text, "somebody")).crawl_delay("somebody") == 9


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        (b"", RobotsOutcome.NO_RULES, "empty"),
        (b"  \n# <html> is fine in a comment\n", RobotsOutcome.NO_RULES, "empty"),
        (b"Sitemap: https://shop.com/map.xml\n", RobotsOutcome.RULES, "rules"),
        (b"<!DOCTYPE html><title>x</title>", RobotsOutcome.UNAVAILABLE, "HTML"),
        (b"\n  <html lang=en>", RobotsOutcome.UNAVAILABLE, "HTML"),
        (b"Welcome!\n<HTML><body>User-agent: *\n", RobotsOutcome.UNAVAILABLE, "HTML"),
        ("User-agent: *".encode("utf-16-le"), RobotsOutcome.UNAVAILABLE, "NUL bytes"),
        ("User-agent: *".encode("utf-16"), RobotsOutcome.UNAVAILABLE, "UTF-16"),
        (b"User-agent: *\n\0", RobotsOutcome.UNAVAILABLE, "NUL bytes"),
        (b'{"error": "not found"}', RobotsOutcome.UNAVAILABLE, "no line is a rule"),
        (b"404 page not found", RobotsOutcome.UNAVAILABLE, "no line is a rule"),
        (b"#" * 3_000_000, RobotsOutcome.UNAVAILABLE, "too large"),
    ],
)
def test_files_without_rules_are_empty_or_unavailable(
    body: bytes, outcome: RobotsOutcome, reason: str
) -> None:
    assert (read_rules(body).outcome, read_rules(body).reason) == (outcome, reason)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_parsed_and_stored(body: bytes) -> None:
    file = read_rules(body)
    Protego.parse(file.text)
    assert "\0" not in file.text
    file.text.encode()


@pytest.mark.parametrize(
    ("requested", "honoured"),
    [(None, None), (0.0, 1.0), (0.2, 1.0), (5.0, 5.0), (60.0, 60.0), (3600.0, 60.0)],
)
def test_crawl_delay_is_limited_to_a_range(requested: float | None, honoured: float | None) -> None:
    assert crawl_delay(requested) == honoured


def test_rules_after_the_limits_are_not_read() -> None:
    """RFC 9309: at least 500 KiB are parsed."""
    rule = "Disallow: /private/a/long/path/{}\n"
    start = "User-agent: *\n" + "".join(rule.format(number) for number in range(18_000))
    assert 800_000 > len(start) > PARSED_LENGTH
    file = read_rules((start + "Disallow: /last\n").encode())
    assert "/private/a/long/path/12000\n" in file.text
    assert "/last" not in file.text
    assert len(file.text) <= PARSED_LENGTH + len(start.splitlines())


def test_lines_after_the_limit_are_not_read() -> None:
    file = read_rules(b"User-agent: *\n" + b"Allow: /\n" * PARSED_LINES + b"Disallow: /last\n")
    assert file.outcome is RobotsOutcome.RULES
    assert "/last" not in file.text


def test_comments_do_not_count_towards_the_limits() -> None:
    file = read_rules(b"# padding\n" * 2 * PARSED_LINES + b"User-agent: *\nDisallow: /last\n")
    assert "/last" in file.text


def test_a_long_file_without_rules_for_everybody_is_unavailable() -> None:
    """The rules that apply to us may be in the part that is not read."""
    others = b"User-agent: other\n" + b"Disallow: /private\n" * PARSED_LINES
    assert read_rules(others + b"User-agent: *\nDisallow: /\n") == unavailable("too large")


def test_a_cut_line_is_not_read() -> None:
    """The beginning of an Allow allows more than the whole line."""
    start = "User-agent: *\nDisallow: /\n"
    padding = "Disallow: /" + "x" * 4_000 + "\n"
    file = read_rules((start + padding * 128 + "Allow: /" + "y" * 4_000 + "\n" + padding).encode())
    assert "Allow: /y" not in file.text
